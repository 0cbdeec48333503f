//! The shared, read-only face of a cache, and the delivery of its changes. Knows subscribers as functions only, so
//! that no consumer can slow down the watch or another consumer.

use std::{
    collections::BTreeSet,
    fmt,
    marker::PhantomData,
    sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard},
};

use hyperplane_objects::Kind;
use kube::runtime::watcher::Event;
use serde::Serialize;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::{
    cache::{Cache, Change, Extract, Update},
    erased::{AnyObject, RawObject, typed, typed_ref},
    intake::{Intake, Peers},
    object_key::ObjectKey,
};

/// A function that hears of changes. It runs inside the watch and must only note what to do.
pub(crate) type Subscriber = Arc<dyn Fn(&[Change]) + Send + Sync>;

/// The objects of one shared watch. Cheap to clone.
pub struct Store<K> {
    shared: SharedStore,
    kind: PhantomData<fn() -> K>,
}

/// The same without the kind: what watches, managers and diagnostics need. Cheap to clone.
#[derive(Clone)]
pub(crate) struct SharedStore(Arc<Shared>);

struct Shared {
    description: String,
    intake: Intake,
    cache: Arc<RwLock<Cache>>,
    subscribers: Mutex<Vec<Subscriber>>,
    progress: Mutex<Progress>,
    /// Cancelled when the first list is complete. Who waits for it is woken in the order of waiting; the receivers of
    /// tokio's own watch channel are woken by chance, which no seed decides.
    synced: CancellationToken,
}

#[derive(Default)]
struct Progress {
    restarts: u64,
    last_event: Option<Instant>,
    resource_version: String,
    last_error: Option<String>,
}

/// What is known about one watch, for diagnostics.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct WatchStatus {
    /// The kind and the selection.
    pub watch: String,
    /// The first list is complete.
    pub is_synced: bool,
    /// How many objects are cached.
    pub objects: usize,
    /// Objects that do not fit their type, with the reason.
    pub malformed: Vec<String>,
    /// How often the watch failed and began again.
    pub restarts: u64,
    /// Seconds since an object last arrived; bookmarks are not counted.
    pub last_event_age_seconds: Option<u64>,
    /// The version of the object that arrived last.
    pub resource_version: String,
    /// The most recent error, if the watch has not recovered from it.
    pub last_error: Option<String>,
}

impl<K: Kind> Store<K> {
    pub(crate) fn new(description: String, keep_manager_prefix: &str, peers: Peers) -> Self {
        let intake = Intake::new::<K>(keep_manager_prefix, peers);
        Self::of_shared(SharedStore::new(description, intake))
    }

    /// A store by what is shared of it, which must be of this kind.
    pub(crate) const fn of_shared(shared: SharedStore) -> Self {
        Self {
            shared,
            kind: PhantomData,
        }
    }

    /// One object.
    pub fn get(&self, key: &ObjectKey) -> Option<Arc<K>> {
        self.shared.get(key).map(typed)
    }

    /// All objects of all namespaces, in order. For controllers that own the whole kind; code that acts for one
    /// tenant takes [`Store::namespace`].
    pub fn all(&self) -> Vec<Arc<K>> {
        self.shared.all().into_iter().map(typed).collect()
    }

    /// The objects under one value of an index, in order.
    pub fn by_index(&self, index: &str, value: &str) -> Vec<Arc<K>> {
        self.shared.by_index(index, value).into_iter().map(typed).collect()
    }

    /// The values under which an index has objects, in order: a summary that costs no look at the objects.
    pub fn values_of_index(&self, index: &str) -> Vec<String> {
        self.shared.read().values_of_index(index)
    }

    /// A view that shows one namespace and nothing else.
    pub fn namespace(&self, namespace: impl Into<String>) -> NamespaceStore<K> {
        NamespaceStore {
            namespace: namespace.into(),
            store: self.clone(),
        }
    }

    /// Whether the first list is complete. Before that, a missing object proves nothing.
    pub fn is_synced(&self) -> bool {
        self.shared.is_synced()
    }

