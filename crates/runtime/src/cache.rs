//! The content of one watch as a pure value: objects in order, secondary indices, and the changes that each event of
//! the watch amounts to. It does no I/O and takes no lock; [`crate::store`] shares it.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::{Resource, runtime::watcher::Event};

use crate::{kind::Kind, object_key::ObjectKey, parsed::Parsed};

#[cfg(test)]
mod tests;

/// The annotation in which `kubectl apply` keeps a second copy of the object.
const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";

/// Computes the values under which an object is found in an index.
pub(crate) type Extract<K> = Arc<dyn Fn(&K) -> Vec<String> + Send + Sync>;

/// One object before and after an event. Both are present for a modification.
#[derive(Debug)]
pub(crate) struct Change<K> {
    pub(crate) key: ObjectKey,
    pub(crate) old: Option<Arc<K>>,
    pub(crate) new: Option<Arc<K>>,
    /// The change belongs to the first list after the start, when everything is new.
    pub(crate) is_first_list: bool,
}

/// Objects of one watch, and what can be found in them.
pub(crate) struct Cache<K> {
    objects: BTreeMap<ObjectKey, Arc<K>>,
    malformed: BTreeMap<ObjectKey, String>,
    indices: BTreeMap<&'static str, Index<K>>,
    relist: Option<Relist<K>>,
    is_synced: bool,
    keep_manager_prefix: String,
}

struct Index<K> {
    extract: Extract<K>,
    entries: BTreeMap<String, BTreeSet<ObjectKey>>,
}

/// What a list in progress has brought so far; it replaces everything at its end, atomically.
struct Relist<K> {
    objects: BTreeMap<ObjectKey, Arc<K>>,
    malformed: BTreeMap<ObjectKey, String>,
}

impl<K: Kind> Cache<K> {
    /// An empty cache that keeps, of `managedFields`, the entries of managers with this prefix.
    pub(crate) fn new(keep_manager_prefix: impl Into<String>) -> Self {
        Self {
            objects: BTreeMap::new(),
            malformed: BTreeMap::new(),
            indices: BTreeMap::new(),
            relist: None,
            is_synced: false,
            keep_manager_prefix: keep_manager_prefix.into(),
        }
    }

    /// Adds an index, filled with what is there already. The first definition of a name holds.
    pub(crate) fn add_index(&mut self, name: &'static str, extract: Extract<K>) {
        let objects = &self.objects;
        self.indices.entry(name).or_insert_with(|| {
            let mut index = Index {
                extract,
                entries: BTreeMap::new(),
            };
            for (key, object) in objects {
                index.insert(key, object);
            }
            index
        });
    }

    /// Takes in one event and says what it changed.
    pub(crate) fn apply(&mut self, event: Event<Parsed<K>>) -> Vec<Change<K>> {
        match event {
            Event::Init => {
                self.relist = Some(Relist {
                    objects: BTreeMap::new(),
                    malformed: BTreeMap::new(),
                });
                Vec::new()
            }
            Event::InitApply(parsed) => {
                self.stage(parsed);
                Vec::new()
            }
            Event::InitDone => self.swap(),
            Event::Apply(parsed) => self.upsert(parsed),
            Event::Delete(parsed) => {
                let key = ObjectKey::of(&parsed);
                self.malformed.remove(&key);
                self.replace(key, None).into_iter().collect()
            }
        }
    }

    pub(crate) const fn is_synced(&self) -> bool {
        self.is_synced
    }

    pub(crate) fn get(&self, key: &ObjectKey) -> Option<Arc<K>> {
        self.objects.get(key).cloned()
    }

    /// All objects, in order.
    pub(crate) fn all(&self) -> impl Iterator<Item = &Arc<K>> {
        self.objects.values()
    }

    /// The objects of one namespace, in order of their names.
    pub(crate) fn in_namespace(&self, namespace: &str) -> impl Iterator<Item = &Arc<K>> {
        self.objects
            .range(ObjectKey::namespaced(namespace, "")..)
            .take_while(move |(key, _)| key.namespace == namespace)
            .map(|(_, object)| object)
    }

    /// The keys under one value of an index.
    pub(crate) fn keys_by_index(&self, index: &str, value: &str) -> BTreeSet<ObjectKey> {
        let entries = self.indices.get(index).map(|index| &index.entries);
        entries
            .and_then(|entries| entries.get(value))
            .cloned()
            .unwrap_or_default()
    }

