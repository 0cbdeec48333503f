//! The life of a namespace: it begins with a service account and the certificate of the cluster, and ends when
//! everything in it is gone. Owns which namespaces have to be looked at; what is done to them is done elsewhere.

use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use hyperplane_store::{Event, EventKind, Key, Observer, Snapshot};
use hyperplane_wire::{Failure, Reason};

use super::{
    GATHER, Means, WIDTH, furniture,
    pending::{self, Pending},
    termination,
};
use crate::{core::Core, object::Object};

/// The collection of namespaces.
pub(super) const NAMESPACES: &str = "namespaces";

/// Which namespaces have to be looked at.
#[derive(Debug, Default)]
pub(crate) struct Namespaces {
    /// Those that are there, and stay.
    active: Mutex<BTreeSet<Box<str>>>,
    pending: Pending<Box<str>>,
}

impl Namespaces {
    fn active(&self) -> MutexGuard<'_, BTreeSet<Box<str>>> {
        self.active.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Observer<Object> for Namespaces {
    fn reset(&self, snapshot: &Snapshot<Object>) {
        let all = snapshot.range(NAMESPACES, None, None);
        let staying = all
            .filter(|entry| !entry.payload.facts().is_deleting)
            .map(|entry| (*entry.key.name).into());
        let active: BTreeSet<Box<str>> = staying.collect();
        let is_left = |key: &Key| !key.namespace.is_empty() && !active.contains(&*key.namespace);
        let left = snapshot
            .entries()
            .filter(|entry| is_left(&entry.key))
            .map(|entry| (*entry.key.namespace).into());
        self.pending.add(left.collect::<BTreeSet<_>>());
        let all = snapshot
            .range(NAMESPACES, None, None)
            .map(|entry| (*entry.key.name).into());
        self.pending.add(all);
        *self.active() = active;
    }

    fn committed(&self, events: &[Arc<Event<Object>>]) {
        for event in events {
            let key = &event.entry.key;
            if &*key.collection == NAMESPACES {
                let stays = event.kind != EventKind::Deleted && !event.entry.payload.facts().is_deleting;
                if stays {
                    self.active().insert((*key.name).into());
                } else {
                    self.active().remove(&*key.name);
                }
                self.pending.note(event.revision, [(*key.name).into()]);
            } else if !key.namespace.is_empty() && !self.active().contains(&*key.namespace) {
                // Something went, or was written while the namespace went and must go too.
                self.pending
                    .note_later(event.revision, GATHER, [(*key.namespace).into()]);
            } else if event.kind != EventKind::Created && furniture::is_ours(key) {
                self.pending.note(event.revision, [(*key.namespace).into()]);
            }
        }
    }
}

/// Looks after namespaces for ever.
pub(crate) async fn run(core: &Core, namespaces: &Namespaces, means: &Means) {
    pending::drive(core, &namespaces.pending, WIDTH, |name| async move {
        look_at(core, &name, means).await
    })
    .await;
}

async fn look_at(core: &Core, name: &str, means: &Means) -> Result<(), Failure> {
    let snapshot = core.store.snapshot();
    match snapshot.get(&Key::new(NAMESPACES, "", name)) {
        None => termination::empty(core, name).await,
        Some(entry) if entry.payload.facts().is_deleting => termination::terminate(core, name).await,
        Some(_) => match furniture::furnish(core, name, means).await {
            // It began to go meanwhile, and is looked at again because of that.
            Err(failure) if failure.reason == Reason::Forbidden => Ok(()),
            other => other,
        },
    }
}
