use std::collections::BTreeMap;

use proptest::prelude::*;
use serde_json::json;

use super::*;

/// A kind with one list of each sort.
fn types() -> Types {
    let definitions = json!({
        "Thing": {"type": "object", "properties": {
            "items": {
                "type": "array", "items": {"$ref": "#/components/schemas/Item"},
                "x-kubernetes-patch-strategy": "merge,retainKeys", "x-kubernetes-patch-merge-key": "name",
            },
            "names": {"type": "array", "items": {"type": "string"}, "x-kubernetes-patch-strategy": "merge"},
            "plain": {"type": "array", "items": {"type": "string"}},
            "whole": {"type": "object", "x-kubernetes-patch-strategy": "replace"},
            "labels": {"type": "object", "additionalProperties": {"type": "string"}},
        }},
        "Item": {"type": "object", "properties": {
            "name": {"type": "string"},
            "value": {"type": "string"},
            "ports": {
                "type": "array", "items": {"type": "object"},
                "x-kubernetes-patch-strategy": "merge", "x-kubernetes-patch-merge-key": "port",
            },
        }},
    });
    let definitions: BTreeMap<String, Value> = serde_json::from_value(definitions).unwrap();
    Types::openapi("Thing", &definitions)
}

fn merge(original: &Value, patch: Value) -> Result<Value, StrategicError> {
    let Value::Object(patch) = patch else {
        panic!("a patch is a map")
    };
    strategic_merge(original, patch, &types()).map(Value::Object)
}

#[expect(
    clippy::needless_pass_by_value,
    reason = "tables of literals read better without a mark at each"
)]
fn check(original: Value, patch: Value, expected: Value) {
    assert_eq!(merge(&original, patch.clone()), Ok(expected), "{patch}");
}

#[expect(
    clippy::needless_pass_by_value,
    reason = "tables of literals read better without a mark at each"
)]
fn check_refused(original: Value, patch: Value, expected: &str) {
    let error = merge(&original, patch.clone()).unwrap_err();
    assert_eq!(error.to_string(), expected, "{patch}");
}

#[test]
fn maps_are_merged_and_lists_replaced() {
    check(
        json!({"labels": {"a": "1", "b": "2"}, "plain": ["x"]}),
        json!({"labels": {"b": null, "c": "3"}, "plain": ["y"]}),
        json!({"labels": {"a": "1", "c": "3"}, "plain": ["y"]}),
    );
    check(
        json!({"whole": {"a": 1}}),
        json!({"whole": {"b": 2}}),
        json!({"whole": {"b": 2}}),
    );
    check(
        json!({}),
        json!({"labels": {"a": null, "b": "2"}}),
        json!({"labels": {"b": "2"}}),
    );
    check(
        json!({"labels": {"a": "1"}}),
        json!({"labels": "none"}),
        json!({"labels": "none"}),
    );
}

#[test]
fn items_are_merged_by_key_and_new_ones_come_first() {
    let original = json!({"items": [{"name": "a", "value": "1"}, {"name": "b", "value": "2"}]});
    check(
        original.clone(),
        json!({"items": [{"name": "b", "value": "3"}]}),
        json!({"items": [{"name": "a", "value": "1"}, {"name": "b", "value": "3"}]}),
    );
    check(
        original.clone(),
        json!({"items": [{"name": "c"}]}),
        json!({"items": [{"name": "c"}, {"name": "a", "value": "1"}, {"name": "b", "value": "2"}]}),
    );
    check(
        original,
        json!({"items": [{"name": "b", "ports": [{"port": 1}]}, {"name": "a", "value": null}]}),
        json!({"items": [{"name": "b", "value": "2", "ports": [{"port": 1}]}, {"name": "a"}]}),
    );
}

#[test]
fn directives_delete_and_replace() {
    let original = json!({"items": [{"name": "a", "value": "1"}, {"name": "b"}], "labels": {"a": "1"}});
    check(
        original.clone(),
        json!({"items": [{"name": "a", "$patch": "delete"}], "labels": {"$patch": "delete"}}),
        json!({"items": [{"name": "b"}], "labels": {}}),
    );
    check(
        original.clone(),
        json!({"items": [{"$patch": "replace"}, {"name": "c"}], "labels": {"$patch": "replace", "b": "2"}}),
        json!({"items": [{"name": "c"}], "labels": {"b": "2"}}),
    );
    check(
        json!({}),
        json!({"items": [{"name": "a", "$patch": "delete"}, {"name": "b"}]}),
        json!({"items": [{"name": "b"}]}),
    );
    check_refused(
        original,
        json!({"labels": {"$patch": "burn"}}),
        "unknown patch type: burn in map: map[$patch:burn]",
    );
}

