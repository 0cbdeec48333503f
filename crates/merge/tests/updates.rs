//! Writes that are not applies, scenario by scenario: how ownership follows what changed.

use hyperplane_merge::{Author, ResetFields, ScaleFields, Scope, Types, apply, extract, update};
use serde_json::{Value, json};

use crate::world::{self, World, full, time};

#[test]
fn the_creator_owns_all_that_is_there() {
    let mut world = World::new();
    world.update("alice", |object| {
        object["spec"] = json!({"text": "a", "pair": {"a": "1"}, "tags": ["x"], "items": [{"name": "n"}]});
    });
    assert_eq!(
        world.owners(),
        ["alice updates spec items items.{name:n} items.{name:n}.name pair pair.a tags tags.x text"]
    );
    assert_eq!(world.times(), [time(0)]);
}

#[test]
fn who_changes_a_field_takes_it_and_who_removes_it_frees_it() {
    let mut world = World::new();
    world
        .apply("alice", json!({"text": "a", "number": 1, "tags": ["x", "y"]}))
        .unwrap();
    world.update("edit", |object| {
        object["spec"]["text"] = json!("b");
        object["spec"]["tags"] = json!(["y", "z"]);
        object["spec"].as_object_mut().unwrap().remove("number");
    });
    assert_eq!(world.owners(), ["alice applies tags.y", "edit updates tags.z text"]);
    assert_eq!(world.times(), [time(0), time(1)]);
}

#[test]
fn changing_what_one_owns_moves_the_time_and_removing_does_not() {
    let mut world = World::new();
    world.update("alice", |object| object["spec"] = json!({"text": "a", "number": 1}));
    world.update("alice", |object| object["spec"]["text"] = json!("b"));
    assert_eq!(world.times(), [time(1)]);
    world.update("alice", |object| {
        drop(object["spec"].as_object_mut().unwrap().remove("text"));
    });
    assert_eq!(
        (world.times(), world.owners()),
        (vec![time(1)], vec!["alice updates spec number".to_owned()])
    );
    world.update("alice", |_| {});
    assert_eq!(world.times(), [time(1)]);
}

#[test]
fn a_value_of_another_kind_is_changed_and_its_parts_are_new() {
    let mut world = World::new();
    world
        .apply("alice", json!({"either": 1, "free": {"a": {"b": 1}}}))
        .unwrap();
    world.update("edit", |object| {
        object["spec"]["either"] = json!("1");
        object["spec"]["free"]["a"] = json!([1]);
    });
    assert_eq!(world.owners(), ["edit updates either free.a"]);
    world.update("other", |object| object["spec"]["free"]["a"] = json!({"c": 1}));
    assert_eq!(world.owners(), ["edit updates either", "other updates free.a free.a.c"]);
}

