//! The comparison of published definitions with ours finds each way to differ, and lets pass only what is allowed.

use hyperplane_api::{crd, schema::FeatureSet};
use serde_json::{Value, json};

use crate::comparison::{Comparison, take_out_ours};

const NAME: &str = "hostedclusters.hypershift.openshift.io";
const SCHEMA: &str = "/spec/versions/0/schema/openAPIV3Schema";

fn definition() -> Value {
    json!({
        "metadata": {"name": NAME},
        "spec": {
            "group": "hypershift.openshift.io",
            "scope": "Namespaced",
            "names": {"kind": "HostedCluster", "plural": "hostedclusters", "shortNames": ["hc"]},
            "versions": [{
                "name": "v1beta1",
                "served": true,
                "subresources": {"status": {}},
                "additionalPrinterColumns": [{"name": "Version", "jsonPath": ".a", "description": "Words"}],
                "schema": {"openAPIV3Schema": {"type": "object", "required": ["spec"], "properties": {
                    "spec": {"type": "object", "description": "Words", "properties": {
                        "word": {"type": "string", "maxLength": 5, "enum": ["a", "b"], "default": "a"},
                        "list": {"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "integer"}},
                        "map": {"type": "object", "additionalProperties": {"type": "string", "pattern": "a"}},
                        "open": {"type": "object", "x-kubernetes-preserve-unknown-fields": true},
                        "either": {"x-kubernetes-int-or-string": true},
                        "judged": {"type": "object", "x-kubernetes-validations": [
                            {"rule": "self.a", "message": "words", "fieldPath": ".a"}, {"rule": "self.b"},
                        ]},
                    }},
                }}},
            }],
        },
    })
}

/// What theirs and ours differ in when both are the definition above with a change each.
fn differences(change_theirs: impl FnOnce(&mut Value), change_ours: impl FnOnce(&mut Value)) -> Vec<String> {
    let (mut theirs, mut ours) = (definition(), definition());
    change_theirs(&mut theirs);
    change_ours(&mut ours);
    Comparison::of(&[theirs], &[ours]).differences
}

fn at<'a>(definition: &'a mut Value, pointer: &str) -> &'a mut Value {
    let found = definition.pointer_mut(pointer);
    found.unwrap_or_else(|| panic!("{pointer} is not there"))
}

fn field<'a>(definition: &'a mut Value, name: &str) -> &'a mut Value {
    at(definition, &format!("{SCHEMA}/properties/spec/properties/{name}"))
}

/// Where theirs is changed (below the fields of the spec, or from the root), to what, and how what is found begins.
const WAYS: &str = r#"
/spec/scope | "Cluster" | : scope is
/spec/names/plural | "clusters" | : names is
/spec/names/shortNames | ["hcs"] | : names is
/spec/names/categories | ["all"] | : names is
/spec/versions/0/served | false | v1beta1: served is
/spec/versions/0/subresources | {} | v1beta1: subresources is
/spec/versions/0/additionalPrinterColumns/0/jsonPath | ".b" | v1beta1: additionalPrinterColumns is
/spec/versions/0/schema/openAPIV3Schema/required | [] | : required is
/spec/versions/0/schema/openAPIV3Schema/properties/spec/required | ["list"] | .spec: required is
word/type | "integer" | .spec.word: type is
word/format | "uuid" | .spec.word: format is
word/maxLength | 6 | .spec.word: maxLength is
word/enum | ["a"] | .spec.word: enum is
word/default | "b" | .spec.word: default is
word/nullable | true | .spec.word: nullable is
list/x-kubernetes-list-type | "atomic" | .spec.list: x-kubernetes-list-type is
list/x-kubernetes-list-map-keys | ["a"] | .spec.list: x-kubernetes-list-map-keys is
list/items/minimum | 1 | .spec.list[]: minimum is
map/additionalProperties/pattern | "b" | .spec.map{}: pattern is
map/additionalProperties | true | .spec.map{}: schema is
open/x-kubernetes-preserve-unknown-fields | false | .spec.open: x-kubernetes-preserve-unknown-fields is
either/x-kubernetes-int-or-string | false | .spec.either: x-kubernetes-int-or-string is
judged/x-kubernetes-validations/0/fieldPath | ".b" | .spec.judged: x-kubernetes-validations is
judged/x-kubernetes-validations/1/reason | "FieldValueRequired" | .spec.judged: x-kubernetes-validations is
judged/x-kubernetes-validations/1/optionalOldSelf | true | .spec.judged: x-kubernetes-validations is
judged/x-kubernetes-validations | [{"rule": "self.a", "fieldPath": ".a"}] | .spec.judged: x-kubernetes-validations is
new | {"type": "string"} | .spec.new: is missing in ours
"#;

