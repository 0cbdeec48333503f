//! Garbage collection: what has lost all of its owners goes; an owner that is deleted in the foreground goes after its
//! dependents; one whose dependents stay lets go of them first.

use std::sync::Arc;

use hyperplane_store::{Entry, Key};
use hyperplane_wire::{
    Failure, Reason,
    delete_options::{DeleteOptions, DeletionPropagation, Preconditions},
};
use serde_json::Value;

use super::dependents::Dependents;
use crate::{
    call::Call,
    core::Core,
    metadata,
    object::{Object, Owner},
    ownership,
    registry::Served,
    verbs::{
        delete::{FOREGROUND, ORPHAN},
        modify::Modification,
    },
};

/// What there is to say about the owners of an object.
#[derive(Debug, Default)]
struct Owners {
    /// Those that are there, and stay.
    solid: usize,
    /// Those that are gone.
    gone: Vec<Box<str>>,
    /// Those that wait for this object before they go.
    waiting: Vec<Box<str>>,
}

/// Collects for ever.
pub(crate) async fn run(core: &Core, dependents: &Dependents) {
    loop {
        let key = dependents.next().await;
        match look_at(core, dependents, &key).await {
            Ok(()) => {}
            Err(failure) if matches!(failure.reason, Reason::NotFound | Reason::Conflict) => {}
            Err(failure) => {
                tracing::warn!(error = %failure, object = %key, "Garbage was not collected; it is tried again.");
                tokio::time::sleep(core.limits.retry_pause).await;
                dependents.again(key);
            }
        }
    }
}

async fn look_at(core: &Core, dependents: &Dependents, key: &Key) -> Result<(), Failure> {
    let snapshot = core.store.snapshot();
    let Some(entry) = snapshot.get(key) else {
        return Ok(());
    };
    let Some(served) = core.served_for(&key.collection) else {
        return Ok(());
    };
    let facts = entry.payload.facts();
    if facts.is_deleting {
        let has = |name: &str| facts.finalizers.iter().any(|finalizer| **finalizer == *name);
        if has(ORPHAN) {
            return orphan(core, dependents, &served, entry).await;
        }
        if has(FOREGROUND) {
            return delete_dependents(core, dependents, &served, entry).await;
        }
        return Ok(());
    }
    collect(core, dependents, &served, entry).await
}

/// Lets go of every dependent, then of the owner.
async fn orphan(
    core: &Core,
    dependents: &Dependents,
    served: &Arc<Served>,
    owner: &Entry<Object>,
) -> Result<(), Failure> {
    let uid = &owner.payload.facts().uid;
    for key in dependents.of(uid) {
        if let Some(served) = core.served_for(&key.collection) {
            ignore_absent(drop_owners(core, &served, &key, std::slice::from_ref(uid)).await)?;
        }
    }
    drop_finalizer(core, served, owner, ORPHAN).await
}

/// Deletes dependents that hold the owner back; without any, the owner may go.
async fn delete_dependents(
    core: &Core,
    dependents: &Dependents,
    served: &Arc<Served>,
    owner: &Entry<Object>,
) -> Result<(), Failure> {
    let uid = &owner.payload.facts().uid;
    let snapshot = core.store.snapshot();
    let mut is_held = false;
    for key in dependents.of(uid) {
        let Some(entry) = snapshot.get(&key) else {
            continue;
        };
        let facts = entry.payload.facts();
        is_held |= facts
            .owners
            .iter()
            .any(|owner| owner.uid == *uid && owner.block_owner_deletion);
        if !facts.is_deleting {
            dependents.again(key);
        }
    }
    if is_held {
        Ok(())
    } else {
        drop_finalizer(core, served, owner, FOREGROUND).await
    }
}

