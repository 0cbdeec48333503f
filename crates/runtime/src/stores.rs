//! The shared watches of one manager: one per kind and selection, found again by type. Knows no controller.

use std::{
    any::{Any, type_name},
    collections::BTreeMap,
    sync::{Arc, Mutex},
};

use crate::{
    kind::Kind,
    object_key::ObjectKey,
    store::{AnyStore, Store, lock},
};

/// All stores of a manager, by type and description of the watch.
#[derive(Default)]
pub(crate) struct Stores(Mutex<BTreeMap<(&'static str, String), Entry>>);

#[derive(Clone)]
struct Entry {
    typed: Arc<dyn Any + Send + Sync>,
    plain: Arc<dyn AnyStore>,
}

impl Stores {
    /// The store of this kind and description; `make` is called for the first one who asks.
    pub(crate) fn get_or_insert<K: Kind>(&self, description: &str, make: impl FnOnce() -> Store<K>) -> Store<K> {
        let mut stores = lock(&self.0);
        let entry = stores
            .entry((type_name::<K>(), description.to_owned()))
            .or_insert_with(|| {
                let store = make();
                Entry {
                    typed: Arc::new(store.clone()),
                    plain: Arc::new(store),
                }
            });
        let store = entry.typed.downcast_ref::<Store<K>>();
        store.expect("the key of the map holds the type").clone()
    }

    /// The object as any watch of its kind has it.
    pub(crate) fn find<K: Kind>(&self, key: &ObjectKey) -> Option<Arc<K>> {
        self.of_kind::<K>().iter().find_map(|store| store.get(key))
    }

    /// Whether the kind is watched at all, so that a write will show up.
    pub(crate) fn has<K: Kind>(&self) -> bool {
        !self.of_kind::<K>().is_empty()
    }

    /// Every watch, in order, whatever its kind.
    pub(crate) fn plain(&self) -> Vec<Arc<dyn AnyStore>> {
        lock(&self.0).values().map(|entry| entry.plain.clone()).collect()
    }

    fn of_kind<K: Kind>(&self) -> Vec<Store<K>> {
        let name = type_name::<K>();
        lock(&self.0)
            .range((name, String::new())..)
            .take_while(|((found, _), _)| *found == name)
            .filter_map(|(_, entry)| entry.typed.downcast_ref::<Store<K>>().cloned())
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use k8s_openapi::api::core::v1::{ConfigMap, Secret};
    use kube::runtime::watcher::Event;
    use serde_json::json;

    use super::*;

    fn store<K: Kind>(stores: &Stores, description: &str) -> Store<K> {
        stores.get_or_insert(description, || Store::new(description.to_owned(), "ours"))
    }

    #[test]
    fn equal_selections_share_one_store_and_objects_are_found_in_any() {
        let stores = Stores::default();
        let first = store::<ConfigMap>(&stores, "a");
        store::<ConfigMap>(&stores, "b");
        assert!(!stores.has::<Secret>());
        store::<Secret>(&stores, "a");
        assert_eq!(stores.plain().len(), 3);
        let object = json!({"metadata": {"namespace": "n", "name": "x"}});
        first.take(Event::Apply(serde_json::from_value(object).unwrap()));
        let key = ObjectKey::namespaced("n", "x");
        assert!(store::<ConfigMap>(&stores, "a").get(&key).is_some());
        assert!(stores.find::<ConfigMap>(&key).is_some());
        assert!(stores.find::<Secret>(&key).is_none());
    }
}
