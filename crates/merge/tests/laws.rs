//! Laws of server-side apply, tried on intents and histories that nobody thought of.

use hyperplane_merge::extract;
use proptest::prelude::*;
use serde_json::{Map, Value, json};

use crate::world::{self, World, full};

fn text() -> impl Strategy<Value = String> {
    prop_oneof![Just("a".to_owned()), Just("b".to_owned()), Just("<c>".to_owned())]
}

fn pair() -> impl Strategy<Value = Value> {
    (proptest::option::of(text()), proptest::option::of(text()))
        .prop_map(|(a, b)| compact([("a", a.into()), ("b", b.into())]))
}

/// A map of the fields that are not null.
fn compact<const N: usize>(fields: [(&str, Value); N]) -> Value {
    fields
        .into_iter()
        .filter(|(_, value)| !value.is_null())
        .map(|(name, value)| (name.to_owned(), value))
        .collect()
}

fn set() -> impl Strategy<Value = Value> {
    proptest::sample::subsequence(vec!["x", "y", "z", "w"], 0..4)
        .prop_shuffle()
        .prop_map(|tags| json!(tags))
}

fn items() -> impl Strategy<Value = Value> {
    let item = (
        proptest::option::of(text()),
        proptest::option::of(pair()),
        proptest::option::of(set()),
    );
    (
        proptest::sample::subsequence(vec!["p", "q", "r"], 0..3).prop_shuffle(),
        proptest::collection::vec(item, 3),
    )
        .prop_map(|(names, details)| {
            let items = names.into_iter().zip(details).map(|(name, (value, pair, tags))| {
                compact([
                    ("name", json!(name)),
                    ("value", value.into()),
                    ("pair", pair.into()),
                    ("tags", tags.into()),
                ])
            });
            items.collect()
        })
}

fn labels() -> impl Strategy<Value = Value> {
    proptest::collection::btree_map(prop_oneof![Just("k"), Just("l"), Just("m")], text(), 0..3)
        .prop_map(|labels| json!(labels))
}

/// Any value that unknown fields may have, nulls left out: null is where intents and objects part.
fn anything() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        text().prop_map(Value::from),
        any::<bool>().prop_map(Value::from),
        (0..3_i64).prop_map(Value::from)
    ];
    leaf.prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
            proptest::collection::btree_map(prop_oneof![Just("k".to_owned()), Just("l".to_owned())], inner, 0..3)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

/// The spec of an intent, in any of the fields of the schema.
fn intent() -> impl Strategy<Value = Value> {
    let scalars = (
        proptest::option::of(text()),
        proptest::option::of(0..3_i64),
        proptest::option::of(any::<bool>()),
    );
    let maps = (
        proptest::option::of(pair()),
        proptest::option::of(labels()),
        proptest::option::of(labels().prop_map(|labels| json!({"k": labels}))),
    );
    let lists = (
        proptest::option::of(set()),
        proptest::option::of(set()),
        proptest::option::of(items()),
    );
    (scalars, maps, lists).prop_map(|((text, number, flag), (pair, labels, free), (lines, tags, items))| {
        compact([
            ("text", text.into()),
            ("number", number.into()),
            ("flag", flag.into()),
            ("pair", pair.into()),
            ("labels", labels.into()),
            ("free", free.into()),
            ("lines", lines.into()),
            ("tags", tags.into()),
            ("items", items.into()),
        ])
    })
}

/// Some writes of several managers.
fn history() -> impl Strategy<Value = Vec<(usize, bool, Value)>> {
    proptest::collection::vec((0..3_usize, any::<bool>(), intent()), 0..5)
}

fn played(history: &[(usize, bool, Value)]) -> World {
    let mut world = World::new();
    world.update("creator", |_| {});
    for (manager, is_applied, spec) in history {
        let manager = ["alice", "bob", "carol"][*manager];
        if *is_applied {
            world.force(manager, spec.clone());
        } else {
            world.update(manager, |object| object["spec"] = spec.clone());
        }
    }
    world
}