    /// Adds an index by name; the first definition of a name holds.
    pub fn add_index(&self, name: &'static str, extract: impl Fn(&K) -> Vec<String> + Send + Sync + 'static) {
        let extract: Extract = Arc::new(move |object| extract(typed_ref(object)));
        self.shared.write(|cache| cache.add_index(name, extract));
    }

    pub(crate) const fn shared(&self) -> &SharedStore {
        &self.shared
    }
}

impl SharedStore {
    fn new(description: String, intake: Intake) -> Self {
        let cache = Arc::default();
        intake.join(&cache);
        Self(Arc::new(Shared {
            description,
            intake,
            cache,
            subscribers: Mutex::default(),
            progress: Mutex::default(),
            synced: CancellationToken::new(),
        }))
    }

    pub(crate) fn get(&self, key: &ObjectKey) -> Option<AnyObject> {
        self.read().get(key).cloned()
    }

    fn all(&self) -> Vec<AnyObject> {
        self.read().all().cloned().collect()
    }

    fn in_namespace(&self, namespace: &str) -> Vec<AnyObject> {
        self.read().in_namespace(namespace).cloned().collect()
    }

    fn by_index(&self, index: &str, value: &str) -> Vec<AnyObject> {
        let cache = self.read();
        let keys = cache.keys_by_index(index, value);
        keys.iter().filter_map(|key| cache.get(key).cloned()).collect()
    }

    pub(crate) fn keys_by_index(&self, index: &str, value: &str) -> BTreeSet<ObjectKey> {
        self.read().keys_by_index(index, value)
    }

    pub(crate) fn is_synced(&self) -> bool {
        self.read().is_synced()
    }

    /// Cancelled once the first list is complete.
    pub(crate) fn synced(&self) -> CancellationToken {
        self.0.synced.clone()
    }

    pub(crate) fn subscribe(&self, subscriber: Subscriber) {
        lock(&self.0.subscribers).push(subscriber);
    }

    /// Takes in one event of the watch and tells the subscribers, after the lock is released.
    pub(crate) fn take(&self, event: Event<RawObject>) {
        self.note(&event);
        let is_end_of_list = matches!(event, Event::InitDone);
        let update = self.update(event);
        let changes = self.write(|cache| cache.apply(update));
        if !changes.is_empty() {
            let subscribers = lock(&self.0.subscribers).clone();
            for subscriber in &subscribers {
                subscriber(&changes);
            }
        }
        if is_end_of_list {
            self.0.synced.cancel();
        }
    }

    /// Counts a failure of the watch.
    pub(crate) fn note_restart(&self, error: String) {
        let mut progress = lock(&self.0.progress);
        progress.restarts += 1;
        progress.last_error = Some(error);
    }

    pub(crate) fn status(&self) -> WatchStatus {
        let cache = self.read();
        let progress = lock(&self.0.progress);
        WatchStatus {
            watch: self.0.description.clone(),
            is_synced: cache.is_synced(),
            objects: cache.len(),
            malformed: cache
                .malformed()
                .iter()
                .map(|(key, error)| format!("{key}: {error}"))
                .collect(),
            restarts: progress.restarts,
            last_event_age_seconds: progress.last_event.map(|at| at.elapsed().as_secs()),
            resource_version: progress.resource_version.clone(),
            last_error: progress.last_error.clone(),
        }
    }

    fn update(&self, event: Event<RawObject>) -> Update {
        match event {
            Event::Init => Update::ListStarted,
            Event::InitApply(raw) => Update::Listed(self.0.intake.take(raw)),
            Event::InitDone => Update::ListEnded,
            Event::Apply(raw) => Update::Applied(self.0.intake.take(raw)),
            Event::Delete(raw) => Update::Deleted(raw.key()),
        }
    }

    fn note(&self, event: &Event<RawObject>) {
        let object = match event {
            Event::Apply(object) | Event::Delete(object) | Event::InitApply(object) => Some(object),
            Event::Init | Event::InitDone => None,
        };
        let mut progress = lock(&self.0.progress);
        if let Some(object) = object {
            progress.last_event = Some(Instant::now());
            let version = object.identity.resource_version.clone();
            progress.resource_version = version.unwrap_or_default();
        }
        if !matches!(event, Event::Init) {
            progress.last_error = None;
        }
    }

