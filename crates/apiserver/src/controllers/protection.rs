//! Volumes in use stay: a claim goes after the last pod that mounts it, a volume after the claim that is bound to it.
//! Admission adds the finalizers, this takes them away.

use std::sync::Arc;

use hyperplane_store::{Event, EventKind, Key, Observer, Snapshot};
use hyperplane_wire::{Failure, Reason};
use serde_json::Value;

use super::{change, pending::Pending};
use crate::{call::Call, core::Core, metadata, object::Object};

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
    held: std::sync::Mutex<std::collections::BTreeSet<Key>>,
}

impl Protection {
    fn held(&self) -> std::sync::MutexGuard<'_, std::collections::BTreeSet<Key>> {
        self.held.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    fn put(&self, key: &Key, object: &Object) {
        if matches!(&*key.collection, CLAIMS | VOLUMES) && object.facts().is_deleting {
            self.held().insert(key.clone());
            self.pending.add(key.clone());
        }
    }
}

impl Observer<Object> for Protection {
    fn reset(&self, snapshot: &Snapshot<Object>) {
        for collection in [CLAIMS, VOLUMES] {
            for entry in snapshot.range(collection, None, None) {
                self.put(&entry.key, &entry.payload);
            }
        }
    }

    fn committed(&self, events: &[Arc<Event<Object>>]) {
        for event in events {
            let key = &event.entry.key;
            match event.kind {
                EventKind::Created => self.put(key, &event.entry.payload),
                EventKind::Updated => {
                    self.put(key, &event.entry.payload);
                    // A pod that has ended mounts nothing, a volume that is released is bound to nothing.
                    if matches!(&*key.collection, PODS | VOLUMES) {
                        self.pending.extend(self.held().iter().cloned());
                    }
                }
                EventKind::Deleted => {
                    self.held().remove(key);
                    if matches!(&*key.collection, PODS | CLAIMS) {
                        self.pending.extend(self.held().iter().cloned());
                    }
                }
            }
        }
    }
}

/// Lets go of what is no longer in use for ever.
pub(crate) async fn run(core: &Core, protection: &Protection) {
    loop {
        let key = protection.pending.next().await;
        match look_at(core, &key).await {
            Ok(()) => {}
            Err(failure) if failure.reason == Reason::NotFound => {}
            Err(failure) => {
                tracing::warn!(error = %failure, object = %key, "A volume was not let go; it is tried again.");
                tokio::time::sleep(core.limits.retry_pause).await;
                protection.pending.add(key);
            }
        }
    }
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
    change(
        core,
        &Call::internal(&served, &key.namespace, &key.name, ""),
        &|object| {
            let kept: Vec<Value> = metadata::finalizers(object)
                .filter(|name| *name != finalizer)
                .map(Into::into)
                .collect();
            metadata::set_list(object, "finalizers", kept);
        },
    )
    .await
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
