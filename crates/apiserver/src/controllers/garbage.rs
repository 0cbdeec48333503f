//! Garbage collection: what has lost all of its owners goes; an owner that is deleted in the foreground goes after its
//! dependents; one whose dependents stay lets go of them first (kubernetes, pkg/controller/garbagecollector).

use std::sync::Arc;

use hyperplane_store::{Entry, Key};
use hyperplane_wire::{
    Failure,
    delete_options::{DeleteOptions, DeletionPropagation, Preconditions},
};
use serde_json::{Value, json};

use super::{
    WIDTH, change, definitions::Definitions, dependents::Dependents, drop_finalizer, each, graph::Wait, ignore_absent,
    owners, owners::Owners, pending,
};
use crate::{
    call::Call,
    core::Core,
    metadata,
    object::{Object, Owner},
    registry::Served,
    verbs::delete::{FOREGROUND, ORPHAN},
};

/// Under which name Events are reported.
const COMPONENT: &str = "garbage-collector-controller";

/// Collects for ever.
pub(crate) async fn run(core: &Core, dependents: &Dependents, definitions: &Definitions) {
    let collect = pending::drive(core, &dependents.pending, WIDTH, |key| async move {
        look_at(core, dependents, &key).await
    });
    let resolve = async {
        let mut publications = definitions.publications();
        while publications.changed().await.is_ok() {
            dependents.resolve();
        }
    };
    tokio::join!(collect, resolve);
}

async fn look_at(core: &Core, dependents: &Dependents, key: &Key) -> Result<(), Failure> {
    let snapshot = core.store.snapshot();
    let (Some(entry), Some(served)) = (snapshot.get(key), core.served_for(&key.collection)) else {
        return Ok(());
    };
    let facts = entry.payload.facts();
    match Wait::of(facts) {
        Some(Wait::Orphan) => orphan(core, dependents, &served, entry).await,
        Some(Wait::Foreground) => delete_dependents(core, dependents, &served, entry).await,
        None if facts.is_deleting => Ok(()),
        None => collect(core, dependents, &served, entry).await,
    }
}

/// Lets go of every dependent, then of the owner.
async fn orphan(
    core: &Core,
    dependents: &Dependents,
    served: &Arc<Served>,
    owner: &Entry<Object>,
) -> Result<(), Failure> {
    let uid = &owner.payload.facts().uid;
    let all = || {
        let keys = dependents.graph().of(uid);
        keys.into_iter()
            .filter_map(|key| Some((core.served_for(&key.collection)?, key)))
    };
    let dropped = [uid.clone()];
    let dropped = &dropped;
    each(all().collect::<Vec<_>>(), |(served, key)| async move {
        drop_owners(core, &served, &key, None, dropped).await
    })
    .await?;
    if all().next().is_some() {
        // One came meanwhile: it is let go too.
        dependents.pending.add([owner.key.clone()]);
        return Ok(());
    }
    drop_finalizer(core, served, owner, ORPHAN).await
}

/// Has dependents deleted; when none holds the owner back, it may go.
async fn delete_dependents(
    core: &Core,
    dependents: &Dependents,
    served: &Arc<Served>,
    owner: &Entry<Object>,
) -> Result<(), Failure> {
    let uid = &owner.payload.facts().uid;
    let circle = dependents.graph().in_circle(uid);
    for key in circle {
        ignore_absent(unblock(core, &key, uid).await)?;
    }
    let snapshot = core.store.snapshot();
    let all = dependents.graph().of(uid);
    let living = |key: &Key| {
        snapshot
            .get(key)
            .is_some_and(|entry| !entry.payload.facts().is_deleting)
    };
    dependents.pending.add(all.into_iter().filter(living));
    if dependents.graph().is_held(uid) {
        return Ok(());
    }
    drop_finalizer(core, served, owner, FOREGROUND).await
}

