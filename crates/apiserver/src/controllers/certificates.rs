//! CertificateSigningRequests: a kubelet's is approved when it may have what it asks for, and what is approved is signed
//! for the signers that Kubernetes knows.

use std::sync::Arc;

use base64::{Engine as _, prelude::BASE64_STANDARD};
use hyperplane_access::signing::{Request, Signer, SigningAuthority, auto_approval, lifetime};
use hyperplane_store::{Event, EventKind, Key, Observer, Snapshot};
use hyperplane_wire::{Failure, Reason};
use serde_json::{Value, json};

use super::{change, pending::Pending};
use crate::{call::Call, core::Core, metadata, object::Object, registry::Served};

/// The collection of requests.
pub(super) const COLLECTION: &str = "certificatesigningrequests.certificates.k8s.io";

/// Requests that have to be looked at.
#[derive(Debug, Default)]
pub(crate) struct Certificates(Pending<Box<str>>);

impl Observer<Object> for Certificates {
    fn reset(&self, snapshot: &Snapshot<Object>) {
        self.0.extend(
            snapshot
                .range(COLLECTION, None, None)
                .map(|entry| (*entry.key.name).into()),
        );
    }

    fn committed(&self, events: &[Arc<Event<Object>>]) {
        let requests = events.iter().filter(|event| &*event.entry.key.collection == COLLECTION);
        let living = requests.filter(|event| event.kind != EventKind::Deleted);
        self.0.extend(living.map(|event| (*event.entry.key.name).into()));
    }
}

/// Approves and signs for ever.
pub(crate) async fn run(core: &Core, certificates: &Certificates, authority: Option<&SigningAuthority>) {
    loop {
        let name = certificates.0.next().await;
        match look_at(core, &name, authority).await {
            Ok(()) => {}
            Err(failure) if failure.reason == Reason::NotFound => {}
            Err(failure) => {
                tracing::warn!(error = %failure, request = %name, "A certificate was not signed; it is tried again.");
                tokio::time::sleep(core.limits.retry_pause).await;
                certificates.0.add(name);
            }
        }
    }
}

async fn look_at(core: &Core, name: &str, authority: Option<&SigningAuthority>) -> Result<(), Failure> {
    let Some(served) = core
        .registry
        .get()
        .find("certificates.k8s.io", "v1", "certificatesigningrequests")
        .cloned()
    else {
        return Ok(());
    };
    let snapshot = core.store.snapshot();
    let Some(entry) = snapshot.get(&Key::new(COLLECTION, "", name)) else {
        return Ok(());
    };
    let request = served.show(entry, entry.revision);
    if let Some(message) = auto_approval(&core.policy, &request) {
        return approve(core, &served, name, message).await;
    }
    let has = |kind: &str| {
        let conditions = request["status"]["conditions"].as_array().into_iter().flatten();
        conditions.into_iter().any(|entry| entry["type"] == kind)
    };
    let is_open = has("Approved") && !has("Denied") && !has("Failed") && request["status"]["certificate"].is_null();
    let signer = Signer::named(request["spec"]["signerName"].as_str().unwrap_or_default());
    match (is_open, signer, authority) {
        (true, Some(signer), Some(authority)) => sign(core, &served, &request, signer, authority).await,
        _ => Ok(()),
    }
}

async fn approve(core: &Core, served: &Arc<Served>, name: &str, message: &str) -> Result<(), Failure> {
    let call = Call::internal(served, "", name, "approval");
    let condition = json!({"type": "Approved", "status": "True", "reason": "AutoApproved", "message": message});
    add_condition(core, &call, condition).await
}

async fn sign(
    core: &Core,
    served: &Arc<Served>,
    object: &Value,
    signer: Signer,
    authority: &SigningAuthority,
) -> Result<(), Failure> {
    let call = Call::internal(served, "", metadata::text(object, "name"), "status");
    let usages: Vec<String> = object["spec"]["usages"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .map(str::to_owned)
        .collect();
    let checked = Request::from_object(object)
        .map_err(|error| error.to_string())
        .and_then(|request| {
            signer.validate(&request, &usages)?;
            Ok(request)
        });
    let request = match checked {
        Ok(request) => request,
        Err(message) => {
            let condition =
                json!({"type": "Failed", "status": "True", "reason": "SignerValidationFailure", "message": message});
            return add_condition(core, &call, condition).await;
        }
    };
    let life = lifetime(object["spec"]["expirationSeconds"].as_i64());
    match authority.sign(&request, &usages, life, core.clock.now(), core.entropy.bytes()) {
        Ok(certificate) => {
            let encoded = BASE64_STANDARD.encode(certificate);
            change(core, &call, &|object| object["status"]["certificate"] = json!(encoded)).await
        }
        Err(error) => {
            let message = error.to_string();
            let condition = json!({"type": "Failed", "status": "True", "reason": "SigningFailure", "message": message});
            add_condition(core, &call, condition).await
        }
    }
}

async fn add_condition(core: &Core, call: &Call, condition: Value) -> Result<(), Failure> {
    let now = metadata::time(core.clock.now());
    change(core, call, &|object| {
        let mut condition = condition.clone();
        condition["lastUpdateTime"] = json!(now);
        condition["lastTransitionTime"] = json!(now);
        match object["status"]["conditions"].as_array_mut() {
            Some(conditions) => conditions.push(condition),
            None => object["status"]["conditions"] = json!([condition]),
        }
    })
    .await
}
