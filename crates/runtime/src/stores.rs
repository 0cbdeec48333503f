//! The shared watches of one manager: one per kind and selection, found again by type. Knows no controller.

use std::{
    any::type_name,
    collections::BTreeMap,
    sync::{Arc, Mutex},
};

use hyperplane_objects::Kind;

use crate::{
    erased::AnyObject,
    intake::Peers,
    object_key::ObjectKey,
    store::{SharedStore, Store, lock},
};

/// All stores of a manager, by type and description of the watch.
#[derive(Default)]
pub(crate) struct Stores(Mutex<BTreeMap<&'static str, OfType>>);

/// The stores whose objects are of one type.
#[derive(Default)]
struct OfType {
    by_description: BTreeMap<String, SharedStore>,
    peers: Peers,
}

impl Stores {
    /// The store of this kind and description; `make` is called for the first one who asks.
    pub(crate) fn get_or_insert<K: Kind>(&self, description: &str, make: impl FnOnce(Peers) -> Store<K>) -> Store<K> {
        let mut stores = lock(&self.0);
        let OfType { by_description, peers } = stores.entry(type_name::<K>()).or_default();
        if let Some(known) = by_description.get(description) {
            return Store::of_shared(known.clone());
        }
        let store = make(peers.clone());
        by_description.insert(description.to_owned(), store.shared().clone());
        store
    }

    /// Everything that is known of one kind.
    pub(crate) fn of_kind<K: Kind>(self: &Arc<Self>) -> StoresOfKind {
        StoresOfKind {
            stores: self.clone(),
            type_name: type_name::<K>(),
        }
    }

    /// Every watch, in order, whatever its kind.
    pub(crate) fn all(&self) -> Vec<SharedStore> {
        let stores = lock(&self.0);
        let all = stores.values().flat_map(|of_type| of_type.by_description.values());
        all.cloned().collect()
    }
}

/// The watches of one kind, without the kind.
pub(crate) struct StoresOfKind {
    stores: Arc<Stores>,
    type_name: &'static str,
}

impl StoresOfKind {
    /// The object as any watch of its kind has it.
    pub(crate) fn find(&self, key: &ObjectKey) -> Option<AnyObject> {
        let stores = lock(&self.stores.0);
        let mut of_type = stores.get(self.type_name)?.by_description.values();
        of_type.find_map(|store| store.get(key))
    }

    /// Whether the kind is watched at all, so that a write will show up.
    pub(crate) fn are_any(&self) -> bool {
        lock(&self.stores.0).contains_key(self.type_name)
    }
}

#[cfg(test)]
mod tests {
    use k8s_openapi::api::core::v1::{ConfigMap, Secret};
    use kube::runtime::watcher::Event;
    use serde_json::json;

    use super::*;
    use crate::erased::RawObject;

    fn store<K: Kind>(stores: &Stores, description: &str) -> Store<K> {
        stores.get_or_insert(description, |peers| Store::new(description.to_owned(), "ours", peers))
    }

    #[test]
    fn equal_selections_share_one_store_and_objects_are_found_in_any() {
        let stores = Arc::new(Stores::default());
        let first = store::<ConfigMap>(&stores, "a");
        let second = store::<ConfigMap>(&stores, "b");
        assert!(!stores.of_kind::<Secret>().are_any());
        store::<Secret>(&stores, "a");
        assert_eq!(stores.all().len(), 3);
        let object = || RawObject::new(json!({"metadata": {"namespace": "n", "name": "x", "resourceVersion": "1"}}));
        first.shared().take(Event::Apply(object()));
        second.shared().take(Event::Apply(object()));
        let key = ObjectKey::namespaced("n", "x");
        assert!(store::<ConfigMap>(&stores, "a").get(&key).is_some());
        assert!(stores.of_kind::<ConfigMap>().find(&key).is_some());
        assert!(stores.of_kind::<Secret>().find(&key).is_none());
        let held = first.get(&key).zip(second.get(&key)).unwrap();
        assert!(Arc::ptr_eq(&held.0, &held.1), "what two watches see is held once");
    }
}
