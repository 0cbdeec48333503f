//! Who depends on whom, kept up to date by every commit, and what the garbage collector has to look at because of it.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use hyperplane_store::{Entry, Event, EventKind, Key, Observer, Revision, Snapshot};

use super::{
    graph::{Graph, Wait},
    pending::Pending,
};
use crate::object::{Facts, Object};

/// The graph of dependents and the queue of work.
#[derive(Debug, Default)]
pub(crate) struct Dependents {
    graph: Mutex<Graph>,
    /// What the collector has to look at.
    pub(super) pending: Pending<Key>,
}

impl Dependents {
    /// The graph.
    pub(super) fn graph(&self) -> MutexGuard<'_, Graph> {
        self.graph.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Looks again at what depends on kinds that were not served: perhaps they are now.
    pub(super) fn resolve(&self) {
        let unresolved = self.graph().take_unresolved();
        self.pending.add(unresolved);
    }
}

impl Observer<Object> for Dependents {
    fn reset(&self, snapshot: &Snapshot<Object>) {
        let mut graph = Graph::default();
        for entry in snapshot.entries() {
            graph.put(&Facts::default(), &entry.key, entry.payload.facts());
        }
        // After a restart nobody knows what was looked at before.
        let all = snapshot
            .entries()
            .filter(|entry| is_concerned(entry))
            .map(|entry| entry.key.clone());
        self.pending.note(Revision::default(), all);
        *self.graph() = graph;
    }

    fn committed(&self, events: &[Arc<Event<Object>>]) {
        let nothing = Facts::default();
        for event in events {
            let (key, facts) = (&event.entry.key, event.entry.payload.facts());
            let previous = event
                .previous
                .as_ref()
                .map_or(&nothing, |previous| previous.payload.facts());
            if !is_related(facts) && !is_related(previous) && event.kind != EventKind::Deleted {
                continue;
            }
            let concerned = match event.kind {
                EventKind::Created | EventKind::Updated => self.graph().put(previous, key, facts),
                EventKind::Deleted => self.graph().delete(key, facts),
            };
            self.pending.note(event.revision, concerned);
        }
    }
}

/// Whether the graph has anything to do with an object, besides its end.
fn is_related(facts: &Facts) -> bool {
    !facts.owners.is_empty() || Wait::of(facts).is_some()
}

fn is_concerned(entry: &Entry<Object>) -> bool {
    is_related(entry.payload.facts())
}
