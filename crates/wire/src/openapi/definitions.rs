//! Names of definitions, and the definitions of custom resources and their lists.

use hyperplane_kinds::Resource;
use serde_json::{Map, Value, json};

/// What a reference to a definition starts with.
pub(super) const PREFIX: &str = "#/components/schemas/";

const META: &str = "io.k8s.apimachinery.pkg.apis.meta.v1";

/// The name of the definition of a built-in kind.
pub fn built_in_name(group: &str, version: &str, kind: &str) -> String {
    match group {
        "" => format!("io.k8s.api.core.{version}.{kind}"),
        "apiextensions.k8s.io" => format!("io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.{version}.{kind}"),
        "apiregistration.k8s.io" => format!("io.k8s.kube-aggregator.pkg.apis.apiregistration.{version}.{kind}"),
        "internal.apiserver.k8s.io" => format!("io.k8s.api.apiserverinternal.{version}.{kind}"),
        _ => {
            let short = group.split('.').next().unwrap_or(group);
            format!("io.k8s.api.{short}.{version}.{kind}")
        }
    }
}

/// The name of the definition of a custom resource: the group backwards, then version and kind.
pub fn custom_name(group: &str, version: &str, kind: &str) -> String {
    let reversed: Vec<&str> = group.rsplit('.').collect();
    format!("{}.{version}.{kind}", reversed.join("."))
}

/// A reference to a definition.
pub(super) fn reference(name: &str) -> Value {
    json!({ "$ref": format!("{PREFIX}{name}") })
}

/// A reference to a type of the group `meta.k8s.io`.
pub(super) fn meta_reference(kind: &str) -> Value {
    reference(&format!("{META}.{kind}"))
}

/// The definitions of a custom resource and of its list.
pub(super) fn custom(resource: &Resource, schema: Option<Value>) -> [(String, Value); 2] {
    let name = custom_name(&resource.group, &resource.version, &resource.kind);
    let list_name = custom_name(&resource.group, &resource.version, &resource.list_kind);
    let list = list_definition(resource, &name);
    [(name, object_definition(resource, schema)), (list_name, list)]
}

fn object_definition(resource: &Resource, schema: Option<Value>) -> Value {
    let mut definition = match schema {
        Some(Value::Object(schema)) => schema,
        _ => Map::from_iter([("x-kubernetes-preserve-unknown-fields".to_owned(), Value::Bool(true))]),
    };
    definition.entry("type").or_insert_with(|| "object".into());
    let properties = definition.entry("properties").or_insert_with(|| json!({}));
    if let Value::Object(properties) = properties {
        add_type_properties(properties);
        let metadata = json!({
            "description": "The metadata that every object has.",
            "allOf": [meta_reference("ObjectMeta")],
        });
        properties.insert("metadata".to_owned(), metadata);
    }
    let mut definition = Value::Object(definition);
    tag(&mut definition, resource, &resource.kind);
    definition
}

fn list_definition(resource: &Resource, item: &str) -> Value {
    let mut properties = Map::new();
    add_type_properties(&mut properties);
    let items = json!({
        "description": format!("The {} of the list.", resource.plural),
        "type": "array",
        "items": reference(item),
    });
    properties.insert("items".to_owned(), items);
    let metadata = json!({
        "description": "The metadata that every list has.",
        "allOf": [meta_reference("ListMeta")],
    });
    properties.insert("metadata".to_owned(), metadata);
    let mut definition = json!({
        "description": format!("A list of {}.", resource.plural),
        "type": "object",
        "required": ["items"],
        "properties": properties,
    });
    tag(&mut definition, resource, &resource.list_kind);
    definition
}

/// The properties that name the type of an object. A schema that describes them itself keeps its words.
fn add_type_properties(properties: &mut Map<String, Value>) {
    for (name, description) in [
        (
            "apiVersion",
            "The group and version of the schema that this object follows.",
        ),
        ("kind", "The kind of this object."),
    ] {
        properties
            .entry(name)
            .or_insert_with(|| json!({"type": "string", "description": description}));
    }
}

/// Clients find the definition of a kind by this mark.
fn tag(definition: &mut Value, resource: &Resource, kind: &str) {
    definition["x-kubernetes-group-version-kind"] =
        json!([{"group": resource.group, "version": resource.version, "kind": kind}]);
    let fields: Vec<Value> = resource
        .selectable_fields
        .iter()
        .map(|field| json!({ "fieldPath": field.label }))
        .collect();
    if !fields.is_empty() {
        definition["x-kubernetes-selectable-fields"] = fields.into();
    }
}
