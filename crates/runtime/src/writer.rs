//! Writing to the API server: apply what differs, delete what is meant. Owns the rules of writing; what to write is
//! the reconciler's business, and whether this process may write is the fence's.

use std::sync::{
    Arc, Mutex,
    atomic::{AtomicBool, Ordering},
};

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
    kind::Kind,
    ledger::{Ledger, Target, Verdict},
    metrics::{Metrics, Write},
    object_key::ObjectKey,
    ownership::without_nulls,
    store::lock,
    stores::Stores,
};

/// What an apply did.
#[derive(Clone, Debug)]
pub enum Applied<K> {
    /// The server was asked, and this is the object now.
    Written(Box<K>),
    /// Nothing would change, so nothing was sent.
    Unchanged,
}

/// A mistake in a write that no retry cures.
#[derive(Debug, Error)]
enum WriteError {
    #[error("{kind} {key}: an object without a name cannot be applied; set metadata.name")]
    NoName { kind: String, key: ObjectKey },
    #[error("{kind} {key}: an object without a uid was never read from the server; read it before this")]
    NoUid { kind: String, key: ObjectKey },
    #[error("{kind} {key}: it does not serialize to JSON")]
    Serialize {
        kind: String,
        key: ObjectKey,
        #[source]
        source: serde_json::Error,
    },
    #[error("{kind} {key}: the server's answer does not fit the type")]
    Answer {
        kind: String,
        key: ObjectKey,
        #[source]
        source: serde_json::Error,
    },
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
        let key = ObjectKey::of(intent);
        if key.name.is_empty() {
            return Err(Failure::fatal(WriteError::NoName { kind: kind::<K>(), key }));
        }
        let mut body = to_value(intent)?;
        body["apiVersion"] = K::api_version(&()).into();
        body["kind"] = K::kind(&()).into();
        self.send::<K>(&key, None, &body, None).await
    }

    /// Applies a status, as its own field manager, to exactly the object that was read.
    pub(crate) async fn apply_status<K: Kind>(
        &self,
        object: &K,
        status: &impl Serialize,
    ) -> Result<Applied<K>, Failure> {
        self.send_status(object, status, None).await
    }

    /// The same, if nobody has written the object since it was read.
    pub(crate) async fn carry_status<K: Kind>(
        &self,
        object: &K,
        status: &impl Serialize,
    ) -> Result<Applied<K>, Failure> {
        let version = object.meta().resource_version.as_deref();
        self.send_status(object, status, version).await
    }

    async fn send_status<K: Kind>(
        &self,
        object: &K,
        status: &impl Serialize,
        version: Option<&str>,
    ) -> Result<Applied<K>, Failure> {
        let key = ObjectKey::of(object);
        let Some(uid) = object.meta().uid.clone() else {
            return Err(Failure::fatal(WriteError::NoUid { kind: kind::<K>(), key }));
        };
        let status = serde_json::to_value(status).map_err(|source| {
            Failure::fatal(WriteError::Serialize {
                kind: kind::<K>(),
                key: key.clone(),
                source,
            })
        })?;
        let body = json!({
            "apiVersion": K::api_version(&()), "kind": K::kind(&()),
            "metadata": {"name": key.name, "namespace": key.scope(), "uid": uid}, "status": status,
        });
        self.send::<K>(&key, Some("status"), &body, version).await
    }

    /// Deletes exactly the object that was read; one that is gone or replaced is a success.
    pub(crate) async fn delete<K: Kind>(&self, object: &K) -> Result<(), Failure> {
        match self.send_deletion(object, None).await? {
            Some(conflict) => Err(conflict.into()),
            None => Ok(()),
        }
    }

    /// The same, if nobody has written the object since it was read; tells whether it is so.
    pub(crate) async fn delete_unchanged<K: Kind>(&self, object: &K) -> Result<bool, Failure> {
        let version = object.meta().resource_version.clone();
        Ok(self.send_deletion(object, version).await?.is_none())
    }

    /// Hands back the conflict if the object is still there and may not be deleted as it is.
    async fn send_deletion<K: Kind>(
        &self,
        object: &K,
        version: Option<String>,
    ) -> Result<Option<kube::Error>, Failure> {
        let key = ObjectKey::of(object);
        let Some(uid) = object.meta().uid.clone() else {
            return Err(Failure::fatal(WriteError::NoUid { kind: kind::<K>(), key }));
        };
        if object.meta().deletion_timestamp.is_some() {
            return Ok(None);
        }
        let endpoint = Endpoint::of::<K>(key.scope());
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
            if self
                .is_there(&endpoint, &key.name, object.meta().uid.as_deref())
                .await?
            {
                return Ok(Some(error));
            }
        }
        lock(&self.ledger).forget(&endpoint.path, &key.name);
        self.metrics.wrote(&self.controller, Write::Deleted);
        self.is_unconfirmed.store(true, Ordering::Relaxed);
        Ok(None)
    }

    async fn is_there(&self, endpoint: &Endpoint, name: &str, uid: Option<&str>) -> Result<bool, Failure> {
        let live = endpoint.get(&self.client, name).await?;
        Ok(live.is_some_and(|live| live["metadata"]["uid"].as_str() == uid))
    }

    async fn send<K: Kind>(
        &self,
        key: &ObjectKey,
        subresource: Option<&'static str>,
        body: &Value,
        version: Option<&str>,
    ) -> Result<Applied<K>, Failure> {
        let endpoint = Endpoint::of::<K>(key.scope());
        let target = Target {
            path: endpoint.path.clone(),
            name: key.name.clone(),
            manager: self.manager(subresource),
            subresource,
            api_version: endpoint.api_version.clone(),
        };
        let live = match self.stores.find::<K>(key) {
            Some(live) => Some(to_value(live.as_ref())?),
            None => None,
        };
        let is_watched = self.stores.has::<K>();
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
            return Ok(Applied::Unchanged);
        }
        let answer = self.ask(&endpoint, &target, body, version).await?;
        let now = self.started.elapsed();
        let is_news = lock(&self.ledger).record(target, body, live.as_ref(), &answer, now);
        if is_news && is_watched {
            self.is_unconfirmed.store(true, Ordering::Relaxed);
        }
        let written = serde_json::from_value(answer).map_err(|source| {
            Failure::fatal(WriteError::Answer {
                kind: kind::<K>(),
                key: key.clone(),
                source,
            })
        })?;
        Ok(Applied::Written(Box::new(written)))
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

fn kind<K: Kind>() -> String {
    K::kind(&()).into_owned()
}

fn to_value<K: Kind>(object: &K) -> Result<Value, Failure> {
    serde_json::to_value(object).map_err(|source| {
        Failure::fatal(WriteError::Serialize {
            kind: K::kind(&()).into_owned(),
            key: ObjectKey::of(object),
            source,
        })
    })
}
