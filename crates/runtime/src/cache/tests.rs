//! The cache against a plain map, through random histories with relists.

use k8s_openapi::api::core::v1::ConfigMap;
use proptest::prelude::*;

use super::*;

fn object(name: u8, value: u8, version: u64) -> ConfigMap {
    serde_json::from_value(serde_json::json!({
        "metadata": {
            "namespace": format!("namespace-{}", name % 2), "name": format!("object-{name}"),
            "uid": format!("uid-{name}"), "resourceVersion": version.to_string(),
        },
        "data": {"value": value.to_string()},
    }))
    .unwrap()
}

fn good(object: ConfigMap) -> Parsed<ConfigMap> {
    Parsed::Good(Box::new(object))
}

fn malformed(name: u8) -> Parsed<ConfigMap> {
    let value = serde_json::json!({
        "metadata": object(name, 0, 9).metadata, "data": "not a map"
    });
    serde_json::from_value(value).unwrap()
}

fn by_value(object: &ConfigMap) -> Vec<String> {
    object.data.iter().flat_map(|data| data.values().cloned()).collect()
}

fn cache() -> Cache<ConfigMap> {
    let mut cache = Cache::new("ours");
    cache.add_index("value", Arc::new(by_value));
    cache
}

#[test]
fn a_malformed_object_keeps_its_last_readable_version_and_is_reported() {
    let mut cache = cache();
    cache.apply(Event::Apply(good(object(1, 1, 1))));
    assert!(cache.apply(Event::Apply(malformed(1))).is_empty());
    let key = ObjectKey::namespaced("namespace-1", "object-1");
    assert!(cache.get(&key).is_some());
    assert!(cache.malformed().contains_key(&key));
    for event in [Event::Init, Event::InitApply(malformed(1)), Event::InitDone] {
        assert!(cache.apply(event).is_empty(), "a relist does not delete it either");
    }
    cache.apply(Event::Apply(good(object(1, 2, 10))));
    assert!(cache.malformed().is_empty());
}

#[test]
fn a_relist_reports_what_happened_meanwhile_and_nothing_else() {
    let mut cache = cache();
    for event in [
        Event::Init,
        Event::InitApply(good(object(1, 1, 1))),
        Event::InitApply(good(object(2, 1, 2))),
        Event::InitApply(good(object(3, 1, 3))),
    ] {
        assert!(cache.apply(event).is_empty());
        assert_eq!(cache.len(), 0, "nothing is visible before the end of the list");
    }
    assert!(cache.apply(Event::InitDone).iter().all(|change| change.is_first_list));
    cache.apply(Event::Init);
    cache.apply(Event::InitApply(good(object(1, 1, 1))));
    cache.apply(Event::InitApply(good(object(2, 5, 9))));
    let changes = cache.apply(Event::InitDone);
    let seen: Vec<(&str, bool, bool)> = changes
        .iter()
        .map(|change| (change.key.name.as_str(), change.new.is_some(), change.is_first_list))
        .collect();
    assert_eq!(seen, [("object-3", false, false), ("object-2", true, false)]);
}

#[test]
fn pruning_keeps_our_ownership_and_drops_the_rest() {
    let mut cache = cache();
    let mut object = object(1, 1, 1);
    object.metadata.managed_fields = Some(
        serde_json::from_value(serde_json::json!([
            {"manager": "ours/a", "operation": "Apply"}, {"manager": "kubectl", "operation": "Update"}
        ]))
        .unwrap(),
    );
    object.metadata.annotations = Some([(LAST_APPLIED.to_owned(), "{}".to_owned())].into());
    let key = ObjectKey::of(&object);
    cache.apply(Event::Apply(good(object)));
    let kept = cache.get(&key).unwrap();
    let managers = kept.metadata.managed_fields.as_ref().unwrap();
    assert_eq!(managers.len(), 1);
    assert_eq!(managers[0].manager.as_deref(), Some("ours/a"));
    assert_eq!(kept.metadata.annotations, Some(BTreeMap::new()));
}

proptest! {
    #[test]
    fn objects_indices_and_changes_agree_with_a_plain_map(
        steps in proptest::collection::vec((0u8..6, 0u8..3, 0u8..8), 0..80)
    ) {
        let mut cache = cache();
        let mut model: BTreeMap<u8, u8> = BTreeMap::new();
        let mut replayed: BTreeMap<ObjectKey, Arc<ConfigMap>> = BTreeMap::new();
        for (version, (name, value, choice)) in (1u64..).zip(steps) {
            let events = match choice {
                0 => {
                    model.remove(&name);
                    vec![Event::Delete(good(object(name, value, version)))]
                }
                1 => {
                    // A watch that was away: everything changes under it, then it lists.
                    model.retain(|kept, _| kept % 2 == name % 2);
                    model.insert(name, value);
                    let list = model.iter().map(|(name, value)| {
                        Event::InitApply(good(object(*name, *value, version * 100 + u64::from(*value))))
                    });
                    [Event::Init].into_iter().chain(list).chain([Event::InitDone]).collect()
                }
                _ => {
                    model.insert(name, value);
                    vec![Event::Apply(good(object(name, value, version)))]
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
                cache.all().map(|object| (object.metadata.name.clone().unwrap(), by_value(object))).collect();
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
