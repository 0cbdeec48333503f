//! The cache against a plain map, through random histories with relists.

use k8s_openapi::api::core::v1::ConfigMap;
use proptest::prelude::*;

use super::*;
use crate::erased::{read_object, typed_ref};

fn object(name: u8, value: u8, version: u64) -> Arrival {
    let json = serde_json::json!({
        "metadata": {
            "namespace": format!("namespace-{}", name % 2), "name": format!("object-{name}"),
            "uid": format!("uid-{name}"), "resourceVersion": version.to_string(),
        },
        "data": {"value": value.to_string()},
    });
    Arrival {
        key: key(name),
        object: Ok(read_object::<ConfigMap>(&json).unwrap()),
    }
}

fn malformed(name: u8) -> Arrival {
    Arrival {
        key: key(name),
        object: Err("data is not a map".to_owned()),
    }
}

fn key(name: u8) -> ObjectKey {
    ObjectKey::namespaced(format!("namespace-{}", name % 2), format!("object-{name}"))
}

fn by_value(object: &dyn ErasedObject) -> Vec<String> {
    let object: &ConfigMap = typed_ref(object);
    object.data.iter().flat_map(|data| data.values().cloned()).collect()
}

fn cache() -> Cache {
    let mut cache = Cache::default();
    cache.add_index("value", Arc::new(by_value));
    cache
}

#[test]
fn a_malformed_object_keeps_its_last_readable_version_and_is_reported() {
    let mut cache = cache();
    cache.apply(Update::Applied(object(1, 1, 1)));
    assert!(cache.apply(Update::Applied(malformed(1))).is_empty());
    let key = key(1);
    assert!(cache.get(&key).is_some());
    assert!(cache.malformed().contains_key(&key));
    for event in [Update::ListStarted, Update::Listed(malformed(1)), Update::ListEnded] {
        assert!(cache.apply(event).is_empty(), "a relist does not delete it either");
    }
    cache.apply(Update::Applied(object(1, 2, 10)));
    assert!(cache.malformed().is_empty());
}

#[test]
fn a_relist_reports_what_happened_meanwhile_and_nothing_else() {
    let mut cache = cache();
    for event in [
        Update::ListStarted,
        Update::Listed(object(1, 1, 1)),
        Update::Listed(object(2, 1, 2)),
        Update::Listed(object(3, 1, 3)),
    ] {
        assert!(cache.apply(event).is_empty());
        assert_eq!(cache.len(), 0, "nothing is visible before the end of the list");
    }
    assert!(cache.apply(Update::ListEnded).iter().all(|change| change.is_first_list));
    cache.apply(Update::ListStarted);
    cache.apply(Update::Listed(object(1, 1, 1)));
    cache.apply(Update::Listed(object(2, 5, 9)));
    let changes = cache.apply(Update::ListEnded);
    let seen: Vec<(&str, bool, bool)> = changes
        .iter()
        .map(|change| (change.key.name.as_str(), change.new.is_some(), change.is_first_list))
        .collect();
    assert_eq!(seen, [("object-3", false, false), ("object-2", true, false)]);
}

proptest! {
    #[test]
    fn objects_indices_and_changes_agree_with_a_plain_map(
        steps in proptest::collection::vec((0u8..6, 0u8..3, 0u8..8), 0..80)
    ) {
        let mut cache = cache();
        let mut model: BTreeMap<u8, u8> = BTreeMap::new();
        let mut replayed: BTreeMap<ObjectKey, AnyObject> = BTreeMap::new();
        for (version, (name, value, choice)) in (1u64..).zip(steps) {
            let events = match choice {
                0 => {
                    model.remove(&name);
                    vec![Update::Deleted(key(name))]
                }
                1 => {
                    // A watch that was away: everything changes under it, then it lists.
                    model.retain(|kept, _| kept % 2 == name % 2);
                    model.insert(name, value);
                    let list = model.iter().map(|(name, value)| {
                        Update::Listed(object(*name, *value, version * 100 + u64::from(*value)))
                    });
                    [Update::ListStarted].into_iter().chain(list).chain([Update::ListEnded]).collect()
                }
                _ => {
                    model.insert(name, value);
                    vec![Update::Applied(object(name, value, version))]
                }
            };
            for change in events.into_iter().flat_map(|event| cache.apply(event)) {
                prop_assert_eq!(replayed.contains_key(&change.key), change.old.is_some());
                match change.new {
                    Some(new) => replayed.insert(change.key, new),
                    None => replayed.remove(&change.key),
                };
            }
            let seen: BTreeMap<String, Vec<String>> =
                cache.all().map(|object| (object.meta().name.clone().unwrap(), by_value(object.as_ref()))).collect();
            let expected: BTreeMap<String, Vec<String>> =
                model.iter().map(|(name, value)| (format!("object-{name}"), vec![value.to_string()])).collect();
            prop_assert_eq!(&seen, &expected);
            prop_assert!(cache.all().zip(replayed.values()).all(|(left, right)| Arc::ptr_eq(left, right)));
            prop_assert_eq!(cache.len(), replayed.len());
            for value in 0..3u8 {
                let found = cache.keys_by_index("value", &value.to_string()).len();
                prop_assert_eq!(found, model.values().filter(|kept| **kept == value).count());
            }
            let namespaced = cache.in_namespace("namespace-0").count() + cache.in_namespace("namespace-1").count();
            prop_assert_eq!(namespaced, cache.len());
        }
    }
}
