//! Keeps the policy up to date with every commit, so that a right counts from the moment it is granted.

use std::sync::Arc;

use hyperplane_access::Policy;
use hyperplane_store::{Event, EventKind, Observer, Snapshot};

use crate::object::Object;

/// Feeds a policy.
pub(crate) struct PolicyObserver(pub Arc<Policy>);

impl Observer<Object> for PolicyObserver {
    fn reset(&self, snapshot: &Snapshot<Object>) {
        for collection in snapshot.collections().filter(|collection| Policy::follows(collection)) {
            for entry in snapshot.range(collection, None, None) {
                self.0.put(collection, &entry.payload.value(entry.revision));
            }
        }
    }

    fn committed(&self, events: &[Arc<Event<Object>>]) {
        for event in events {
            let key = &event.entry.key;
            if !Policy::follows(&key.collection) {
                continue;
            }
            match event.kind {
                EventKind::Created | EventKind::Updated => {
                    self.0.put(&key.collection, &event.entry.payload.value(event.revision));
                }
                EventKind::Deleted => self.0.remove(&key.collection, &key.namespace, &key.name),
            }
        }
    }
}
