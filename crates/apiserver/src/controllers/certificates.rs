//! CertificateSigningRequests: a kubelet's is approved when it may have what it asks for, and what is approved is signed
//! for the signers that Kubernetes knows. A right that is granted later counts: open requests are looked at again.

use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use base64::{Engine as _, prelude::BASE64_STANDARD};
use hyperplane_access::signing::{Request, Signer, SigningAuthority, auto_approval, lifetime};
use hyperplane_store::{Event, EventKind, Key, Observer, Snapshot};
use hyperplane_wire::Failure;
use serde_json::{Value, json};

use super::{
    GATHER, WIDTH, change,
    pending::{self, Pending},
};
use crate::{call::Call, core::Core, metadata, object::Object, registry::Served};

/// The collection of requests.
pub(super) const COLLECTION: &str = "certificatesigningrequests.certificates.k8s.io";
/// How the collections of rights end.
const RIGHTS: &str = ".rbac.authorization.k8s.io";

/// Requests that have to be looked at.
#[derive(Debug, Default)]
pub(crate) struct Certificates {
    /// Every request that there is; they end soon, so there are few.
    known: Mutex<BTreeSet<Box<str>>>,
    pending: Pending<Box<str>>,
}

impl Certificates {
    fn known(&self) -> MutexGuard<'_, BTreeSet<Box<str>>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Observer<Object> for Certificates {
    fn reset(&self, snapshot: &Snapshot<Object>) {
        let known: BTreeSet<Box<str>> = snapshot
            .range(COLLECTION, None, None)
            .map(|entry| (*entry.key.name).into())
            .collect();
        self.pending.add(known.clone());
        *self.known() = known;
    }

    fn committed(&self, events: &[Arc<Event<Object>>]) {
        for event in events {
            let key = &event.entry.key;
            if &*key.collection != COLLECTION {
                if key.collection.ends_with(RIGHTS) {
                    let known = self.known().clone();
                    self.pending.note_later(event.revision, GATHER, known);
                }
            } else if event.kind == EventKind::Deleted {
                self.known().remove(&*key.name);
            } else {
                self.known().insert((*key.name).into());
                self.pending.note(event.revision, [(*key.name).into()]);
            }
        }
    }
}

/// Approves and signs for ever.
pub(crate) async fn run(core: &Core, certificates: &Certificates, authority: Option<&SigningAuthority>) {
    pending::drive(core, &certificates.pending, WIDTH, |name| async move {
        look_at(core, &name, authority).await
    })
    .await;
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
    let signer = Signer::named(request["spec"]["signerName"].as_str().unwrap_or_default());
    match (is_open(&request), signer, authority) {
        (true, Some(signer), Some(authority)) => sign(core, &served, &request, signer, authority).await,
        _ => Ok(()),
    }
}

/// Whether a request has a condition.
fn has(request: &Value, kind: &str) -> bool {
    let conditions = request["status"]["conditions"].as_array().into_iter().flatten();
    conditions.into_iter().any(|entry| entry["type"] == kind)
}

/// Whether a request is approved, and waits for its certificate.
fn is_open(request: &Value) -> bool {
    let is_approved = has(request, "Approved") && !has(request, "Denied") && !has(request, "Failed");
    is_approved && request["status"]["certificate"].as_str().unwrap_or_default().is_empty()
}

async fn approve(core: &Core, served: &Arc<Served>, name: &str, message: &str) -> Result<(), Failure> {
    let condition = json!({"type": "Approved", "status": "True", "reason": "AutoApproved", "message": message});
    let now = metadata::time(core.clock.now());
    change(core, &Call::internal(served, "", name, "approval"), None, &|object| {
        // Somebody may have been faster.
        if !has(object, "Approved") && !has(object, "Denied") {
            add_condition(object, condition.clone(), &now);
        }
    })
    .await
}

async fn sign(
    core: &Core,
    served: &Arc<Served>,
    object: &Value,
    signer: Signer,
    authority: &SigningAuthority,
) -> Result<(), Failure> {
    let call = Call::internal(served, "", metadata::text(object, "name"), "status");
    let usages = object["spec"]["usages"].as_array().into_iter().flatten();
    let usages: Vec<String> = usages.filter_map(Value::as_str).map(str::to_owned).collect();
    let checked = Request::from_object(object)
        .map_err(|error| error.to_string())
        .and_then(|request| {
            signer.validate(&request, &usages)?;
            Ok(request)
        });
    let request = match checked {
        Ok(request) => request,
        Err(message) => return fail(core, &call, &message).await,
    };
    let life = lifetime(object["spec"]["expirationSeconds"].as_i64());
    let certificate = authority
        .sign(&request, &usages, life, core.clock.now(), core.entropy.bytes())
        .map_err(|error| Failure::internal(format!("error auto signing csr: {error}")))?;
    let encoded = BASE64_STANDARD.encode(certificate);
    change(core, &call, None, &|object| {
        if is_open(object) {
            object["status"]["certificate"] = json!(encoded);
        }
    })
    .await
}

/// Says why a request is never signed.
async fn fail(core: &Core, call: &Call, message: &str) -> Result<(), Failure> {
    let condition =
        json!({"type": "Failed", "status": "True", "reason": "SignerValidationFailure", "message": message});
    let now = metadata::time(core.clock.now());
    change(core, call, None, &|object| {
        if is_open(object) {
            add_condition(object, condition.clone(), &now);
        }
    })
    .await
}

fn add_condition(request: &mut Value, mut condition: Value, now: &str) {
    condition["lastUpdateTime"] = json!(now);
    condition["lastTransitionTime"] = json!(now);
    match request["status"]["conditions"].as_array_mut() {
        Some(conditions) => conditions.push(condition),
        None => request["status"]["conditions"] = json!([condition]),
    }
}