#[test]
fn scalars_are_added_and_deleted() {
    check(
        json!({"names": ["a", "b"]}),
        json!({"names": ["c", "a"]}),
        json!({"names": ["c", "a", "b"]}),
    );
    check(
        json!({"names": ["a", "b", "c"]}),
        json!({"$deleteFromPrimitiveList/names": ["b"]}),
        json!({"names": ["a", "c"]}),
    );
    check(
        json!({"names": ["a", "b"]}),
        json!({"$deleteFromPrimitiveList/names": ["a"], "$setElementOrder/names": ["c", "b"], "names": ["c"]}),
        json!({"names": ["c", "b"]}),
    );
}

#[test]
fn the_order_of_items_is_the_one_that_is_said() {
    let original = json!({"items": [{"name": "a"}, {"name": "live"}, {"name": "b"}]});
    check(
        original.clone(),
        json!({"$setElementOrder/items": [{"name": "b"}, {"name": "a"}], "items": [{"name": "a", "value": "1"}]}),
        json!({"items": [{"name": "live"}, {"name": "b"}, {"name": "a", "value": "1"}]}),
    );
    check(
        original.clone(),
        json!({"$setElementOrder/items": [{"name": "b"}, {"name": "a"}]}),
        json!({"items": [{"name": "live"}, {"name": "b"}, {"name": "a"}]}),
    );
    check(
        original.clone(),
        json!({"$setElementOrder/items": [{"name": "a"}, {"name": "c"}, {"name": "b"}], "items": [{"name": "c"}]}),
        json!({"items": [{"name": "a"}, {"name": "c"}, {"name": "live"}, {"name": "b"}]}),
    );
    let error = merge(
        &original,
        json!({"$setElementOrder/items": [{"name": "a"}], "items": [{"name": "c"}]}),
    );
    assert!(
        error
            .unwrap_err()
            .to_string()
            .starts_with("The order in patch list:\n[map[name:c]]\n")
    );
}

#[test]
fn retained_keys_are_the_only_ones() {
    let original = json!({"labels": {"a": "1", "b": "2"}});
    check(
        original.clone(),
        json!({"labels": {"$retainKeys": ["b", "c"], "c": "3"}}),
        json!({"labels": {"b": "2", "c": "3"}}),
    );
    check_refused(
        original,
        json!({"labels": {"$retainKeys": ["b"], "c": "3"}}),
        "invalid patch format of retainKeys",
    );
}

#[test]
fn what_does_not_fit_is_refused() {
    let original = json!({"items": [{"name": "a"}], "names": ["a"]});
    check_refused(
        original.clone(),
        json!({"items": [{"value": "1"}]}),
        "map: map[value:1] does not contain declared merge key: name",
    );
    check_refused(
        original.clone(),
        json!({"names": [1]}),
        "list element types are not identical: [[a] [1]]",
    );
    check_refused(
        original,
        json!({"$setElementOrderitems": []}),
        "invalid patch format of setElementOrder list",
    );
    check_refused(
        json!({"names": [["a"]]}),
        json!({"names": [["b"]]}),
        "lists of lists are not supported",
    );
}

/// Objects and patches out of few words, so that they meet.
fn word() -> impl Strategy<Value = String> {
    let words = [
        "items",
        "names",
        "labels",
        "name",
        "$patch",
        "$retainKeys",
        "$setElementOrder/items",
    ];
    let more = [
        "$deleteFromPrimitiveList/names",
        "$setElementOrder/names",
        "a",
        "b",
        "delete",
        "replace",
    ];
    prop::sample::select([&words[..], &more[..]].concat()).prop_map(ToOwned::to_owned)
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        word().prop_map(Value::from)
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map(word(), inner, 0..4).prop_map(|map| map.into_iter().collect()),
        ]
    })
}

proptest! {
    #[test]
    fn patches_of_any_sort_are_applied_or_refused(original in value(), patch in value()) {
        if let Value::Object(patch) = patch {
            drop(strategic_merge(&original, patch, &types()));
        }
    }

    #[test]
    fn a_patch_without_directives_applied_twice_changes_nothing_more(
        original in prop::collection::btree_map("[a-c]", "[x-z]", 0..3),
        labels in prop::collection::btree_map("[a-c]", "[x-z]", 0..3),
        names in prop::collection::vec("[a-c]", 1..4),
        items in prop::collection::btree_map("[a-c]", "[x-z]", 1..3),
    ) {
        let items: Vec<Value> = items.iter().map(|(name, value)| json!({"name": name, "value": value})).collect();
        let patch = json!({"labels": labels, "names": names, "items": items});
        let start = json!({"labels": original, "names": ["live"], "items": [{"name": "live"}]});
        let once = merge(&start, patch.clone()).unwrap();
        prop_assert_eq!(merge(&once, patch).unwrap(), once);
    }
}
