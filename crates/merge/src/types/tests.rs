//! What becomes of the keywords of a schema.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::{ListShape, Scalar, Shape, TypeId, Types};

/// The type at a path of fields; `*` is the item of a list.
fn at(types: &Types, path: &[&str]) -> TypeId {
    path.iter().fold(types.root(), |type_id, step| {
        let atom = types.atom(type_id);
        match *step {
            "*" => atom.list.as_ref().expect("a list").element,
            name => atom
                .map
                .as_ref()
                .and_then(|map| map.field(name))
                .expect("a declared field"),
        }
    })
}

fn describe(types: &Types, path: &[&str]) -> String {
    let atom = types.atom(at(types, path));
    let mut kinds = Vec::new();
    if let Some(map) = &atom.map {
        let open = if map.element.is_some() { "open" } else { "closed" };
        kinds.push(format!("{open}{} map", if map.atomic { " atomic" } else { "" }));
    }
    kinds.extend(atom.scalar.map(|scalar| format!("{scalar:?}").to_lowercase()));
    kinds.extend(atom.list.as_ref().map(|list| match &list.shape {
        ListShape::Atomic => "atomic list".to_owned(),
        ListShape::Set => "set".to_owned(),
        ListShape::Keyed(keys) => format!("list by {}", keys.join(",")),
    }));
    kinds.join(", ")
}

