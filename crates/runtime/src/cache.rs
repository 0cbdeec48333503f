//! The content of one watch as a pure value: objects in order, secondary indices, and the changes that each event of
//! the watch amounts to. It does no I/O and takes no lock; [`crate::store`] shares it.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use crate::{
    erased::{AnyObject, ErasedObject, is_same_version},
    object_key::ObjectKey,
};

#[cfg(test)]
mod tests;

/// Computes the values under which an object is found in an index.
pub(crate) type Extract = Arc<dyn Fn(&dyn ErasedObject) -> Vec<String> + Send + Sync>;

/// An object of an event: read, or why it could not be. One malformed object must not stop a whole kind.
pub(crate) struct Arrival {
    pub(crate) key: ObjectKey,
    pub(crate) object: Result<AnyObject, String>,
}

/// One event of a watch, with the objects read.
pub(crate) enum Update {
    /// A list begins; what it brings replaces everything at its end.
    ListStarted,
    Listed(Arrival),
    ListEnded,
    Applied(Arrival),
    Deleted(ObjectKey),
}

/// One object before and after an event. Both are present for a modification.
pub(crate) struct Change {
    pub(crate) key: ObjectKey,
    pub(crate) old: Option<AnyObject>,
    pub(crate) new: Option<AnyObject>,
    /// The change belongs to the first list after the start, when everything is new.
    pub(crate) is_first_list: bool,
}

/// Objects of one watch, and what can be found in them.
#[derive(Default)]
pub(crate) struct Cache {
    objects: BTreeMap<ObjectKey, AnyObject>,
    malformed: BTreeMap<ObjectKey, String>,
    indices: BTreeMap<&'static str, Index>,
    relist: Option<Relist>,
    is_synced: bool,
}

struct Index {
    extract: Extract,
    entries: BTreeMap<String, BTreeSet<ObjectKey>>,
}

/// What a list in progress has brought so far; it replaces everything at its end, atomically.
struct Relist {
    objects: BTreeMap<ObjectKey, AnyObject>,
    malformed: BTreeMap<ObjectKey, String>,
}

impl Cache {
    /// Adds an index, filled with what is there already. The first definition of a name holds.
    pub(crate) fn add_index(&mut self, name: &'static str, extract: Extract) {
        let objects = &self.objects;
        self.indices.entry(name).or_insert_with(|| {
            let mut index = Index {
                extract,
                entries: BTreeMap::new(),
            };
            for (key, object) in objects {
                index.insert(key, object.as_ref());
            }
            index
        });
    }

    /// Takes in one event and says what it changed.
    pub(crate) fn apply(&mut self, update: Update) -> Vec<Change> {
        match update {
            Update::ListStarted => {
                self.relist = Some(Relist {
                    objects: BTreeMap::new(),
                    malformed: BTreeMap::new(),
                });
                Vec::new()
            }
            Update::Listed(arrival) => {
                self.stage(arrival);
                Vec::new()
            }
            Update::ListEnded => self.swap(),
            Update::Applied(arrival) => self.upsert(arrival),
            Update::Deleted(key) => {
                self.malformed.remove(&key);
                self.replace(key, None).into_iter().collect()
            }
        }
    }

    pub(crate) const fn is_synced(&self) -> bool {
        self.is_synced
    }

    pub(crate) fn get(&self, key: &ObjectKey) -> Option<&AnyObject> {
        self.objects.get(key)
    }

    /// All objects, in order.
    pub(crate) fn all(&self) -> impl Iterator<Item = &AnyObject> {
        self.objects.values()
    }

    /// The objects of one namespace, in order of their names.
    pub(crate) fn in_namespace(&self, namespace: &str) -> impl Iterator<Item = &AnyObject> {
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

    fn stage(&mut self, Arrival { key, object }: Arrival) {
        let kept = self.objects.get(&key).cloned();
        let Some(relist) = &mut self.relist else {
            return;
        };
        match object {
            Ok(object) => {
                relist.objects.insert(key, object);
            }
            Err(error) => {
                if let Some(kept) = kept {
                    relist.objects.insert(key.clone(), kept);
                }
                relist.malformed.insert(key, error);
            }
        }
    }

    fn swap(&mut self) -> Vec<Change> {
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

    fn upsert(&mut self, Arrival { key, object }: Arrival) -> Vec<Change> {
        match object {
            Ok(object) => {
                self.malformed.remove(&key);
                self.replace(key, Some(object)).into_iter().collect()
            }
            // The last readable version stays: an object that looks deleted would be acted upon.
            Err(error) => {
                self.malformed.insert(key, error);
                Vec::new()
            }
        }
    }

    /// Puts one object in place of another and keeps the indices true; none if nothing differs.
    fn replace(&mut self, key: ObjectKey, new: Option<AnyObject>) -> Option<Change> {
        let old = match &new {
            Some(object) => self.objects.insert(key.clone(), object.clone()),
            None => self.objects.remove(&key),
        };
        for index in self.indices.values_mut() {
            if let Some(old) = &old {
                index.remove(&key, old.as_ref());
            }
            if let Some(new) = &new {
                index.insert(&key, new.as_ref());
            }
        }
        if is_same(old.as_ref(), new.as_ref()) {
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

impl Index {
    fn insert(&mut self, key: &ObjectKey, object: &dyn ErasedObject) {
        for value in (self.extract)(object) {
            self.entries.entry(value).or_default().insert(key.clone());
        }
    }

    fn remove(&mut self, key: &ObjectKey, object: &dyn ErasedObject) {
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

fn is_same(old: Option<&AnyObject>, new: Option<&AnyObject>) -> bool {
    match (old, new) {
        (None, None) => true,
        (Some(old), Some(new)) => is_same_version(old.meta(), new.meta()),
        _ => false,
    }
}
