//! Volumes in use stay: a claim goes after the last pod that mounts it, a volume after the claim that is bound to it.
//! Admission adds the finalizers, this takes them away.

use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use hyperplane_store::{Event, EventKind, Key, Observer, Snapshot};
use hyperplane_wire::Failure;

use super::{
    GATHER, WIDTH, drop_finalizer,
    pending::{self, Pending},
};
use crate::{core::Core, object::Object};

/// The collection of claims.
pub(crate) const CLAIMS: &str = "persistentvolumeclaims";
/// The collection of volumes.
pub(crate) const VOLUMES: &str = "persistentvolumes";
/// Holds a claim.
pub(crate) const CLAIM_FINALIZER: &str = "kubernetes.io/pvc-protection";
/// Holds a volume.
pub(crate) const VOLUME_FINALIZER: &str = "kubernetes.io/pv-protection";
const PODS: &str = "pods";

/// Claims and volumes that wait to go.
#[derive(Debug, Default)]
pub(crate) struct Protection {
    pending: Pending<Key>,
    /// Those that are held, to be looked at again when a pod or a claim goes.
    held: Mutex<BTreeSet<Key>>,
}

impl Protection {
    fn held(&self) -> MutexGuard<'_, BTreeSet<Key>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether an object is one that waits to go.
fn waits(key: &Key, object: &Object) -> bool {
    matches!(&*key.collection, CLAIMS | VOLUMES) && object.facts().is_deleting
}

impl Observer<Object> for Protection {
    fn reset(&self, snapshot: &Snapshot<Object>) {
        let all = [CLAIMS, VOLUMES]
            .into_iter()
            .flat_map(|collection| snapshot.range(collection, None, None));
        let held: BTreeSet<Key> = all
            .filter(|entry| waits(&entry.key, &entry.payload))
            .map(|entry| entry.key.clone())
            .collect();
        self.pending.add(held.clone());
        *self.held() = held;
    }

    fn committed(&self, events: &[Arc<Event<Object>>]) {
        for event in events {
            let key = &event.entry.key;
            if !matches!(&*key.collection, PODS | CLAIMS | VOLUMES) {
                continue;
            }
            if event.kind == EventKind::Deleted {
                self.held().remove(key);
            } else if waits(key, &event.entry.payload) {
                self.held().insert(key.clone());
                self.pending.note(event.revision, [key.clone()]);
            }
            // A pod that has ended or is gone mounts nothing, a volume that is released is bound to nothing.
            if event.kind != EventKind::Created {
                let held = self.held().clone();
                self.pending.note_later(event.revision, GATHER, held);
            }
        }
    }
}

/// Lets go of what is no longer in use for ever.
pub(crate) async fn run(core: &Core, protection: &Protection) {
    pending::drive(core, &protection.pending, WIDTH, |key| async move {
        look_at(core, &key).await
    })
    .await;
}

async fn look_at(core: &Core, key: &Key) -> Result<(), Failure> {
    let snapshot = core.store.snapshot();
    let Some(entry) = snapshot.get(key) else {
        return Ok(());
    };
    let finalizer = if &*key.collection == CLAIMS {
        CLAIM_FINALIZER
    } else {
        VOLUME_FINALIZER
    };
    let is_ours = entry.payload.facts().finalizers.iter().any(|name| **name == *finalizer);
    let object = entry.payload.value(entry.revision);
    let is_in_use = if &*key.collection == CLAIMS {
        is_mounted(&snapshot, key)
    } else {
        object["status"]["phase"] == "Bound"
    };
    if !is_ours || !entry.payload.facts().is_deleting || is_in_use {
        return Ok(());
    }
    let Some(served) = core.served_for(&key.collection) else {
        return Ok(());
    };
    drop_finalizer(core, &served, entry, finalizer).await
}

/// Whether a pod that has not ended mounts a claim.
fn is_mounted(snapshot: &Snapshot<Object>, claim: &Key) -> bool {
    let pods = snapshot.range(PODS, Some(&claim.namespace), None);
    pods.map(|entry| entry.payload.value(entry.revision)).any(|pod| {
        let is_over = matches!(pod["status"]["phase"].as_str(), Some("Succeeded" | "Failed"));
        let volumes = pod["spec"]["volumes"].as_array().into_iter().flatten();
        !is_over
            && volumes
                .into_iter()
                .any(|volume| volume["persistentVolumeClaim"]["claimName"] == *claim.name)
    })
}