/// Deletes an object that has no owner left, and removes owners that are gone from one that has.
async fn collect(
    core: &Core,
    dependents: &Dependents,
    served: &Arc<Served>,
    entry: &Entry<Object>,
) -> Result<(), Failure> {
    let owners = judge(core, entry);
    let key = &entry.key;
    if owners.gone.is_empty() && owners.waiting.is_empty() {
        return Ok(());
    }
    if owners.solid > 0 {
        let dropped: Vec<Box<str>> = owners.gone.into_iter().chain(owners.waiting).collect();
        return drop_owners(core, served, key, &dropped).await;
    }
    let uid = &entry.payload.facts().uid;
    let goes_in_foreground = !owners.waiting.is_empty() && dependents.has(uid);
    let options = DeleteOptions {
        propagation_policy: goes_in_foreground.then_some(DeletionPropagation::Foreground),
        preconditions: Preconditions {
            uid: Some(uid.to_string()),
            resource_version: Some(entry.revision.to_string()),
        },
        ..DeleteOptions::default()
    };
    let call = Call::internal(served, &key.namespace, &key.name, "");
    match core.delete(&call, &options).await {
        Ok(_) => Ok(()),
        // It changed meanwhile: perhaps it has an owner now.
        Err(failure) if failure.reason == Reason::Conflict => {
            dependents.again(key.clone());
            Ok(())
        }
        Err(failure) => Err(failure),
    }
}

fn judge(core: &Core, entry: &Entry<Object>) -> Owners {
    let mut owners = Owners::default();
    for owner in &entry.payload.facts().owners {
        match find(core, &entry.key, owner) {
            Found::Unknown => owners.solid += 1,
            Found::Absent => owners.gone.push(owner.uid.clone()),
            Found::Present(found) => {
                let facts = found.payload.facts();
                let waits = facts.is_deleting && facts.finalizers.iter().any(|name| **name == *FOREGROUND);
                if waits {
                    owners.waiting.push(owner.uid.clone());
                } else {
                    owners.solid += 1;
                }
            }
        }
    }
    owners
}

enum Found {
    Present(Arc<Entry<Object>>),
    Absent,
    /// Nobody can tell: the kind is not served, or the owner could be in any namespace.
    Unknown,
}

fn find(core: &Core, dependent: &Key, owner: &Owner) -> Found {
    let registry = core.registry.get();
    let Some(served) = registry.find_kind(&owner.api_version, &owner.kind) else {
        return Found::Unknown;
    };
    let namespace = match (served.resource.is_namespaced(), dependent.namespace.is_empty()) {
        (true, true) => return Found::Unknown,
        (true, false) => &*dependent.namespace,
        (false, _) => "",
    };
    let snapshot = core.store.snapshot();
    match snapshot.get(&served.key(namespace, &owner.name)) {
        Some(entry) if entry.payload.facts().uid == owner.uid => Found::Present(Arc::clone(entry)),
        _ => Found::Absent,
    }
}

async fn drop_finalizer(core: &Core, served: &Arc<Served>, owner: &Entry<Object>, name: &str) -> Result<(), Failure> {
    let uid = owner.payload.facts().uid.to_string();
    change(core, served, &owner.key, Some(uid), &|object| {
        let kept: Vec<Value> = metadata::finalizers(object)
            .filter(|finalizer| *finalizer != name)
            .map(Into::into)
            .collect();
        metadata::set_list(object, "finalizers", kept);
    })
    .await
}

async fn drop_owners(core: &Core, served: &Arc<Served>, key: &Key, uids: &[Box<str>]) -> Result<(), Failure> {
    change(core, served, key, None, &|object| {
        let mut owners = metadata::of(object)
            .get("ownerReferences")
            .and_then(Value::as_array)
            .cloned()
            .unwrap_or_default();
        owners.retain(|owner| {
            let uid = owner.get("uid").and_then(Value::as_str).unwrap_or_default();
            !uids.iter().any(|dropped| **dropped == *uid)
        });
        metadata::set_list(object, "ownerReferences", owners);
    })
    .await
}

async fn change(
    core: &Core,
    served: &Arc<Served>,
    key: &Key,
    uid: Option<String>,
    change: &(dyn Fn(&mut Value) + Send + Sync),
) -> Result<(), Failure> {
    let call = Call::internal(served, &key.namespace, &key.name, "");
    let next = |old: Option<&Value>| {
        let old = old.ok_or_else(|| call.not_found())?;
        let mut object = old.clone();
        change(&mut object);
        Ok(ownership::record_update(core, &call, Some(old), object))
    };
    let modification = Modification {
        uid,
        creates: false,
        next: &next,
    };
    core.modify(&call, &modification).await.map(|_| ())
}

fn ignore_absent(result: Result<(), Failure>) -> Result<(), Failure> {
    match result {
        Err(failure) if failure.reason == Reason::NotFound => Ok(()),
        other => other,
    }
}
