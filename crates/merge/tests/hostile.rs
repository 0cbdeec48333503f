//! What clients may write into managedFields and intents: deep, huge, twisted. No panic, no stall.

use hyperplane_merge::{Author, ResetFields, Scope, Types, apply, update};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

use crate::world::{self, World};

fn entry(fields: &Value) -> Value {
    json!({"manager": "x", "operation": "Update", "apiVersion": world::VERSION, "fieldsType": "FieldsV1", "fieldsV1": fields})
}

fn nested(depth: usize, key: &str) -> Value {
    (0..depth).fold(json!({}), |inner, _| json!({ key: inner }))
}

#[test]
fn a_deep_document_is_unreadable_rather_than_deep() {
    let mut world = World::new();
    world.apply("alice", json!({"text": "a"})).unwrap();
    world.update("edit", |object| {
        object["metadata"]["managedFields"] = json!([entry(&nested(1_000, "f:a"))]);
    });
    assert_eq!(world.owners(), ["alice applies text"]);
    world.update("edit", |object| {
        object["metadata"]["managedFields"] = json!([entry(&nested(100, "f:a"))]);
    });
    assert_eq!(world.owners().len(), 1, "a depth that JSON parsers allow is readable");
}

#[test]
fn ten_thousand_managers_against_a_large_change_take_no_quadratic_time() {
    let managers: Vec<Value> = (0..10_000)
        .map(|number| {
            let mut entry = entry(&json!({"f:spec": {"f:labels": {format!("f:k{number}"): {}}}}));
            entry["manager"] = json!(format!("m{number}"));
            entry["operation"] = json!("Apply");
            entry
        })
        .collect();
    let labels: Map<String, Value> = (0..10_000).map(|number| (format!("k{number}"), json!("v"))).collect();
    let mut world = World::unowned(json!({"labels": {}}));
    world.update("edit", |object| {
        object["metadata"]["managedFields"] = json!(managers);
        object["spec"]["labels"] = Value::Object(labels);
    });
    assert_eq!(world.owners().len(), 1, "all keys changed hands");
}

#[test]
fn ten_thousand_managers_are_capped_and_pruned_around() {
    let managers = |operation: &str| -> Vec<Value> {
        let entry_of = |number: usize| {
            let mut entry = entry(&json!({"f:spec": {"f:labels": {format!("f:k{number}"): {}}}}));
            entry["manager"] = json!(format!("m{number}"));
            entry["operation"] = json!(operation);
            entry
        };
        (0..10_000).map(entry_of).collect()
    };
    let labels: Map<String, Value> = (0..10_000).map(|number| (format!("k{number}"), json!("v"))).collect();
    let mut world = World::unowned(json!({"labels": labels}));
    world.update("edit", |object| {
        object["metadata"]["managedFields"] = json!(managers("Update"));
    });
    assert_eq!(world.owners().len(), 10);
    world.update("edit", |object| {
        object["metadata"]["managedFields"] = json!(managers("Apply"));
    });
    assert_eq!(world.owners().len(), 10_000);
    world.force("m7", json!({"text": "a"}));
    assert_eq!(world.content()["labels"].as_object().map(Map::len), Some(9_999));
}

#[test]
fn claims_to_the_list_itself_are_harmless() {
    let mut world = World::new();
    world.apply("alice", json!({"text": "a"})).unwrap();
    world
        .apply(
            "bob",
            json!({"metadata": {"managedFields": null}, "spec": {"text": "a"}}),
        )
        .unwrap();
    assert_eq!(world.owners(), ["alice applies text", "bob applies text"]);
    world.update("edit", |object| {
        object["metadata"]["managedFields"][0]["fieldsV1"] =
            json!({"f:metadata": {"f:managedFields": {}}, "f:spec": {"f:text": {}}});
    });
    world.apply("alice", json!({"number": 1})).unwrap();
    assert_eq!(world.owners(), ["bob applies text", "alice applies number"]);
}

#[test]
fn a_list_of_many_items_in_reverse_is_merged() {
    let names: Vec<Value> = (0..20_000)
        .map(|number| json!({"name": format!("n{number:05}")}))
        .collect();
    let mut world = World::unowned(json!({"items": names}));
    let reversed: Vec<Value> = names.into_iter().rev().collect();
    world.force("alice", json!({"items": reversed}));
    assert_eq!(world.content()["items"], Value::Array(reversed));
}

