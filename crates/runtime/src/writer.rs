//! Writing to the API server: apply what differs, delete what is meant. Owns the rules of writing; what to write is
//! the reconciler's business, and whether this process may write is the fence's.

use std::sync::{
    Arc, Mutex,
    atomic::{AtomicBool, Ordering},
};

use futures::{FutureExt, future::BoxFuture};
use hyperplane_objects::Kind;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::{
    Client,
    api::{DeleteParams, Preconditions},
};
use serde::Serialize;
use serde_json::{Value, json};
use thiserror::Error;
use tokio::time::Instant;

use crate::{
    endpoint::Endpoint,
    failure::Failure,
    ledger::{Ledger, Target, Verdict},
    metrics::{Metrics, Write},
    object_key::ObjectKey,
    ownership::without_nulls,
    store::lock,
    stores::{Stores, StoresOfKind},
};

/// What an apply did.
#[derive(Clone, Debug)]
pub enum Applied<K> {
    /// The server was asked, and this is the object now.
    Written(Box<K>),
    /// Nothing would change, so nothing was sent.
    Unchanged,
}

/// Why an object is not written: a mistake that no retry cures.
#[derive(Debug, Error)]
#[error("{kind} {key}: {problem}")]
struct WriteError {
    kind: String,
    key: ObjectKey,
    #[source]
    problem: WriteProblem,
}

#[derive(Debug, Error)]
enum WriteProblem {
    #[error("an object without a name cannot be applied; set metadata.name")]
    NoName,
    #[error("an object without a uid was never read from the server; read it before this")]
    NoUid,
    #[error("it does not serialize to JSON")]
    Serialize(#[source] serde_json::Error),
    #[error("the server's answer does not fit the type")]
    Answer(#[source] serde_json::Error),
}

/// What a write comes to. Boxed, as every answer is: see [`crate::endpoint::Answer`].
type Sent<'a, T> = BoxFuture<'a, Result<T, Failure>>;

/// Where one object is written, and what is known of it, without the type of its kind.
struct Place {
    endpoint: Endpoint,
    key: ObjectKey,
    stores: StoresOfKind,
}

/// The field manager of one part of a program.
pub fn field_manager(program: &str, part: &str) -> String {
    format!("{program}/{part}")
}

/// Writes as one field manager. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Writer {
    pub(crate) client: Client,
    pub(crate) controller: Arc<str>,
    pub(crate) field_manager: String,
    pub(crate) stores: Arc<Stores>,
    pub(crate) ledger: Arc<Mutex<Ledger>>,
    pub(crate) started: Instant,
    pub(crate) metrics: Metrics,
    /// Set when a write of this reconcile is not yet visible in the cache.
    pub(crate) is_unconfirmed: Arc<AtomicBool>,
}

impl Writer {
    pub(crate) async fn apply<K: Kind>(&self, intent: &K) -> Result<Applied<K>, Failure> {
        let place = self.place::<K>(ObjectKey::of(intent));
        let intent = to_json(intent, &place)?;
        typed(&place, self.send_intent(&place, intent).await?)
    }

    /// Applies a status, as its own field manager, to exactly the object that was read.
    pub(crate) async fn apply_status<K: Kind>(
        &self,
        object: &K,
        status: &impl Serialize,
    ) -> Result<Applied<K>, Failure> {
        let place = self.place::<K>(ObjectKey::of(object));
        let status = to_value(status, &place)?;
        typed(&place, self.send_status(&place, object.meta(), status, None).await?)
    }

    /// The same, if nobody has written the object since it was read.
    pub(crate) async fn carry_status<K: Kind>(
        &self,
        object: &K,
        status: &impl Serialize,
    ) -> Result<Applied<K>, Failure> {
        let place = self.place::<K>(ObjectKey::of(object));
        let (status, version) = (to_value(status, &place)?, object.meta().resource_version.as_deref());
        typed(&place, self.send_status(&place, object.meta(), status, version).await?)
    }

    /// Deletes exactly the object that was read; one that is gone or replaced is a success.
    pub(crate) async fn delete<K: Kind>(&self, object: &K) -> Result<(), Failure> {
        let place = self.place::<K>(ObjectKey::of(object));
        match self.send_deletion(&place, object.meta(), None).await? {
            Some(conflict) => Err(conflict.into()),
            None => Ok(()),
        }
    }

    /// The same, if nobody has written the object since it was read; tells whether it is so.
    pub(crate) async fn delete_unchanged<K: Kind>(&self, object: &K) -> Result<bool, Failure> {
        let place = self.place::<K>(ObjectKey::of(object));
        let version = object.meta().resource_version.clone();
        Ok(self.send_deletion(&place, object.meta(), version).await?.is_none())
    }

    fn place<K: Kind>(&self, key: ObjectKey) -> Place {
        Place {
            endpoint: Endpoint::of::<K>(key.scope()),
            stores: self.stores.of_kind::<K>(),
            key,
        }
    }

    fn send_intent<'a>(&'a self, place: &'a Place, mut body: Value) -> Sent<'a, Option<Value>> {
        async move {
            if place.key.name.is_empty() {
                return Err(place.error(WriteProblem::NoName));
            }
            let resource = &place.endpoint.names.resource;
            body["apiVersion"] = resource.api_version.as_str().into();
            body["kind"] = resource.kind.as_str().into();
            self.send(place, None, &body, None).await
        }
        .boxed()
    }