    fn read(&self) -> RwLockReadGuard<'_, Cache> {
        read_lock(&self.0.cache)
    }

    fn write<T>(&self, change: impl FnOnce(&mut Cache) -> T) -> T {
        change(&mut self.0.cache.write().unwrap_or_else(PoisonError::into_inner))
    }
}

impl<K> Clone for Store<K> {
    fn clone(&self) -> Self {
        Self {
            shared: self.shared.clone(),
            kind: PhantomData,
        }
    }
}

impl<K> fmt::Debug for Store<K> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Store({})", self.shared.0.description)
    }
}

/// One namespace of a store: what code that acts for one tenant gets to see.
#[derive(Clone, Debug)]
pub struct NamespaceStore<K> {
    namespace: String,
    store: Store<K>,
}

impl<K: Kind> NamespaceStore<K> {
    /// One object by its name.
    pub fn get(&self, name: &str) -> Option<Arc<K>> {
        self.store.get(&ObjectKey::namespaced(&self.namespace, name))
    }

    /// All objects of the namespace, in order of their names.
    pub fn all(&self) -> Vec<Arc<K>> {
        let found = self.store.shared.in_namespace(&self.namespace);
        found.into_iter().map(typed).collect()
    }

    /// The objects of the namespace under one value of an index.
    pub fn by_index(&self, index: &str, value: &str) -> Vec<Arc<K>> {
        let mut found = self.store.by_index(index, value);
        found.retain(|object| object.meta().namespace.as_deref() == Some(&self.namespace));
        found
    }
}

/// A lock that survives a panic elsewhere: what it guards is valid after every statement.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The same for readers.
pub(crate) fn read_lock<T>(lock: &RwLock<T>) -> RwLockReadGuard<'_, T> {
    lock.read().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use k8s_openapi::api::core::v1::ConfigMap;
    use serde_json::json;

    use super::*;

    fn event(namespace: &str, name: &str) -> Event<RawObject> {
        let object = json!({
            "metadata": {"namespace": namespace, "name": name, "resourceVersion": "1"}, "data": {"group": "x"}
        });
        Event::Apply(RawObject::new(object))
    }

    #[test]
    fn a_namespace_view_shows_nothing_else() {
        let store = Store::<ConfigMap>::new("configmaps".to_owned(), "ours", Peers::default());
        store.add_index("group", |object| {
            object.data.iter().flat_map(|data| data.values().cloned()).collect()
        });
        for (namespace, name) in [("a", "1"), ("b", "1"), ("b", "2"), ("bb", "3")] {
            store.shared().take(event(namespace, name));
        }
        let view = store.namespace("b");
        assert_eq!(view.all().len(), 2);
        assert_eq!(view.by_index("group", "x").len(), 2);
        assert!(view.get("1").is_some());
        assert!(view.get("3").is_none());
        assert_eq!(store.by_index("group", "x").len(), 4);
        assert_eq!(store.values_of_index("group"), ["x"]);
        assert!(store.values_of_index("other").is_empty());
    }

    #[test]
    fn subscribers_may_read_the_store_they_listen_to() {
        let store = Store::<ConfigMap>::new("configmaps".to_owned(), "ours", Peers::default());
        let seen = Arc::new(Mutex::new(Vec::new()));
        let (reader, notes) = (store.clone(), seen.clone());
        store.shared().subscribe(Arc::new(move |changes| {
            for change in changes {
                lock(&notes).push(reader.get(&change.key).is_some());
            }
        }));
        store.shared().take(event("a", "1"));
        assert_eq!(*lock(&seen), [true]);
    }

    #[test]
    fn the_state_is_synced_at_the_end_of_the_first_list() {
        let store = Store::<ConfigMap>::new("configmaps".to_owned(), "ours", Peers::default());
        store.shared().take(Event::Init);
        assert!(!store.is_synced());
        store.shared().take(Event::InitDone);
        assert!(store.is_synced() && store.shared().synced().is_cancelled());
    }
}