#[test]
fn extreme_numbers_have_one_order() {
    let numbers = json!([
        9_007_199_254_740_993_i64,
        9_007_199_254_740_992_i64,
        0.25,
        u64::MAX,
        i64::MIN,
        1e300,
        -0.5,
        1e-300
    ]);
    let mut world = World::new();
    world.apply("alice", json!({"numbers": numbers})).unwrap();
    let before = world.live.clone();
    world.apply("alice", json!({"numbers": numbers})).unwrap();
    assert_eq!(world.live, before);
    world.update("edit", |object| object["spec"]["numbers"] = json!([1]));
    assert_eq!(world.owners(), ["edit updates numbers.1"]);
}

/// Keys of fieldsV1, good and bad.
fn key() -> impl Strategy<Value = String> {
    prop_oneof![
        Just("f:spec".to_owned()),
        Just("f:items".to_owned()),
        Just("f:free".to_owned()),
        Just(".".to_owned()),
        Just("k:{\"name\":\"x\"}".to_owned()),
        Just("k:{\"name\":{\"a\":[1]}}".to_owned()),
        Just("k:{}".to_owned()),
        Just("v:\"x\"".to_owned()),
        Just("v:1e400".to_owned()),
        Just("i:0".to_owned()),
        Just("i:99999999999999999999".to_owned()),
        "[fkviz]:.{0,6}",
        ".{0,4}",
    ]
}

fn document() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![4 => Just(json!({})), 1 => Just(json!(null)), 1 => Just(json!(1)), 1 => Just(json!([]))];
    leaf.prop_recursive(6, 40, 4, |inner| {
        proptest::collection::btree_map(key(), inner, 0..4)
            .prop_map(|fields| Value::Object(fields.into_iter().collect()))
    })
}

fn anything() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(|number| json!(number)),
        ".{0,3}".prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 40, 4, |inner| {
        let name = prop_oneof![
            Just("spec".to_owned()),
            Just("items".to_owned()),
            Just("tags".to_owned()),
            Just("name".to_owned()),
            Just("pair".to_owned()),
            Just("metadata".to_owned()),
            Just("managedFields".to_owned()),
            Just("free".to_owned()),
            Just("text".to_owned()),
            ".{0,2}",
        ];
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            proptest::collection::btree_map(name, inner, 0..4)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn any_managed_fields_can_be_lived_with(documents in proptest::collection::vec(document(), 0..4), spec in anything()) {
        let mut world = World::new();
        world.apply("alice", json!({"text": "a", "items": [{"name": "x"}]})).unwrap();
        let entries: Vec<Value> = documents.iter().map(entry).collect();
        world.update("edit", |object| object["metadata"]["managedFields"] = json!(entries));
        world.update("edit", |object| object["spec"] = spec);
        drop(world.apply("bob", json!({"text": "b", "items": []})));
        world.update("edit", |object| object["spec"] = json!({"text": "c"}));
        prop_assert_eq!(world.content(), json!({"text": "c"}));
    }

    #[test]
    fn any_pair_of_values_can_be_written(live in anything(), new in anything(), whole in any::<bool>()) {
        let types = if whole { Types::structural(&world::schema()) } else { Types::deduced() };
        let lookup = |_: &str| Some(&types);
        let reset = ResetFields::none();
        let scope = Scope { types: &lookup, reset: &reset };
        let author = Author { manager: "m", api_version: "v1", subresource: "", time: jiff::Timestamp::UNIX_EPOCH };
        let mut intent = new.clone();
        if intent.is_object() {
            intent["apiVersion"] = json!("v1");
        }
        let written = update(Some(&live), new.clone(), &author, &scope);
        prop_assert_eq!(written.get("spec"), new.get("spec"), "an update decides about ownership, never about the object");
        drop(update(None, new, &author, &scope));
        drop(apply(Some(&live), &intent, &author, &scope, true));
        drop(apply(None, &intent, &author, &scope, false));
    }
}
