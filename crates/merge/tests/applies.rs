//! Server-side apply, scenario by scenario: what several appliers make of one object, and who owns it then.

use hyperplane_merge::ApplyError;
use serde_json::{Value, json};

use crate::world::{World, time};

/// Applies intents one after the other, each without conflict.
fn applied(steps: &[(&str, Value)]) -> World {
    let mut world = World::new();
    for (manager, intent) in steps {
        world.apply(manager, intent.clone()).expect("no conflict");
    }
    world
}

fn check(steps: &[(&str, Value)], content: &Value, owners: &[&str]) {
    let world = applied(steps);
    assert_eq!(world.content(), *content);
    assert_eq!(world.owners(), owners);
}

#[test]
fn the_first_applier_owns_what_it_applied() {
    let intent = json!({"text": "a", "pair": {"a": "1"}, "color": {"red": 1}, "lines": ["x"], "tags": ["t"], "labels": {"k": "v"}});
    check(
        &[("alice", intent.clone())],
        &intent,
        &["alice applies color labels.k lines pair.a tags.t text"],
    );
}

#[test]
fn the_same_value_is_shared_and_another_one_is_a_conflict() {
    let mut world = applied(&[
        ("alice", json!({"text": "a", "number": 1})),
        ("bob", json!({"text": "a"})),
    ]);
    assert_eq!(world.owners(), ["bob applies text", "alice applies number text"]);
    assert_eq!(
        world.conflicts("bob", json!({"text": "b"})),
        [r#"conflict with "alice": .spec.text"#]
    );
    assert_eq!(world.content(), json!({"text": "a", "number": 1}));
}

#[test]
fn force_takes_the_field_from_all_others() {
    let mut world = applied(&[
        ("alice", json!({"text": "a", "number": 1})),
        ("bob", json!({"text": "a"})),
    ]);
    world.force("carol", json!({"text": "c"}));
    assert_eq!(world.content(), json!({"text": "c", "number": 1}));
    assert_eq!(world.owners(), ["alice applies number", "carol applies text"]);
}

#[test]
fn what_is_dropped_disappears_when_nobody_else_owns_it() {
    check(
        &[
            ("alice", json!({"text": "a", "number": 1, "pair": {"a": "1", "b": "2"}})),
            ("bob", json!({"number": 1})),
            ("alice", json!({"pair": {"b": "2"}})),
        ],
        &json!({"number": 1, "pair": {"b": "2"}}),
        &["bob applies number", "alice applies pair.b"],
    );
}

#[test]
fn a_struct_goes_with_its_last_field() {
    check(
        &[
            ("alice", json!({"pair": {"a": "1"}, "text": "a"})),
            ("alice", json!({"text": "a"})),
        ],
        &json!({"text": "a"}),
        &["alice applies text"],
    );
}

#[test]
fn an_applier_that_drops_everything_is_forgotten() {
    check(
        &[
            ("alice", json!({"text": "a"})),
            ("bob", json!({"number": 1})),
            ("alice", json!({"metadata": {}})),
        ],
        &json!({"number": 1}),
        &["bob applies number"],
    );
}

#[test]
fn sets_are_owned_item_by_item() {
    check(
        &[
            ("alice", json!({"tags": ["a", "b"]})),
            ("bob", json!({"tags": ["b", "c"]})),
            ("alice", json!({"tags": ["a"]})),
        ],
        &json!({"tags": ["a", "b", "c"]}),
        &["alice applies tags.a", "bob applies tags.b tags.c"],
    );
    check(
        &[
            ("alice", json!({"tags": ["a", "b"]})),
            ("bob", json!({"tags": ["c"]})),
            ("alice", json!({"tags": ["a"]})),
        ],
        &json!({"tags": ["a", "c"]}),
        &["bob applies tags.c", "alice applies tags.a"],
    );
}

#[test]
fn numbers_of_sets_are_the_same_by_value() {
    check(
        &[
            ("alice", json!({"numbers": [1, 2.5]})),
            ("bob", json!({"numbers": [1.0]})),
        ],
        &json!({"numbers": [1, 2.5]}),
        &["bob applies numbers.1", "alice applies numbers.1 numbers.2.5"],
    );
}

#[test]
fn keyed_items_are_owned_field_by_field() {
    check(
        &[
            ("alice", json!({"items": [{"name": "x", "value": "1"}, {"name": "y"}]})),
            ("bob", json!({"items": [{"name": "x", "pair": {"a": "2"}}]})),
        ],
        &json!({"items": [{"name": "x", "value": "1", "pair": {"a": "2"}}, {"name": "y"}]}),
        &[
            "alice applies items.{name:x} items.{name:x}.name items.{name:x}.value items.{name:y} items.{name:y}.name",
            "bob applies items.{name:x} items.{name:x}.name items.{name:x}.pair.a",
        ],
    );
}

#[test]
fn an_item_stays_while_another_one_owns_a_part_of_it() {
    check(
        &[
            ("alice", json!({"items": [{"name": "x", "value": "1"}, {"name": "y"}]})),
            ("bob", json!({"items": [{"name": "x", "pair": {"a": "2"}}]})),
            ("alice", json!({"items": [{"name": "y"}]})),
        ],
        &json!({"items": [{"name": "x", "pair": {"a": "2"}}, {"name": "y"}]}),
        &[
            "bob applies items.{name:x} items.{name:x}.name items.{name:x}.pair.a",
            "alice applies items.{name:y} items.{name:y}.name",
        ],
    );
}

#[test]
fn what_nobody_owns_in_a_dropped_item_keeps_nothing_alive() {
    let mut world = applied(&[("alice", json!({"items": [{"name": "x"}, {"name": "y"}]}))]);
    world.update("bob", |object| object["spec"]["items"][0]["value"] = json!("1"));
    world.update("bob", |object| {
        object["metadata"]["managedFields"] = json!([object["metadata"]["managedFields"][0]]);
    });
    assert_eq!(
        world.owners(),
        ["alice applies items.{name:x} items.{name:x}.name items.{name:y} items.{name:y}.name"]
    );
    world.apply("alice", json!({"items": [{"name": "y"}]})).unwrap();
    assert_eq!(world.content(), json!({"items": [{"name": "y"}]}));
}

#[test]
fn missing_key_fields_take_their_defaults() {
    let mut world = applied(&[("alice", json!({"ports": [{"port": 80, "name": "web"}]}))]);
    assert_eq!(
        world.conflicts(
            "bob",
            json!({"ports": [{"port": 80, "protocol": "TCP", "name": "other"}]})
        ),
        [r#"conflict with "alice": .spec.ports[port=80,protocol="TCP"].name"#]
    );
    world
        .apply(
            "bob",
            json!({"ports": [{"port": 80, "protocol": "UDP", "name": "other"}]}),
        )
        .unwrap();
    assert_eq!(
        world.content(),
        json!({"ports": [{"port": 80, "name": "web"}, {"port": 80, "protocol": "UDP", "name": "other"}]})
    );
}

#[test]
fn lists_take_the_applied_order_and_leave_the_others_between() {
    let order = |live: &[&str], applied: &[&str]| {
        let mut world = World::unowned(json!({"tags": live}));
        world.apply("alice", json!({"tags": applied})).unwrap();
        world.content()["tags"].clone()
    };
    assert_eq!(order(&["a", "b", "c"], &["c", "a"]), json!(["b", "c", "a"]));
    assert_eq!(order(&["a", "b", "c"], &["b", "d"]), json!(["a", "b", "c", "d"]));
    assert_eq!(order(&["a", "b"], &["x", "a"]), json!(["x", "a", "b"]));
    assert_eq!(
        order(&["a", "b", "c", "d"], &["d", "c", "b", "a"]),
        json!(["d", "c", "b", "a"])
    );
    assert_eq!(
        order(&["x", "a", "y", "b", "z"], &["b", "n", "a"]),
        json!(["x", "y", "b", "z", "n", "a"])
    );
    assert_eq!(order(&["a"], &["a"]), json!(["a"]));
}

#[test]
fn atomic_values_are_owned_as_a_whole() {
    let mut world = applied(&[("alice", json!({"color": {"red": 1}, "lines": ["a"]}))]);
    assert_eq!(
        world.conflicts("bob", json!({"color": {"blue": 1}, "lines": ["a", "b"]})),
        [
            r#"conflict with "alice": .spec.color"#,
            r#"conflict with "alice": .spec.lines"#
        ]
    );
    world.force("bob", json!({"color": {"blue": 1}}));
    assert_eq!(world.content(), json!({"color": {"blue": 1}, "lines": ["a"]}));
    assert_eq!(world.owners(), ["alice applies lines", "bob applies color"]);
}

#[test]
fn unknown_fields_are_merged_by_field_and_their_lists_are_atomic() {
    let mut world = applied(&[
        ("alice", json!({"free": {"a": {"b": 1}, "l": [1, 2]}})),
        ("bob", json!({"free": {"a": {"c": 1}}})),
    ]);
    assert_eq!(world.content(), json!({"free": {"a": {"b": 1, "c": 1}, "l": [1, 2]}}));
    assert_eq!(
        world.conflicts("bob", json!({"free": {"l": [1]}})),
        [r#"conflict with "alice": .spec.free.l"#]
    );
    world.force("bob", json!({"free": {"a": "text"}}));
    assert_eq!(world.content(), json!({"free": {"a": "text", "l": [1, 2]}}));
    assert_eq!(world.owners(), ["alice applies free.l", "bob applies free.a"]);
}

#[test]
fn embedded_objects_have_metadata_with_its_types() {
    let embedded = |labels: Value| json!({"embedded": {"apiVersion": "v1", "kind": "X", "metadata": {"labels": labels, "finalizers": ["a"]}}});
    let mut world = applied(&[
        ("alice", embedded(json!({"a": "1"}))),
        ("bob", embedded(json!({"b": "2"}))),
    ]);
    assert_eq!(
        world.content()["embedded"]["metadata"]["labels"],
        json!({"a": "1", "b": "2"})
    );
    assert!(
        world.owners()[1].contains("embedded.metadata.finalizers.a"),
        "{:?}",
        world.owners()
    );
    let conflicts = world.conflicts("bob", json!({"embedded": {"kind": "Y"}}));
    assert_eq!(conflicts, [r#"conflict with "alice": .spec.embedded.kind"#]);
}

#[test]
fn null_is_a_value_for_leaves_and_changes_no_container() {
    let mut world = applied(&[("alice", json!({"text": "a", "labels": {"k": "v"}}))]);
    world.force("bob", json!({"text": null, "labels": null}));
    assert_eq!(world.content(), json!({"text": null, "labels": {"k": "v"}}));
    assert_eq!(world.owners(), ["alice applies labels.k", "bob applies labels text"]);
}

#[test]
fn an_empty_map_is_owned_and_empties_nothing() {
    check(
        &[("alice", json!({"labels": {"k": "v"}})), ("bob", json!({"labels": {}}))],
        &json!({"labels": {"k": "v"}}),
        &["bob applies labels", "alice applies labels.k"],
    );
}

#[test]
fn a_struct_that_was_applied_empty_loses_content_that_nobody_owns() {
    let reapplied = |content: Value| {
        let mut world = applied(&[("alice", json!({"spec": {}, "metadata": {"labels": {"a": "b"}}}))]);
        let entries = world.live.as_ref().expect("something was applied")["metadata"]["managedFields"].clone();
        world.update("edit", |object| object["spec"] = content);
        world.update("edit", |object| object["metadata"]["managedFields"] = entries);
        world.force("alice", json!({"spec": {}, "metadata": {"labels": {"a": "b"}}}));
        world.content()["spec"].clone()
    };
    assert_eq!(reapplied(json!({"text": "a"})), json!({"text": "a"}));
    assert_eq!(
        reapplied(json!({"text": "a", "tags": []})),
        json!(null),
        "an empty set, which no path leads to, hides the struct from upstream too"
    );
}

#[test]
fn a_map_of_structs_owns_its_keys() {
    check(
        &[
            ("alice", json!({"pairs": {"x": {"a": "1"}, "y": {"a": "1"}}})),
            ("bob", json!({"pairs": {"x": {"b": "2"}}})),
            ("alice", json!({"pairs": {"y": {"a": "1"}}})),
        ],
        &json!({"pairs": {"x": {"b": "2"}, "y": {"a": "1"}}}),
        &["bob applies pairs.x pairs.x.b", "alice applies pairs.y pairs.y.a"],
    );
}

#[test]
fn applying_again_changes_nothing_not_even_the_time() {
    let mut world = applied(&[("alice", json!({"text": "a", "number": 1}))]);
    let before = world.live.clone();
    world.apply("alice", json!({"text": "a", "number": 1.0})).unwrap();
    assert_eq!(world.live, before);
    world.apply("bob", json!({"text": "a"})).unwrap();
    assert_eq!(
        world.times(),
        ["-".to_owned(), time(0)],
        "a new owner of an unchanged object has no time"
    );
    world.apply("alice", json!({"text": "a"})).unwrap();
    assert_eq!(world.times(), ["-".to_owned(), time(3)]);
}

#[test]
fn metadata_is_owned_but_for_what_identifies_the_object() {
    check(
        &[(
            "alice",
            json!({"metadata": {
                "labels": {"a": "b"}, "finalizers": ["f"], "generateName": "x",
                "ownerReferences": [{"apiVersion": "v1", "kind": "K", "name": "n", "uid": "u"}],
            }}),
        )],
        &json!({"metadata": {
            "labels": {"a": "b"}, "finalizers": ["f"], "generateName": "x",
            "ownerReferences": [{"apiVersion": "v1", "kind": "K", "name": "n", "uid": "u"}],
        }}),
        &[
            "alice applies metadata.finalizers.f metadata.generateName metadata.labels.a metadata.ownerReferences.{uid:u}",
        ],
    );
}

#[test]
fn status_is_owned_through_its_subresource_only() {
    let mut world = applied(&[("alice", json!({"spec": {"text": "a"}, "status": {"phase": "x"}}))]);
    assert_eq!(world.owners(), ["alice applies text"]);
    let status = json!({"spec": {"text": "ignored"}, "metadata": {"labels": {"a": "b"}}, "status": {"conditions": [{"type": "Ready", "status": "True"}]}});
    world.apply_as("alice", "status", status, true).unwrap();
    assert_eq!(
        world.owners()[1],
        "alice/status applies status.conditions.{type:Ready} status.conditions.{type:Ready}.status status.conditions.{type:Ready}.type"
    );
    assert_eq!(world.owners()[0], "alice applies text");
}

#[test]
fn many_conflicts_are_listed_by_manager() {
    let mut world = applied(&[
        ("bob", json!({"text": "a", "number": 1})),
        ("alice", json!({"flag": true})),
    ]);
    world.update("edit", |object| object["spec"]["lines"] = json!(["x"]));
    world.update_as("edit", "status", |object| object["status"] = json!({"phase": "x"}));
    let error = world
        .apply("carol", json!({"text": "b", "number": 2, "flag": false, "lines": []}))
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "Apply failed with 4 conflicts: conflicts with \"alice\":\n- .spec.flag\nconflicts with \"bob\":\n- .spec.number\n- .spec.text\n\
         conflicts with \"edit\" using test.dev/v1:\n- .spec.lines"
    );
    let error = world
        .apply_as("carol", "status", json!({"status": {"phase": "y"}}), false)
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "Apply failed with 1 conflict: conflict with \"edit\" with subresource \"status\" using test.dev/v1: .status.phase"
    );
}

#[test]
fn intents_that_do_not_fit_say_where() {
    let cases = [
        (json!({"odd": 1}), ".spec.odd: field not declared in schema"),
        (
            json!({"text": 1}),
            ".spec.text: expected string, got &value.valueUnstructured{Value:1}",
        ),
        (
            json!({"number": "x"}),
            ".spec.number: expected numeric (int or float), got string",
        ),
        (json!({"flag": [1]}), ".spec.flag: expected boolean, got &{[1]}"),
        (json!({"pair": "x"}), ".spec.pair: expected map, got &{x}"),
        (json!({"tags": {"a": 1}}), ".spec.tags: expected list, got &{map[a:1]}"),
        (
            json!({"tags": ["a", "a"]}),
            ".spec.tags: duplicate entries for key [=\"a\"]",
        ),
        (
            json!({"tags": [null]}),
            ".spec.tags: element 0: associative list without keys has an element that's an explicit null",
        ),
        (
            json!({"tags": [{}]}),
            ".spec.tags: element 0: associative list without keys has an element that's a map type",
        ),
        (
            json!({"tags": [[]]}),
            ".spec.tags: element 0: not supported: associative list with lists as elements",
        ),
        (
            json!({"lines": ["a", 1]}),
            ".spec.lines[1]: expected string, got &value.valueUnstructured{Value:1}",
        ),
        (
            json!({"items": [{"name": "x"}, {"name": "x"}]}),
            ".spec.items: duplicate entries for key [name=\"x\"]",
        ),
        (
            json!({"items": [null]}),
            ".spec.items: element 0: associative list with keys may not have a null element",
        ),
        (
            json!({"items": ["x"]}),
            ".spec.items: element 0: associative list with keys may not have non-map elements",
        ),
        (
            json!({"items": [{"value": "x"}]}),
            ".spec.items: element 0: associative list with keys has an element that omits all key fields [\"name\"] (and doesn't \
             have default values for any key fields)",
        ),
        (
            json!({"items": [{"name": "x", "value": 1}]}),
            ".spec.items[name=\"x\"].value: expected string, got &value.valueUnstructured{Value:1}",
        ),
        (
            json!({"flag": 1, "text": true}),
            "errors:\n  .spec.flag: expected boolean, got &{1}\n  .spec.text: expected string, got &value.valueUnstructured{Value:true}",
        ),
    ];
    for (intent, fault) in cases {
        let expected = format!("failed to create typed patch object (here/thing; test.dev/v1, Kind=Thing): {fault}");
        assert_eq!(World::new().apply("alice", intent), Err(ApplyError::Invalid(expected)));
    }
}

#[test]
fn requests_that_are_wrong_whatever_the_types_say_are_bad_requests() {
    let bad = |message: &str| Err(ApplyError::BadRequest(message.to_owned()));
    let mut world = applied(&[("alice", json!({"text": "a"}))]);
    assert_eq!(
        world.apply("alice", json!({"metadata": {"managedFields": []}})),
        bad("metadata.managedFields must be nil")
    );
    assert_eq!(
        world.apply("alice", json!({"apiVersion": "v2"})),
        bad("invalid object type: /v2, Kind=Thing")
    );
    assert_eq!(
        world.apply("alice", json!({"apiVersion": "other.dev/v1"})),
        bad("invalid object type: other.dev/v1, Kind=Thing")
    );
    assert_eq!(
        world.apply("alice", json!({"spec": {}, "kind": "Other"})),
        bad("invalid object type: test.dev/v1, Kind=Other")
    );
}
