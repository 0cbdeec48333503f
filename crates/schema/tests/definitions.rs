//! Definitions that change, and what becomes of accepted ones.

use hyperplane_schema::definition::{self, Compiled};
use serde_json::{Value, json};

fn example() -> Value {
    let mut definition = json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "examples.example.com"},
        "spec": {
            "group": "example.com",
            "scope": "Namespaced",
            "names": {"plural": "examples", "kind": "Example", "shortNames": ["ex"], "categories": ["all"]},
            "versions": [
                {
                    "name": "v1beta1",
                    "served": true,
                    "storage": false,
                    "deprecated": true,
                    "schema": {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": true}},
                },
                {
                    "name": "v1",
                    "served": true,
                    "storage": true,
                    "schema": {"openAPIV3Schema": {
                        "type": "object",
                        "properties": {
                            "spec": {"type": "object", "properties": {"size": {"type": "integer"}, "color": {"type": "string"}}},
                            "status": {"type": "object", "properties": {"size": {"type": "integer"}}},
                        },
                    }},
                    "subresources": {
                        "status": {},
                        "scale": {"specReplicasPath": ".spec.size", "statusReplicasPath": ".status.size"},
                    },
                    "additionalPrinterColumns": [
                        {"name": "Size", "type": "integer", "jsonPath": ".spec.size"},
                        {"name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp", "priority": 1},
                    ],
                    "selectableFields": [{"jsonPath": ".spec.color"}],
                },
            ],
        },
    });
    definition::default(&mut definition);
    definition
}

#[track_caller]
fn check(change: impl Fn(&mut Value), old: &Value, expected: &[&str]) {
    let mut definition = old.clone();
    change(&mut definition);
    let errors: Vec<String> = definition::validate(&definition, Some(old))
        .iter()
        .map(|error| format!("{}: {}", error.field, error.detail))
        .collect();
    assert_eq!(errors, expected);
}

fn established() -> Value {
    let mut definition = example();
    definition["metadata"]["resourceVersion"] = "1".into();
    definition["status"]["conditions"] = json!([{"type": "Established", "status": "True"}]);
    definition
}

#[test]
fn names_and_conversion_are_filled_in() {
    let definition = example();
    assert_eq!(definition["spec"]["names"]["singular"], "example");
    assert_eq!(definition["spec"]["names"]["listKind"], "ExampleList");
    assert_eq!(definition["spec"]["conversion"], json!({"strategy": "None"}));
    assert_eq!(definition["status"]["storedVersions"], json!(["v1"]));
    assert_eq!(definition::validate(&definition, None), []);
    let mut again = definition.clone();
    definition::default(&mut again);
    assert_eq!(again, definition);
}

#[test]
fn what_is_stored_cannot_change_its_name() {
    check(|_| {}, &established(), &[]);
    check(
        |definition| {
            definition["spec"]["scope"] = "Cluster".into();
            definition["spec"]["names"]["kind"] = "Other".into();
            definition["spec"]["names"]["plural"] = "others".into();
        },
        &established(),
        &[
            "spec.scope: field is immutable",
            "spec.names.kind: field is immutable",
            "spec.names.plural: field is immutable",
        ],
    );
    check(
        |definition| definition["spec"]["names"]["kind"] = "Other".into(),
        &example(),
        &[],
    );
}

#[test]
fn stored_versions_must_stay() {
    let mut old = established();
    old["status"]["storedVersions"] = json!(["v1beta1", "v1"]);
    check(
        |definition| {
            definition["spec"]["versions"].as_array_mut().unwrap().remove(0);
        },
        &old,
        &[
            "status.storedVersions[0]: missing from spec.versions; v1beta1 was previously a storage version, and must remain in spec.versions until a storage migration ensures no data remains persisted in v1beta1 and removes v1beta1 from status.storedVersions",
        ],
    );
}

#[test]
fn old_mistakes_are_tolerated_and_new_ones_are_not() {
    let schema = |definition: &mut Value| definition["spec"]["versions"][1]["schema"]["openAPIV3Schema"].take();
    let mut old = established();
    let mut wrong = schema(&mut old);
    wrong["properties"]["spec"]["properties"]["keys"] = json!({
        "type": "array",
        "x-kubernetes-list-type": "map",
        "x-kubernetes-list-map-keys": ["k"],
        "items": {"type": "object", "properties": {"k": {"type": "string"}}},
    });
    let mut definition = old.clone();
    definition["spec"]["versions"][1]["schema"]["openAPIV3Schema"] = wrong.clone();
    old["spec"]["versions"][1]["schema"]["openAPIV3Schema"] = wrong;
    assert_eq!(definition::validate(&definition, Some(&old)), []);
    let errors = definition::validate(&definition, Some(&established()));
    assert_eq!(
        errors[0].field,
        "spec.versions[1].schema.openAPIV3Schema.properties[spec].properties[keys].items.properties[k].default"
    );
}

#[test]
fn an_accepted_definition_is_ready_to_serve() {
    let compiled = Compiled::new(&example()).unwrap();
    assert_eq!(
        (compiled.kind.as_str(), compiled.list_kind.as_str()),
        ("Example", "ExampleList")
    );
    assert_eq!(
        (compiled.singular.as_str(), compiled.plural.as_str()),
        ("example", "examples")
    );
    assert!(compiled.is_namespaced);
    assert_eq!(
        (compiled.short_names.as_slice(), compiled.categories.as_slice()),
        (&["ex".to_owned()][..], &["all".to_owned()][..])
    );
    let old = compiled.served("v1beta1").unwrap();
    assert_eq!(
        old.deprecation_warning.as_deref(),
        Some("example.com/v1beta1 Example is deprecated; use example.com/v1 Example")
    );
    let version = compiled.storage().unwrap();
    assert!(version.has_status && compiled.served("v2").is_none());
    let scale = version.scale.as_ref().unwrap();
    assert_eq!(scale.spec_replicas, ["spec", "size"]);
    let object = json!({"spec": {"size": 3, "color": "red"}});
    assert_eq!(version.columns[0].path.first(&object), Some(&json!(3)));
    assert_eq!(
        version.columns[0].description,
        "Custom resource definition column (in JSONPath format): .spec.size"
    );
    assert_eq!(version.columns[1].priority, 1);
    assert_eq!(version.selectable_fields[0].name, "spec.color");
    assert_eq!(version.selectable_fields[0].path.first(&object), Some(&json!("red")));
}