#[test]
fn each_way_to_differ_is_found_at_its_path() {
    for way in WAYS.trim().lines() {
        let columns: Vec<&str> = way.split(" | ").collect();
        let [place, value, expected] = columns[..] else {
            panic!("{way} has no three columns");
        };
        let value: Value = serde_json::from_str(value).expect("a value is JSON");
        let pointer = if place.starts_with('/') {
            place.to_owned()
        } else {
            format!("{SCHEMA}/properties/spec/properties/{place}")
        };
        let (above, name) = pointer.rsplit_once('/').expect("a pointer has a slash");
        let change = |definition: &mut Value| at(definition, above)[name] = value.clone();
        let found = differences(change, |_| {});
        let separator = if expected.starts_with(':') { "" } else { " " };
        let begins = format!("{NAME}{separator}{expected}");
        assert!(found.len() == 1 && found[0].starts_with(&begins), "{way}: {found:?}");
        assert_eq!(differences(|_| {}, change).len(), 1, "{way}, the other way round");
    }
}

#[test]
fn words_and_orders_are_everybodys_own() {
    let found = differences(
        |theirs| {
            field(theirs, "word")["enum"] = json!(["b", "a"]);
            field(theirs, "word")["description"] = json!("Other words");
            field(theirs, "judged")["x-kubernetes-validations"] = json!([
                {"rule": "has(self.b)"}, {"rule": "has(self.a)", "message": "others", "fieldPath": ".a"},
            ]);
            at(theirs, "/spec/versions/0/additionalPrinterColumns/0")["description"] = json!("Other words");
        },
        |_| {},
    );
    assert_eq!(found, Vec::<String>::new());
}

#[test]
fn what_is_allowed_passes_in_its_direction_and_place_only() {
    let nothing = Vec::<String>::new();
    let requires = |name: &'static str| {
        move |definition: &mut Value| at(definition, SCHEMA)["properties"]["spec"]["required"] = json!([name])
    };
    assert_eq!(
        differences(requires("word"), |_| {}),
        nothing,
        "required with a default"
    );
    assert_eq!(
        differences(|_| {}, requires("word")).len(),
        1,
        "ours requires what has a default"
    );
    assert_eq!(
        differences(requires("list"), |_| {}).len(),
        1,
        "required without a default"
    );

    let hostname =
        |name: &'static str| move |definition: &mut Value| field(definition, name)["format"] = json!("hostname");
    assert_eq!(differences(hostname("list"), |_| {}), nothing, "a format on a list");
    assert_eq!(differences(|_| {}, hostname("list")).len(), 1, "ours has it on a list");
    assert_eq!(differences(hostname("word"), |_| {}).len(), 1, "a format on a text");

    let adds = |name: &'static str| {
        move |definition: &mut Value| {
            at(definition, SCHEMA)["properties"]["spec"]["properties"][name] = json!({"type": "string"});
        }
    };
    assert_eq!(
        differences(|_| {}, adds("distributionVersion")),
        nothing,
        "our own field"
    );
    assert_eq!(
        differences(adds("distributionVersion"), |_| {}).len(),
        1,
        "theirs alone has it"
    );
    assert_eq!(
        differences(|_| {}, adds("surplus")).len(),
        1,
        "a field that nobody has allowed"
    );
}

#[test]
fn kinds_and_versions_that_one_side_alone_defines_are_found() {
    let told = |theirs: &[Value], ours: &[Value]| Comparison::of(theirs, ours).differences.join("\n");
    assert!(told(&[definition()], &[]).ends_with("is missing in ours"));
    assert!(told(&[], &[definition()]).ends_with("is in ours alone"));
    let mut renamed = definition();
    at(&mut renamed, "/spec/versions/0")["name"] = json!("v1");
    assert!(told(&[definition()], &[renamed]).contains("v1: name is absent in theirs, \"v1\" in ours"));
    let mut foreign = definition();
    foreign["spec"]["group"] = json!("cluster.x-k8s.io");
    assert_eq!(told(&[], &[foreign]), "");
}

/// A comparison that reaches nothing would find every set equal.
#[test]
fn our_own_definitions_are_reached_in_every_feature_set() {
    for features in FeatureSet::ALL {
        let ours = crd::definitions(*features);
        let comparison = Comparison::of(&ours, &ours);
        assert_eq!(comparison.differences, Vec::<String>::new());
        assert!(comparison.definitions > 10, "{features}: {comparison:?}");
        assert!(comparison.places > 2_000, "{features}: {comparison:?}");
    }
    let smaller = crd::definitions(FeatureSet::Default);
    let larger = crd::definitions(FeatureSet::CustomNoUpgrade);
    let found = Comparison::of(&larger, &smaller).differences;
    assert!(found.contains(&format!("{NAME} .spec.platform.gcp: is missing in ours")));
}

#[test]
fn only_fields_that_ours_alone_has_are_taken_out() {
    let theirs = json!({"properties": {
        "shared": {}, "theirs": {}, "list": {"items": {"properties": {"shared": {}, "theirs": {}}}},
    }});
    let ours = json!({"properties": {
        "shared": {}, "ours": {}, "list": {"items": {"properties": {"shared": {}, "ours": {}}}},
    }});
    let item = json!({"shared": 1, "theirs": 2, "ours": 3, "nobodys": 4});
    let mut manifest = item.clone();
    manifest["list"] = json!([item]);
    take_out_ours(&mut manifest, &theirs, &ours);
    let left = json!({"shared": 1, "theirs": 2, "nobodys": 4});
    let mut expected = left.clone();
    expected["list"] = json!([left]);
    assert_eq!(manifest, expected);
}