    /// The values under which an index has objects, in order.
    pub(crate) fn values_of_index(&self, index: &str) -> Vec<String> {
        let entries = self.indices.get(index).map(|index| index.entries.keys());
        entries.into_iter().flatten().cloned().collect()
    }

    pub(crate) fn len(&self) -> usize {
        self.objects.len()
    }

    pub(crate) const fn malformed(&self) -> &BTreeMap<ObjectKey, String> {
        &self.malformed
    }

    fn stage(&mut self, parsed: Parsed<K>) {
        let key = ObjectKey::of(&parsed);
        let kept = self.objects.get(&key).cloned();
        let Some(relist) = &mut self.relist else {
            return;
        };
        match parsed {
            Parsed::Good(mut object) => {
                prune(object.meta_mut(), &self.keep_manager_prefix);
                relist.objects.insert(key, Arc::new(*object));
            }
            Parsed::Malformed(rest) => {
                if let Some(kept) = kept {
                    relist.objects.insert(key.clone(), kept);
                }
                relist.malformed.insert(key, rest.error);
            }
        }
    }

    fn swap(&mut self) -> Vec<Change<K>> {
        let Some(relist) = self.relist.take() else {
            return Vec::new();
        };
        let is_first_list = !std::mem::replace(&mut self.is_synced, true);
        self.malformed = relist.malformed;
        let gone: Vec<ObjectKey> = self
            .objects
            .keys()
            .filter(|key| !relist.objects.contains_key(*key))
            .cloned()
            .collect();
        let deletions = gone.into_iter().map(|key| (key, None));
        let updates = relist.objects.into_iter().map(|(key, object)| (key, Some(object)));
        let mut changes = Vec::new();
        for (key, object) in deletions.chain(updates) {
            changes.extend(self.replace(key, object).map(|change| Change {
                is_first_list,
                ..change
            }));
        }
        changes
    }

    fn upsert(&mut self, parsed: Parsed<K>) -> Vec<Change<K>> {
        let key = ObjectKey::of(&parsed);
        match parsed {
            Parsed::Good(mut object) => {
                self.malformed.remove(&key);
                prune(object.meta_mut(), &self.keep_manager_prefix);
                self.replace(key, Some(Arc::new(*object))).into_iter().collect()
            }
            // The last readable version stays: an object that looks deleted would be acted upon.
            Parsed::Malformed(rest) => {
                self.malformed.insert(key, rest.error);
                Vec::new()
            }
        }
    }

    /// Puts one object in place of another and keeps the indices true; none if nothing differs.
    fn replace(&mut self, key: ObjectKey, new: Option<Arc<K>>) -> Option<Change<K>> {
        let old = match &new {
            Some(object) => self.objects.insert(key.clone(), object.clone()),
            None => self.objects.remove(&key),
        };
        for index in self.indices.values_mut() {
            if let Some(old) = &old {
                index.remove(&key, old);
            }
            if let Some(new) = &new {
                index.insert(&key, new);
            }
        }
        if is_same(old.as_deref(), new.as_deref()) {
            return None;
        }
        Some(Change {
            key,
            old,
            new,
            is_first_list: false,
        })
    }
}

impl<K> Index<K> {
    fn insert(&mut self, key: &ObjectKey, object: &K) {
        for value in (self.extract)(object) {
            self.entries.entry(value).or_default().insert(key.clone());
        }
    }

    fn remove(&mut self, key: &ObjectKey, object: &K) {
        for value in (self.extract)(object) {
            if let Some(keys) = self.entries.get_mut(&value) {
                keys.remove(key);
                if keys.is_empty() {
                    self.entries.remove(&value);
                }
            }
        }
    }
}

fn is_same<K: Resource>(old: Option<&K>, new: Option<&K>) -> bool {
    match (old, new) {
        (None, None) => true,
        (Some(old), Some(new)) => {
            let (old, new) = (old.meta(), new.meta());
            old.uid == new.uid && old.resource_version == new.resource_version && old.resource_version.is_some()
        }
        _ => false,
    }
}

/// Drops what nobody reads. Of `managedFields` our own entries stay, because they tell whether an apply would change
/// anything; on a busy cluster the foreign ones are half of an object's size.
fn prune(meta: &mut ObjectMeta, keep_manager_prefix: &str) {
    if let Some(entries) = &mut meta.managed_fields {
        entries.retain(|entry| {
            let manager = entry.manager.as_deref().unwrap_or_default();
            manager.starts_with(keep_manager_prefix)
        });
    }
    if let Some(annotations) = &mut meta.annotations {
        annotations.remove(LAST_APPLIED);
    }
}
