//! One ring per collection. Owns which rings there are; a ring exists once its collection was written or watched.

use std::{
    collections::BTreeMap,
    sync::{Arc, PoisonError, RwLock},
};

use crate::{
    entry::{Event, Payload},
    key::Revision,
    limits::Limits,
    ring::Ring,
};

/// The rings of a store by collection.
pub(crate) struct Rings<P> {
    by_collection: RwLock<BTreeMap<Arc<str>, Arc<Ring<P>>>>,
    /// The first revision that a watcher may start from: what happened before is not known event by event.
    floor: Revision,
}

impl<P: Payload> Rings<P> {
    pub(crate) fn new(floor: Revision) -> Self {
        Self {
            by_collection: RwLock::default(),
            floor,
        }
    }

    /// The ring of a collection.
    pub(crate) fn of(&self, collection: &str) -> Arc<Ring<P>> {
        let known = self
            .by_collection
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .get(collection)
            .cloned();
        known.unwrap_or_else(|| {
            let mut rings = self.by_collection.write().unwrap_or_else(PoisonError::into_inner);
            let ring = rings
                .entry(collection.into())
                .or_insert_with(|| Arc::new(Ring::new(self.floor)));
            Arc::clone(ring)
        })
    }

    /// Every ring there is.
    pub(crate) fn all(&self) -> Vec<Arc<Ring<P>>> {
        let rings = self.by_collection.read().unwrap_or_else(PoisonError::into_inner);
        rings.values().cloned().collect()
    }

    /// The first revision that any history starts from.
    pub(crate) fn floor(&self) -> Revision {
        self.floor
    }

    /// Adds the events of a batch and says what is to be done once everybody may see them.
    pub(crate) fn push(&self, events: &[Arc<Event<P>>], limits: &Limits) -> Aftermath<P> {
        let mut aftermath = Aftermath {
            touched: BTreeMap::new(),
            evicted: Vec::new(),
        };
        for run in events.chunk_by(|left, right| left.entry.key.collection == right.entry.key.collection) {
            let collection = &run[0].entry.key.collection;
            let ring = aftermath
                .touched
                .entry(Arc::clone(collection))
                .or_insert_with(|| self.of(collection));
            ring.push(run, limits, &mut aftermath.evicted);
        }
        aftermath
    }
}

/// What is left to do after events were added: wake who waits, drop what no longer fits.
#[must_use = "watchers sleep until they are woken"]
pub(crate) struct Aftermath<P> {
    touched: BTreeMap<Arc<str>, Arc<Ring<P>>>,
    evicted: Vec<Arc<Event<P>>>,
}

impl<P> Aftermath<P> {
    pub(crate) fn finish(self) {
        for ring in self.touched.values() {
            ring.bell.notify_waiters();
        }
        drop(self.evicted);
    }
}
