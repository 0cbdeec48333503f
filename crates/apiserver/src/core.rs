//! The heart that all verbs share: the store, what is served, and the parameters of this server. Knows no HTTP.

use std::sync::{Arc, OnceLock, PoisonError, RwLock, atomic::AtomicU64};

use hyperplane_access::Policy;
use hyperplane_seams::{Clock, Entropy};
use hyperplane_store::{Entry, Key, Revision, Snapshot, Store};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::{
    allocation::Allocations,
    limits::Limits,
    object::Object,
    registry::{Registry, Served},
    subresources::log::Logs,
};

/// What verbs, subresources and controllers work on.
pub(crate) struct Core {
    pub store: Store<Object>,
    pub registry: Published<Registry>,
    pub policy: Arc<Policy>,
    pub allocations: Arc<Allocations>,
    pub clock: Clock,
    pub entropy: Entropy,
    pub limits: Limits,
    /// Changes before this revision are not told: what happened before a new server was ready is seen by listing.
    pub floor: AtomicU64,
    /// Who answers for kubelets, where somebody does.
    pub logs: OnceLock<Logs>,
    /// Cancelled when the server ends.
    pub stop: CancellationToken,
}

/// A value that is replaced as a whole; readers keep the one that they took.
#[derive(Debug)]
pub(crate) struct Published<T>(RwLock<Arc<T>>);

impl<T> Published<T> {
    pub(crate) fn new(value: Arc<T>) -> Self {
        Self(RwLock::new(value))
    }

    pub(crate) fn get(&self) -> Arc<T> {
        Arc::clone(&self.0.read().unwrap_or_else(PoisonError::into_inner))
    }

    pub(crate) fn replace(&self, change: impl FnOnce(&T) -> T) {
        let mut current = self.0.write().unwrap_or_else(PoisonError::into_inner);
        *current = Arc::new(change(&current));
    }
}

impl Served {
    /// Where an object of this resource is stored.
    pub(crate) fn key(&self, namespace: &str, name: &str) -> Key {
        Key::new(Arc::clone(&self.resource.collection), namespace, name)
    }

    /// Whether what is stored is what is shown, byte for byte.
    pub(crate) fn shows_as_stored(&self, entry: &Entry<Object>) -> bool {
        (entry.revision > self.since || !self.is_custom) && entry.payload.api_version() == self.api_version
    }

    /// A stored object as this resource shows it: in its version, with its defaults.
    pub(crate) fn show(&self, entry: &Entry<Object>, revision: Revision) -> Value {
        let mut value = entry.payload.value(revision);
        if !self.shows_as_stored(entry) {
            self.resource.behaviour.show(&mut value, &self.api_version);
        }
        value
    }

    /// An object of this resource as it is stored.
    pub(crate) fn keep(&self, value: &mut Value) {
        if self.api_version != self.resource.storage_version {
            self.resource.behaviour.keep(value, &self.resource.storage_version);
        }
    }
}

impl Core {
    /// The resource that is stored in a collection.
    pub(crate) fn served_for(&self, collection: &str) -> Option<Arc<Served>> {
        let registry = self.registry.get();
        let candidates = registry
            .all()
            .chain(registry.hidden())
            .filter(|served| *served.resource.collection == *collection);
        candidates
            .max_by_key(|served| served.api_version == served.resource.storage_version)
            .cloned()
    }

    /// The object of a name in a snapshot.
    pub(crate) fn find(
        snapshot: &Snapshot<Object>,
        served: &Served,
        namespace: &str,
        name: &str,
    ) -> Option<Arc<Entry<Object>>> {
        snapshot.get(&served.key(namespace, name)).cloned()
    }
}