proptest! {
    #[test]
    fn applying_twice_is_applying_once(history in history(), spec in intent()) {
        let mut world = played(&history);
        world.force("dave", spec.clone());
        let once = world.live.clone();
        prop_assert!(world.apply("dave", spec).is_ok());
        prop_assert_eq!(&world.live, &once);
    }

    #[test]
    fn what_was_applied_can_be_read_back_and_changes_nothing(history in history(), spec in intent()) {
        let mut world = played(&history);
        world.force("dave", spec);
        let before = world.live.clone().unwrap();
        let Some(extracted) = extract(&before, "dave", "", &world.types[world::VERSION]) else {
            return Ok(());
        };
        prop_assert!(world.apply("dave", extracted).is_ok());
        prop_assert_eq!(world.live.unwrap(), before);
    }

    #[test]
    fn on_a_new_object_reading_back_gives_the_intent(spec in intent()) {
        let mut world = World::new();
        world.force("dave", spec.clone());
        let extracted = extract(world.live.as_ref().unwrap(), "dave", "", &world.types[world::VERSION]);
        if let Some(mut extracted) = extracted {
            let mut expected = full(spec);
            drop_empty_lists(&mut extracted);
            drop_empty_lists(&mut expected);
            prop_assert_eq!(extracted, expected);
        }
    }

    #[test]
    fn appliers_of_different_fields_commute(left in intent(), right in intent()) {
        let right = disjoint(&right, &left);
        let contents = [[("alice", &left), ("bob", &right)], [("bob", &right), ("alice", &left)]].map(|steps| {
            let mut world = World::new();
            for (manager, spec) in steps {
                let labelled = json!({"metadata": {"labels": {manager: "was here"}}, "spec": spec});
                world.apply(manager, labelled).unwrap();
            }
            let mut owners = world.owners();
            owners.sort();
            (world.content(), owners)
        });
        prop_assert_eq!(&contents[0], &contents[1]);
    }

    #[test]
    fn what_is_forced_and_dropped_is_gone(history in history(), spec in intent()) {
        let mut world = played(&history);
        world.force("dave", spec.clone());
        let before = world.owners();
        world.force("dave", json!({"metadata": {}}));
        prop_assert!(!world.owners().iter().any(|line| line.starts_with("dave applies")), "{:?}", world.owners());
        let shared = |path: &str| before.iter().any(|line| !line.starts_with("dave ") && line.split(' ').any(|owned| owned == path));
        let spec_after = world.live.unwrap()["spec"].clone();
        for name in ["text", "number", "flag", "lines"] {
            if spec.get(name).is_some() && !shared(name) {
                prop_assert!(spec_after.get(name).is_none(), "{name} is left in {spec_after}");
            }
        }
    }

    #[test]
    fn an_apply_never_touches_what_others_own(history in history(), spec in intent()) {
        let mut world = played(&history);
        let before = world.live.clone().unwrap();
        if world.apply("dave", spec).is_ok() {
            for manager in ["alice", "bob", "carol"] {
                let types = &world.types[world::VERSION];
                let after = extract(world.live.as_ref().unwrap(), manager, "", types);
                prop_assert_eq!(extract(&before, manager, "", types).map(sorted), after.map(sorted));
            }
        }
    }

    #[test]
    fn a_write_that_changes_nothing_writes_nothing(history in history()) {
        let mut world = played(&history);
        let before = world.live.clone();
        world.update("dave", |_| {});
        prop_assert_eq!(world.live, before);
    }

    #[test]
    fn every_changed_field_has_its_writer_as_owner(history in history(), value in anything()) {
        let mut world = played(&history);
        // An object that lost its last owner is not tracked again before it is applied.
        let is_tracked = !world.owners().is_empty();
        world.update("dave", |object| object["spec"]["free"] = json!({"new": value}));
        let is_owned = world.owners().iter().any(|line| line.starts_with("dave updates ") && line.contains("free.new"));
        prop_assert_eq!(is_owned, is_tracked);
    }
}

fn drop_empty_lists(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            fields.values_mut().for_each(drop_empty_lists);
            // An empty set or keyed list holds nothing that could be owned, and neither does a struct of such lists.
            fields.retain(|name, value| name == "lines" || *value != json!([]));
            let is_struct = |name: &str| name == "spec";
            fields.retain(|name, value| !(is_struct(name) && *value == json!({})));
        }
        Value::Array(items) => items.iter_mut().for_each(drop_empty_lists),
        _ => {}
    }
}

/// The fields of the first spec that the second does not have; `free` and `labels` would collide inside.
fn disjoint(spec: &Value, other: &Value) -> Value {
    let other = other.as_object().expect("a spec is a map");
    let fields: Map<String, Value> = spec.as_object().expect("a spec is a map").clone();
    fields
        .into_iter()
        .filter(|(name, _)| !other.contains_key(name))
        .collect()
}

/// Lists without their order, which an apply by others may change, and no empty containers: one that lost all it had may
/// be null or not be there.
fn sorted(mut value: Value) -> Value {
    match &mut value {
        Value::Object(fields) => {
            for field in fields.values_mut() {
                *field = sorted(field.take());
            }
            fields.retain(|_, field| !field.is_null() && *field != json!({}) && *field != json!([]));
        }
        Value::Array(items) => {
            for item in items.iter_mut() {
                *item = sorted(item.take());
            }
            items.sort_by_key(Value::to_string);
        }
        _ => {}
    }
    value
}