#[test]
fn structural_keywords_become_types() {
    let schema = json!({"type": "object", "properties": {"spec": {"type": "object", "properties": {
        "text": {"type": "string"},
        "bytes": {"type": "string", "format": "byte"},
        "time": {"type": "string", "format": "date-time"},
        "number": {"type": "number"},
        "flag": {"type": "boolean"},
        "either": {"x-kubernetes-int-or-string": true},
        "anything": {"x-kubernetes-preserve-unknown-fields": true},
        "free": {"type": "object"},
        "closed": {"type": "object", "additionalProperties": false, "properties": {"a": {"type": "string"}}},
        "open": {"type": "object", "additionalProperties": true, "properties": {"a": {"type": "string"}}},
        "semi": {"type": "object", "x-kubernetes-preserve-unknown-fields": true, "properties": {"inner": {"type": "object", "properties": {"a": {"type": "string"}}}}},
        "texts": {"type": "object", "additionalProperties": {"type": "string"}},
        "atom": {"type": "object", "x-kubernetes-map-type": "atomic", "properties": {"a": {"type": "string"}}},
        "list": {"type": "array", "items": {"type": "string"}},
        "set": {"type": "array", "items": {"type": "string"}, "x-kubernetes-list-type": "set"},
        "keyed": {"type": "array", "items": {"type": "object"}, "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["b", "a"]},
        "embedded": {"type": "object", "x-kubernetes-embedded-resource": true, "properties": {"spec": {"type": "object"}}},
    }}}});
    let types = Types::structural(&schema);
    for (field, expected) in [
        ("text", "string"),
        ("bytes", "string"),
        ("time", "untyped"),
        ("number", "numeric"),
        ("flag", "boolean"),
        ("either", "open map, untyped, atomic list"),
        ("anything", "open map, untyped, atomic list"),
        ("free", "open map"),
        ("closed", "closed map"),
        ("open", "open map"),
        ("semi", "open map"),
        ("texts", "open map"),
        ("atom", "closed atomic map"),
        ("list", "atomic list"),
        ("set", "set"),
        ("keyed", "list by a,b"),
        ("embedded", "closed map"),
    ] {
        assert_eq!(describe(&types, &["spec", field]), expected, "{field}");
    }
    assert_eq!(
        describe(&types, &["spec", "semi", "inner"]),
        "open map",
        "keeping unknown fields is inherited"
    );
    assert_eq!(
        describe(&types, &["spec", "embedded", "metadata", "ownerReferences"]),
        "list by uid"
    );
    assert_eq!(describe(&types, &["spec", "embedded", "kind"]), "string");
    assert_eq!(
        describe(&types, &["metadata", "ownerReferences", "*"]),
        "closed atomic map"
    );
    assert_eq!(describe(&types, &["metadata", "finalizers"]), "set");
    assert_eq!(describe(&types, &["metadata", "managedFields"]), "atomic list");
    assert_eq!(describe(&types, &["metadata", "labels"]), "open map");
}

fn definitions(components: &[(&str, Value)]) -> BTreeMap<String, Value> {
    components
        .iter()
        .map(|(name, schema)| ((*name).to_owned(), schema.clone()))
        .collect()
}

#[test]
fn components_may_refer_to_themselves_and_be_overridden() {
    let definitions = definitions(&[
        (
            "Tree",
            json!({"type": "object", "properties": {
                "child": {"allOf": [{"$ref": "#/components/schemas/Tree"}]},
                "frozen": {"allOf": [{"$ref": "#/components/schemas/Tree"}], "x-kubernetes-map-type": "atomic"},
                "size": {"$ref": "#/components/schemas/io.k8s.apimachinery.pkg.api.resource.Quantity"},
                "raw": {"$ref": "#/components/schemas/io.k8s.apimachinery.pkg.runtime.RawExtension"},
                "unknown": {"$ref": "#/components/schemas/Missing"},
                "merged": {"type": "array", "items": {"type": "object"}, "x-kubernetes-patch-strategy": "merge", "x-kubernetes-patch-merge-key": "name"},
                "mergedSet": {"type": "array", "items": {"type": "string"}, "x-kubernetes-patch-strategy": "merge"},
            }}),
        ),
        (
            "io.k8s.apimachinery.pkg.api.resource.Quantity",
            json!({"oneOf": [{"type": "string"}, {"type": "number"}]}),
        ),
        (
            "io.k8s.apimachinery.pkg.runtime.RawExtension",
            json!({"type": "object"}),
        ),
    ]);
    let types = Types::openapi("Tree", &definitions);
    assert_eq!(at(&types, &["child"]), types.root());
    assert_eq!(at(&types, &["child", "child", "child"]), types.root());
    assert_eq!(describe(&types, &["frozen"]), "closed atomic map");
    assert_eq!(
        describe(&types, &["frozen", "child"]),
        "closed map",
        "an override is about one reference"
    );
    assert_eq!(describe(&types, &["size"]), "untyped");
    assert_eq!(describe(&types, &["raw"]), "open atomic map, untyped, atomic list");
    assert_eq!(describe(&types, &["unknown"]), "open map, untyped, atomic list");
    assert_eq!(describe(&types, &["merged"]), "list by name");
    assert_eq!(describe(&types, &["mergedSet"]), "set");
}

#[test]
fn the_empty_object_is_what_go_writes_for_a_zero_value() {
    let definitions = definitions(&[
        (
            "Kind",
            json!({"type": "object", "required": ["list", "pointer", "name"], "properties": {
                "embedded": {"default": {}, "allOf": [{"$ref": "#/Embedded"}]},
                "list": {"type": "array", "items": {"type": "string"}},
                "pointer": {"allOf": [{"$ref": "#/Embedded"}]},
                "optional": {"allOf": [{"$ref": "#/Embedded"}]},
                "name": {"type": "string", "default": ""},
                "count": {"type": "integer", "default": 0},
                "protocol": {"type": "string", "default": "TCP"},
                "time": {"allOf": [{"$ref": "#/Time"}]},
            }}),
        ),
        (
            "Embedded",
            json!({"type": "object", "properties": {"flag": {"type": "boolean", "default": false}}}),
        ),
        ("Time", json!({"type": "string", "format": "date-time"})),
    ]);
    let expected =
        json!({"embedded": {"flag": false}, "list": null, "pointer": null, "name": "", "count": 0, "time": null});
    assert_eq!(Types::openapi("Kind", &definitions).empty, expected);
}

#[test]
fn a_zero_value_that_contains_itself_ends() {
    let definitions = definitions(&[(
        "Loop",
        json!({"type": "object", "properties": {"next": {"default": {}, "$ref": "#/Loop"}}}),
    )]);
    let mut empty = &Types::openapi("Loop", &definitions).empty;
    let mut depth = 0;
    while let Some(next) = empty.get("next") {
        empty = next;
        depth += 1;
    }
    assert_eq!(depth, 16);
}

#[test]
fn a_value_has_the_shape_that_its_type_admits() {
    let types = Types::deduced();
    let name = |value: &Value| match types.shape(types.root(), value) {
        Shape::Map(_) => "map",
        Shape::List(_) => "list",
        Shape::Scalar(Scalar::Untyped) => "untyped",
        Shape::Scalar(_) => "typed",
    };
    assert_eq!(
        [json!({}), json!([]), json!(1), json!("a"), json!(null)]
            .each_ref()
            .map(name),
        ["map", "list", "untyped", "untyped", "map"]
    );
}