    fn send_status<'a>(
        &'a self,
        place: &'a Place,
        meta: &'a ObjectMeta,
        status: Value,
        version: Option<&'a str>,
    ) -> Sent<'a, Option<Value>> {
        async move {
            let Some(uid) = &meta.uid else {
                return Err(place.error(WriteProblem::NoUid));
            };
            let (key, resource) = (&place.key, &place.endpoint.names.resource);
            let body = json!({
                "apiVersion": resource.api_version, "kind": resource.kind,
                "metadata": {"name": key.name, "namespace": key.scope(), "uid": uid}, "status": status,
            });
            self.send(place, Some("status"), &body, version).await
        }
        .boxed()
    }

    /// Hands back the conflict if the object is still there and may not be deleted as it is.
    fn send_deletion<'a>(
        &'a self,
        place: &'a Place,
        meta: &'a ObjectMeta,
        version: Option<String>,
    ) -> Sent<'a, Option<kube::Error>> {
        async move {
            let Some(uid) = meta.uid.clone() else {
                return Err(place.error(WriteProblem::NoUid));
            };
            if meta.deletion_timestamp.is_some() {
                return Ok(None);
            }
            let Place { endpoint, key, .. } = place;
            let parameters = DeleteParams::background().preconditions(Preconditions {
                uid: Some(uid),
                resource_version: version,
            });
            if let Err(error) = endpoint.delete(&self.client, &key.name, &parameters).await {
                self.metrics.wrote(&self.controller, Write::Failed);
                if !matches!(&error, kube::Error::Api(status) if status.is_conflict()) {
                    return Err(error.into());
                }
                // A conflict mostly means that the object that was meant is gone and another has its name; not always.
                if self.is_there(endpoint, &key.name, meta.uid.as_deref()).await? {
                    return Ok(Some(error));
                }
            }
            lock(&self.ledger).forget(&endpoint.path, &key.name);
            self.metrics.wrote(&self.controller, Write::Deleted);
            self.is_unconfirmed.store(true, Ordering::Relaxed);
            Ok(None)
        }
        .boxed()
    }

    async fn is_there(&self, endpoint: &Endpoint, name: &str, uid: Option<&str>) -> Result<bool, Failure> {
        let live = endpoint.get_opt(&self.client, name).await?;
        Ok(live.is_some_and(|live| live["metadata"]["uid"].as_str() == uid))
    }

    /// Hands back what the server answered; none if nothing had to be written.
    async fn send(
        &self,
        place: &Place,
        subresource: Option<&'static str>,
        body: &Value,
        version: Option<&str>,
    ) -> Result<Option<Value>, Failure> {
        let Place { endpoint, key, stores } = place;
        let target = Target {
            path: endpoint.path.clone(),
            name: key.name.clone(),
            manager: self.manager(subresource),
            subresource,
            api_version: endpoint.names.resource.api_version.clone(),
        };
        let live = stores.find(key).map(|live| live.to_json());
        let live = live
            .transpose()
            .map_err(|source| place.error(WriteProblem::Serialize(source)))?;
        let is_watched = stores.are_any();
        let verdict = if is_watched {
            lock(&self.ledger).judge(&target, body, live.as_ref(), self.started.elapsed())
        } else {
            // No event would tell that somebody changed it.
            Verdict::Apply
        };
        if verdict != Verdict::Apply {
            if verdict == Verdict::Unconfirmed {
                self.is_unconfirmed.store(true, Ordering::Relaxed);
            }
            self.metrics.wrote(&self.controller, Write::Skipped);
            return Ok(None);
        }
        let answer = self.ask(endpoint, &target, body, version).await?;
        let now = self.started.elapsed();
        let is_news = lock(&self.ledger).record(target, body, live.as_ref(), &answer, now);
        if is_news && is_watched {
            self.is_unconfirmed.store(true, Ordering::Relaxed);
        }
        Ok(Some(answer))
    }

    async fn ask(
        &self,
        endpoint: &Endpoint,
        target: &Target,
        body: &Value,
        version: Option<&str>,
    ) -> Result<Value, Failure> {
        let mut body = without_nulls(body);
        if let Some(version) = version {
            body["metadata"]["resourceVersion"] = version.into();
        }
        let answer = endpoint
            .apply(&self.client, &target.name, &target.manager, target.subresource, &body)
            .await;
        let write = if answer.is_ok() { Write::Applied } else { Write::Failed };
        self.metrics.wrote(&self.controller, write);
        tracing::debug!(path = %endpoint.path, name = %target.name, manager = %target.manager, "Applied an object.");
        Ok(answer?)
    }

    /// Status has its own manager: applying the object must not drop it, and the other way round.
    fn manager(&self, subresource: Option<&str>) -> String {
        match subresource {
            Some(part) => field_manager(&self.field_manager, part),
            None => self.field_manager.clone(),
        }
    }
}

impl Place {
    fn error(&self, problem: WriteProblem) -> Failure {
        Failure::fatal(WriteError {
            kind: self.endpoint.names.resource.kind.clone(),
            key: self.key.clone(),
            problem,
        })
    }
}

fn to_json<K: Kind>(object: &K, place: &Place) -> Result<Value, Failure> {
    let json = object.to_json();
    json.map_err(|source| place.error(WriteProblem::Serialize(source)))
}

fn to_value(status: &impl Serialize, place: &Place) -> Result<Value, Failure> {
    let json = serde_json::to_value(status);
    json.map_err(|source| place.error(WriteProblem::Serialize(source)))
}

fn typed<K: Kind>(place: &Place, answer: Option<Value>) -> Result<Applied<K>, Failure> {
    let Some(answer) = answer else {
        return Ok(Applied::Unchanged);
    };
    let written = K::from_json(&answer).map_err(|source| place.error(WriteProblem::Answer(source)))?;
    Ok(Applied::Written(Box::new(written)))
}