/// Deletes an object that has no owner left, and removes owners that are gone from one that has.
async fn collect(
    core: &Core,
    dependents: &Dependents,
    served: &Arc<Served>,
    entry: &Entry<Object>,
) -> Result<(), Failure> {
    let owners = owners::judge(core, dependents, entry);
    for owner in &owners.elsewhere {
        report(core, served, entry, owner).await;
    }
    if owners.gone.is_empty() && owners.waiting.is_empty() {
        return Ok(());
    }
    let uid = &entry.payload.facts().uid;
    if owners.solid > 0 {
        let dropped: Vec<Box<str>> = owners.gone.into_iter().chain(owners.waiting).collect();
        return drop_owners(core, served, &entry.key, Some(uid.to_string()), &dropped).await;
    }
    let options = DeleteOptions {
        propagation_policy: Some(propagation(dependents, &owners, entry)),
        // If it changes meanwhile it is looked at again: perhaps it has an owner then.
        preconditions: Preconditions {
            uid: Some(uid.to_string()),
            resource_version: Some(entry.revision.to_string()),
        },
        ..DeleteOptions::default()
    };
    let call = Call::internal(served, &entry.key.namespace, &entry.key.name, "");
    core.delete(&call, &options).await.map(|_| ())
}

/// An owner that waits for an object with dependents waits for those too. Otherwise what the object asks for is done.
fn propagation(dependents: &Dependents, owners: &Owners, entry: &Entry<Object>) -> DeletionPropagation {
    let facts = entry.payload.facts();
    let has = |name: &str| facts.finalizers.iter().any(|finalizer| **finalizer == *name);
    let waits = !owners.waiting.is_empty() && dependents.graph().has_dependents(&facts.uid);
    match () {
        () if waits => DeletionPropagation::Foreground,
        () if has(ORPHAN) => DeletionPropagation::Orphan,
        () if has(FOREGROUND) => DeletionPropagation::Foreground,
        () => DeletionPropagation::Background,
    }
}

async fn drop_owners(
    core: &Core,
    served: &Arc<Served>,
    key: &Key,
    uid: Option<String>,
    dropped: &[Box<str>],
) -> Result<(), Failure> {
    let call = Call::internal(served, &key.namespace, &key.name, "");
    change(core, &call, uid, &|object| {
        let mut owners = references(object);
        owners.retain(|owner| !dropped.iter().any(|uid| owner["uid"] == **uid));
        metadata::set_list(object, "ownerReferences", owners);
    })
    .await
}

/// Lets an owner go before a dependent, because the dependent waits for the owner too.
async fn unblock(core: &Core, key: &Key, uid: &str) -> Result<(), Failure> {
    let Some(served) = core.served_for(&key.collection) else {
        return Ok(());
    };
    change(
        core,
        &Call::internal(&served, &key.namespace, &key.name, ""),
        None,
        &|object| {
            let mut owners = references(object);
            for owner in owners.iter_mut().filter(|owner| owner["uid"] == uid) {
                owner["blockOwnerDeletion"] = json!(false);
            }
            metadata::set_list(object, "ownerReferences", owners);
        },
    )
    .await
}

fn references(object: &Value) -> Vec<Value> {
    metadata::of(object)
        .get("ownerReferences")
        .and_then(Value::as_array)
        .cloned()
        .unwrap_or_default()
}

/// Tells that an owner counts for nothing because it is in another namespace. That it cannot be told changes nothing.
async fn report(core: &Core, served: &Arc<Served>, entry: &Entry<Object>, owner: &Owner) {
    let Some(events) = core.registry.get().find("", "v1", "events").cloned() else {
        return;
    };
    let key = &entry.key;
    let message = format!(
        "ownerRef [{}/{}, namespace: {}, name: {}, uid: {}] does not exist in namespace {:?}",
        owner.api_version, owner.kind, key.namespace, owner.name, owner.uid, key.namespace
    );
    let suffix = u64::from_le_bytes(core.entropy.bytes());
    let now = metadata::time(core.clock.now());
    let event = json!({
        "apiVersion": "v1", "kind": "Event",
        "metadata": {"name": format!("{}.{suffix:016x}", key.name), "namespace": &*key.namespace},
        "involvedObject": {
            "apiVersion": served.api_version, "kind": served.resource.kind, "namespace": &*key.namespace,
            "name": &*key.name, "uid": &*entry.payload.facts().uid,
        },
        "type": "Warning", "reason": "OwnerRefInvalidNamespace", "message": message, "count": 1,
        "firstTimestamp": now, "lastTimestamp": now,
        "source": {"component": COMPONENT}, "reportingComponent": COMPONENT,
    });
    let call = Call::internal(&events, &key.namespace, "", "");
    if let Err(error) = core.create(&call, event).await {
        tracing::debug!(%error, object = %key, "An Event about a misplaced owner was not written.");
    }
}