#[test]
fn an_object_without_owners_stays_so_until_it_is_applied() {
    let mut world = World::unowned(json!({"text": "a", "number": 1}));
    world.update("edit", |object| object["spec"]["text"] = json!("b"));
    assert_eq!(world.owners(), [""; 0]);
    assert_eq!(
        world.conflicts("alice", json!({"text": "c"})),
        [r#"conflict with "before-first-apply" using test.dev/v1: .spec.text"#]
    );
    world.apply("alice", json!({"text": "b"})).unwrap();
    assert_eq!(
        world.owners(),
        ["alice applies text", "before-first-apply updates spec number text"]
    );
}

#[test]
fn an_empty_list_or_entry_forgets_all_owners() {
    for reset in [json!([]), json!([{}]), json!([{"manager": ""}])] {
        let mut world = World::new();
        world.apply("alice", json!({"text": "a"})).unwrap();
        world.update("edit", |object| {
            object["metadata"]["managedFields"] = reset;
            object["spec"]["text"] = json!("b");
        });
        assert_eq!(world.owners(), [""; 0]);
        assert_eq!(world.content(), json!({"text": "b"}));
    }
}

#[test]
fn managed_fields_that_cannot_be_read_are_those_of_the_live_object() {
    let entry = |change: Value| {
        let mut entry = json!({"manager": "x", "operation": "Update", "apiVersion": "test.dev/v1", "fieldsType": "FieldsV1", "fieldsV1": {}});
        entry
            .as_object_mut()
            .unwrap()
            .extend(change.as_object().unwrap().clone());
        json!([entry])
    };
    let unreadable = [
        json!(null),
        json!("text"),
        json!(["text"]),
        entry(json!({"operation": "Other"})),
        entry(json!({"apiVersion": ""})),
        entry(json!({"fieldsType": ""})),
        entry(json!({"fieldsType": "FieldsV2"})),
        entry(json!({"fieldsV1": {"spec": {}}})),
        entry(json!({"fieldsV1": {"f:spec": 1}})),
        entry(json!({"fieldsV1": "text"})),
        entry(json!({"time": "yesterday"})),
        entry(json!({"manager": 1})),
    ];
    for sent in unreadable {
        let mut world = World::new();
        world.apply("alice", json!({"text": "a", "number": 1})).unwrap();
        world.update("edit", |object| {
            object["metadata"]["managedFields"] = sent.clone();
            object["spec"]["text"] = json!("b");
        });
        assert_eq!(
            world.owners(),
            ["alice applies number", "edit updates text"],
            "after {sent}"
        );
    }
}

#[test]
fn clients_may_edit_ownership_but_not_through_a_subresource() {
    let mut world = World::new();
    world.apply("alice", json!({"text": "a"})).unwrap();
    let rename = |object: &mut Value| object["metadata"]["managedFields"][0]["manager"] = json!("bob");
    world.update_as("edit", "status", rename);
    assert_eq!(world.owners(), ["alice applies text"]);
    world.update("edit", rename);
    assert_eq!(world.owners(), ["bob applies text"]);
}

#[test]
fn what_clients_write_becomes_canonical() {
    let mut world = World::new();
    world
        .apply("alice", json!({"text": "a", "items": [{"name": "x"}], "numbers": [1]}))
        .unwrap();
    world.update("edit", |object| {
        let entry = &mut object["metadata"]["managedFields"][0];
        entry["time"] = json!("2026-09-21T16:13:20.5+02:00");
        entry["extra"] = json!(1);
        entry["fieldsV1"] = json!({
            "f:spec": {"z:later": {}, "f:items": {"k:{ \"name\" : \"x\" }": {}}, "f:numbers": {"v:1.0": {}}, "f:text": {".": {}}, "f:number": null},
        });
    });
    let entry = &world.live.as_ref().unwrap()["metadata"]["managedFields"][0];
    let expected = json!({
        "apiVersion": "test.dev/v1", "fieldsType": "FieldsV1", "manager": "alice", "operation": "Apply", "time": "2026-09-21T14:13:20Z",
        "fieldsV1": {"f:spec": {"f:items": {"k:{\"name\":\"x\"}": {}}, "f:numbers": {"v:1": {}}, "f:text": {}, "f:number": {}}},
    });
    assert_eq!(*entry, expected);
}

#[test]
fn of_two_entries_of_one_manager_the_last_holds() {
    let mut world = World::new();
    world.apply("alice", json!({"text": "a", "number": 1})).unwrap();
    world.update("edit", |object| {
        let mut second = object["metadata"]["managedFields"][0].clone();
        second["fieldsV1"] = json!({"f:spec": {"f:number": {}}});
        object["metadata"]["managedFields"].as_array_mut().unwrap().push(second);
    });
    assert_eq!(world.owners(), ["alice applies number"]);
}

#[test]
fn the_eleventh_updater_makes_the_oldest_ones_ancient() {
    let mut world = World::new();
    world.update("creator", |object| object["spec"] = json!({"labels": {}}));
    for number in 0..10 {
        world.update(&format!("manager-{number}"), |object| {
            object["spec"]["labels"][format!("k{number}")] = json!("v");
        });
    }
    let owners = world.owners();
    assert_eq!(owners.len(), 10);
    assert_eq!(owners[0], "ancient-changes updates spec labels labels.k0");
    assert_eq!(owners[9], "manager-9 updates labels.k9");
    assert_eq!(
        world.times()[0],
        time(1),
        "the bucket has the time of what went in last"
    );
    world.apply("applier", json!({"text": "a"})).unwrap();
    assert_eq!(world.owners().len(), 11, "appliers do not count");
}

#[test]
fn appliers_stand_before_updaters_and_older_before_newer() {
    let mut world = World::new();
    world.update("zed", |object| object["spec"] = json!({"text": "a"}));
    world.update("alice", |object| object["spec"]["number"] = json!(1));
    world.apply("bob", json!({"flag": true})).unwrap();
    let names: Vec<String> = world
        .owners()
        .iter()
        .map(|line| line.split(' ').next().unwrap().to_owned())
        .collect();
    assert_eq!(names, ["bob", "zed", "alice"]);
}

#[test]
fn entries_of_versions_that_are_not_served_are_dropped() {
    let mut world = World::new();
    world.apply("alice", json!({"text": "a"})).unwrap();
    world.update("edit", |object| {
        object["metadata"]["managedFields"][0]["apiVersion"] = json!("test.dev/v0");
        object["spec"]["number"] = json!(1);
    });
    assert_eq!(world.owners(), ["edit updates number"]);
}

#[test]
fn what_becomes_atomic_is_owned_as_a_whole_from_then_on() {
    let mut world = World::new();
    world
        .apply("alice", json!({"tags": ["a"], "pair": {"a": "1"}}))
        .unwrap();
    let mut schema = world::schema();
    schema["properties"]["spec"]["properties"]["tags"]["x-kubernetes-list-type"] = json!("atomic");
    schema["properties"]["spec"]["properties"]["pair"]["x-kubernetes-map-type"] = json!("atomic");
    world
        .types
        .insert(world::VERSION.to_owned(), Types::structural(&schema));
    assert_eq!(
        world.conflicts("bob", json!({"tags": ["b"], "pair": {"b": "1"}})),
        [
            r#"conflict with "alice": .spec.pair"#,
            r#"conflict with "alice": .spec.tags"#
        ]
    );
    world.update("edit", |object| object["spec"]["number"] = json!(1));
    assert_eq!(world.owners(), ["alice applies pair tags", "edit updates number"]);
}

#[test]
fn items_that_stand_in_a_list_twice_are_owned_together() {
    let items = |values: &[&str]| -> Value {
        values
            .iter()
            .map(|value| json!({"name": "x", "value": value}))
            .collect()
    };
    let mut world = World::unowned(json!({"items": items(&["1", "2"])}));
    world.apply("alice", json!({"text": "a"})).unwrap();
    assert_eq!(
        world.owners()[1],
        "before-first-apply updates spec items items.{name:x}"
    );
    world.update("edit", |object| object["spec"]["items"] = items(&["1", "3"]));
    assert_eq!(world.owners()[2], "edit updates items.{name:x}");
    world.update("once", |object| object["spec"]["items"] = items(&["1"]));
    assert_eq!(
        world.owners()[2],
        "once updates items.{name:x} items.{name:x}.name items.{name:x}.value"
    );
    world.update("twice", |object| object["spec"]["items"] = items(&["1", "1"]));
    assert_eq!(world.owners()[2], "twice updates items.{name:x}");
    world.force("alice", json!({"items": [{"name": "x", "value": "9"}]}));
    assert_eq!(world.content(), json!({"items": [{"name": "x", "value": "9"}]}));
}

#[test]
fn an_object_that_does_not_fit_its_types_loses_its_owners() {
    let mut world = World::new();
    world.apply("alice", json!({"text": "a"})).unwrap();
    world.update("edit", |object| object["spec"]["text"] = json!([1]));
    assert_eq!(world.owners(), [""; 0]);
}

#[test]
fn a_field_that_another_version_lacks_is_in_the_way_of_its_owners() {
    let mut narrow = world::schema();
    narrow["properties"]["spec"]["properties"]
        .as_object_mut()
        .unwrap()
        .remove("flag");
    let mut world = World::new();
    world.types.insert("test.dev/v0".to_owned(), Types::structural(&narrow));
    world.apply("alice", json!({"text": "a"})).unwrap();
    world.update("edit", |object| {
        object["metadata"]["managedFields"][0]["apiVersion"] = json!("test.dev/v0");
    });
    world.update("edit", |object| object["spec"]["number"] = json!(1));
    assert_eq!(world.owners(), ["alice applies text", "edit updates number"]);
    let error = world.apply("bob", json!({"flag": true})).unwrap_err();
    assert_eq!(
        error.to_string(),
        "failed to convert new object: .spec.flag: field not declared in schema"
    );
    world.update("edit", |object| object["spec"]["flag"] = json!(true));
    assert_eq!(world.owners(), [""; 0]);
}

#[test]
fn kubectl_moves_from_its_annotation_to_server_side_apply() {
    let annotation = "kubectl.kubernetes.io/last-applied-configuration";
    let last = full(json!({"text": "a", "number": 1})).to_string();
    let mut world = World::new();
    world.update("kubectl-client-side-apply", |object| {
        object["metadata"]["annotations"] = json!({ annotation: last });
        object["spec"] = json!({"text": "a", "number": 1});
    });
    world.update("edit", |object| object["spec"]["number"] = json!(2));
    let conflicts = world.conflicts("kubectl", json!({"text": "b", "number": 3}));
    assert_eq!(
        conflicts,
        [r#"conflict with "edit" using test.dev/v1: .spec.number"#],
        "what kubectl applied itself is no conflict"
    );
    assert_eq!(world.conflicts("other", json!({"text": "b", "number": 3})).len(), 2);
    world.apply("kubectl", json!({"text": "<b>"})).unwrap();
    let expected = r#"{"apiVersion":"test.dev/v1","kind":"Thing","metadata":{"name":"thing","namespace":"here"},"spec":{"text":"\u003cb\u003e"}}"#;
    assert_eq!(
        world.content()["metadata"]["annotations"][annotation],
        json!(format!("{expected}\n"))
    );
    assert_eq!(world.owners()[0], "kubectl applies text");
}

#[test]
fn the_annotation_is_dropped_when_it_grows_too_large() {
    let annotation = "kubectl.kubernetes.io/last-applied-configuration";
    let mut world = World::new();
    world.update("kubectl-client-side-apply", |object| {
        object["metadata"]["annotations"] = json!({ annotation: "{}", "other": "x" });
    });
    world.apply("kubectl", json!({"text": "x".repeat(300 << 10)})).unwrap();
    assert_eq!(world.content()["metadata"]["annotations"], json!({"other": "x"}));
}

#[test]
fn an_empty_manager_is_unknown() {
    let mut world = World::new();
    world.update("", |object| object["spec"] = json!({"text": "a"}));
    assert_eq!(world.owners(), ["unknown updates spec text"]);
}

#[test]
fn a_kind_without_schema_is_deduced() {
    let mut world = World::with_types(Types::deduced());
    world.apply("alice", json!({"a": {"b": 1}, "list": [1, 2]})).unwrap();
    world.apply("bob", json!({"a": {"c": 1}})).unwrap();
    assert_eq!(world.content(), json!({"a": {"b": 1, "c": 1}, "list": [1, 2]}));
    assert_eq!(
        world.conflicts("bob", json!({"list": [1]})),
        [r#"conflict with "alice": .spec.list"#]
    );
}

#[test]
fn a_manager_reads_back_what_it_applied() {
    let mut world = World::new();
    let intent = json!({"text": "a", "labels": {}, "items": [{"name": "x", "tags": ["a"]}], "ports": [{"port": 80, "protocol": "TCP"}]});
    world.apply("alice", intent.clone()).unwrap();
    world
        .apply(
            "bob",
            json!({"labels": {"k": "v"}, "number": 1, "items": [{"name": "x", "value": "1", "tags": ["b"]}]}),
        )
        .unwrap();
    let types = &world.types[world::VERSION];
    assert_eq!(
        extract(world.live.as_ref().unwrap(), "alice", "", types),
        Some(full(intent))
    );
    assert_eq!(extract(world.live.as_ref().unwrap(), "alice", "status", types), None);
    assert_eq!(extract(world.live.as_ref().unwrap(), "carol", "", types), None);
}

#[test]
fn replicas_change_hands_through_the_scale_subresource() {
    let fields = ScaleFields::default()
        .at("apps/v1", Some(&["spec", "replicas"]))
        .at("apps/v0", None);
    let owner = |manager: &str, version: &str, paths: Value| json!({"manager": manager, "operation": "Update", "apiVersion": version, "time": "2026-01-01T00:00:00Z", "fieldsType": "FieldsV1", "fieldsV1": paths});
    let parent = json!([
        owner(
            "creator",
            "apps/v1",
            json!({"f:spec": {"f:replicas": {}, "f:paused": {}}})
        ),
        owner("old", "apps/v0", json!({"f:spec": {"f:paused": {}}})),
        owner("gone", "apps/v9", json!({"f:spec": {"f:paused": {}}})),
    ]);
    let scale = fields.to_scale(&parent);
    assert_eq!(
        scale,
        json!([owner(
            "creator",
            "autoscaling/v1",
            json!({"f:spec": {"f:replicas": {}}})
        )])
    );

    let mut scaler = owner("scaler", "autoscaling/v1", json!({"f:spec": {"f:replicas": {}}}));
    scaler["subresource"] = json!("scale");
    let mut expected = owner("scaler", "apps/v1", json!({"f:spec": {"f:replicas": {}}}));
    expected["subresource"] = json!("scale");
    expected.as_object_mut().unwrap().remove("time");
    let after = fields.to_parent(&parent, &json!([scaler]), "apps/v1");
    let others = [
        owner("creator", "apps/v1", json!({"f:spec": {"f:paused": {}}})),
        owner("old", "apps/v0", json!({"f:spec": {"f:paused": {}}})),
    ];
    assert_eq!(after, json!([expected, others[0], others[1]]));
}

#[test]
fn a_kind_that_is_not_served_keeps_no_owners_and_cannot_be_applied() {
    let reset = ResetFields::none();
    let scope = Scope {
        types: &|_: &str| None,
        reset: &reset,
    };
    let author = Author {
        manager: "a",
        api_version: "v1",
        subresource: "",
        time: jiff::Timestamp::UNIX_EPOCH,
    };
    let object = full(json!({"text": "a"}));
    assert_eq!(update(None, object.clone(), &author, &scope), object);
    let error = apply(None, &object, &author, &scope, false).unwrap_err();
    assert_eq!(error.to_string(), "no corresponding type for test.dev/v1, Kind=Thing");
}
