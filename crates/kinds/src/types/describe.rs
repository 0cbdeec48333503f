//! The types as OpenAPI v3 components, without descriptions: the facts that clients and merges read.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::{Field, Shape, Type, TypeIndex, Types};

/// Where components are in a document.
const REFERENCE: &str = "#/components/schemas/";

/// The component of field sets, which the table lists without fields.
const FIELDS: &str = "io.k8s.apimachinery.pkg.apis.meta.v1.FieldsV1";

/// Components that are no structs of the table: read by code of their own upstream.
const OPAQUE: [(&str, &str, &str); 9] = [
    (
        "resource.Quantity",
        "io.k8s.apimachinery.pkg.api.resource.Quantity",
        r#"{"oneOf":[{"type":"string"},{"type":"number"}]}"#,
    ),
    (
        "intstr.IntOrString",
        "io.k8s.apimachinery.pkg.util.intstr.IntOrString",
        r#"{"format":"int-or-string","oneOf":[{"type":"integer"},{"type":"string"}]}"#,
    ),
    (
        "meta.Time",
        "io.k8s.apimachinery.pkg.apis.meta.v1.Time",
        r#"{"type":"string","format":"date-time"}"#,
    ),
    (
        "meta.MicroTime",
        "io.k8s.apimachinery.pkg.apis.meta.v1.MicroTime",
        r#"{"type":"string","format":"date-time"}"#,
    ),
    (
        "runtime.RawExtension",
        "io.k8s.apimachinery.pkg.runtime.RawExtension",
        r#"{"type":"object"}"#,
    ),
    (
        "apiextensions.JSON",
        "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSON",
        "{}",
    ),
    (
        "apiextensions.JSONSchemaPropsOrArray",
        "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaPropsOrArray",
        "{}",
    ),
    (
        "apiextensions.JSONSchemaPropsOrBool",
        "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaPropsOrBool",
        "{}",
    ),
    (
        "apiextensions.JSONSchemaPropsOrStringArray",
        "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaPropsOrStringArray",
        "{}",
    ),
];

impl Types {
    /// The component of a type and of every type that it leads to.
    pub(crate) fn components(&self, roots: impl IntoIterator<Item = TypeIndex>) -> BTreeMap<String, Value> {
        let mut components = BTreeMap::new();
        let mut open: Vec<TypeIndex> = roots.into_iter().collect();
        while let Some(index) = open.pop() {
            let entry = self.get(index);
            if components.contains_key(&entry.component) {
                continue;
            }
            components.insert(entry.component.clone(), self.component(entry));
            for field in &entry.fields {
                open.extend(field.shape.index());
                add_opaque(&field.shape, bare(field.written), &mut components);
            }
        }
        components
    }

    /// The component of this name, without descriptions; references have no siblings taken care of.
    pub(crate) fn definition(&self, name: &str) -> Option<Value> {
        if name == FIELDS {
            return Some(json!({ "type": "object" }));
        }
        if let Some((_, _, schema)) = OPAQUE.iter().find(|(_, component, _)| *component == name) {
            return serde_json::from_str(schema).ok();
        }
        let entry = self.entries.iter().find(|entry| entry.component == name)?;
        Some(self.component(entry))
    }

    fn component(&self, entry: &Type) -> Value {
        let mut schema = json!({ "type": "object" });
        let mut properties = Map::new();
        let mut required = Vec::new();
        for &position in &entry.declared {
            let field = &entry.fields[position];
            properties.insert(field.name.to_owned(), self.property(field));
            if words(field.attributes).any(|word| word == "required") {
                required.push(field.name);
            }
        }
        if !properties.is_empty() {
            schema["properties"] = Value::Object(properties);
        }
        if !required.is_empty() {
            schema["required"] = json!(required);
        }
        for word in words(entry.attributes) {
            match word.split_once('=') {
                Some(("kind", kind)) => schema["x-kubernetes-group-version-kind"] = json!([kind_of(kind)]),
                Some(("map", value)) => schema["x-kubernetes-map-type"] = json!(value),
                Some(("unions", value)) => {
                    schema["x-kubernetes-unions"] = serde_json::from_str(value).unwrap_or_default();
                }
                _ => {}
            }
        }
        schema
    }

    fn property(&self, field: &Field) -> Value {
        let is_pointer = field.written.starts_with('*');
        let mut schema = self.schema(&field.shape, field.written.trim_start_matches('*'));
        let derived = if is_pointer {
            None
        } else {
            zero(&field.shape, field.omit_empty)
        };
        let given = words(field.attributes).find_map(|word| word.strip_prefix("default="));
        let default = match given {
            Some(text) => serde_json::from_str(text).ok(),
            None => derived,
        };
        if let Some(default) = default {
            schema["default"] = default;
        }
        for word in words(field.attributes) {
            if let Some((name, value)) = word.split_once('=') {
                annotate(&mut schema, name, value);
            }
        }
        schema
    }

    /// The schema of a shape; `written` names the opaque types, which shapes do not tell apart.
    fn schema(&self, shape: &Shape, written: &str) -> Value {
        match shape {
            Shape::Pointer(inner) => self.schema(inner, written.trim_start_matches('*')),
            Shape::String | Shape::Duration => json!({ "type": "string" }),
            Shape::Bool => json!({ "type": "boolean" }),
            Shape::Int32 => json!({ "type": "integer", "format": "int32" }),
            Shape::Int64 => json!({ "type": "integer", "format": "int64" }),
            Shape::Float => json!({ "type": "number", "format": "double" }),
            Shape::Bytes => json!({ "type": "string", "format": "byte" }),
            Shape::Object(index) => json!({ "$ref": format!("{REFERENCE}{}", self.get(*index).component) }),
            Shape::List(inner) => json!({ "type": "array", "items": self.item(inner, bare(written)) }),
            Shape::Map(inner) => json!({ "type": "object", "additionalProperties": self.item(inner, bare(written)) }),
            opaque => json!({ "$ref": format!("{REFERENCE}{}", opaque_component(opaque, written)) }),
        }
    }

    /// The schema of an entry of a list or map, with the zero that the OpenAPI generator derives for it.
    fn item(&self, shape: &Shape, written: &str) -> Value {
        let mut schema = self.schema(shape, written);
        if let Some(zero) = zero(shape, false) {
            schema["default"] = zero;
        }
        as_all_of(schema)
    }
}

/// A reference with something beside it is written as `allOf`: siblings of `$ref` are ignored by readers.
pub(crate) fn as_all_of(mut schema: Value) -> Value {
    let Some(map) = schema.as_object_mut().filter(|map| map.len() > 1) else {
        return schema;
    };
    if let Some(reference) = map.remove("$ref") {
        map.insert("allOf".to_owned(), json!([{ "$ref": reference }]));
    }
    schema
}

fn words(attributes: &str) -> impl Iterator<Item = &str> {
    attributes.split(' ')
}

fn annotate(schema: &mut Value, name: &str, value: &str) {
    // Words of the table have no blanks; tildes stand for them.
    let list = || json!(value.split(',').map(|text| text.replace('~', " ")).collect::<Vec<_>>());
    match name {
        "list" => schema["x-kubernetes-list-type"] = json!(value),
        "keys" => schema["x-kubernetes-list-map-keys"] = list(),
        "map" => schema["x-kubernetes-map-type"] = json!(value),
        "patch" => schema["x-kubernetes-patch-strategy"] = json!(value),
        "patchkey" => schema["x-kubernetes-patch-merge-key"] = json!(value),
        "enum" => schema["enum"] = list(),
        "itemenum" => {
            let nested = if schema.get("items").is_some() {
                "items"
            } else {
                "additionalProperties"
            };
            schema[nested]["enum"] = list();
        }
        _ => {}
    }
}

/// The zero that the OpenAPI generator shows for what is always present.
fn zero(shape: &Shape, omit_empty: bool) -> Option<Value> {
    match shape {
        Shape::Object(_) => Some(json!({})),
        _ if omit_empty => None,
        Shape::String => Some(json!("")),
        Shape::Bool => Some(json!(false)),
        Shape::Int32 | Shape::Int64 | Shape::Float => Some(json!(0)),
        _ => None,
    }
}

/// The type at the bottom of lists, maps and pointers, as the table writes it.
fn bare(written: &str) -> &str {
    let mut rest = written;
    loop {
        let shorter = rest.trim_start_matches(['*', '[', ']']);
        let shorter = shorter.strip_prefix("map").unwrap_or(shorter);
        if shorter == rest {
            return rest;
        }
        rest = shorter;
    }
}

fn kind_of(text: &str) -> Value {
    let parts: Vec<&str> = text.split('/').collect();
    match parts[..] {
        [group, version, kind] => json!({ "group": group, "version": version, "kind": kind }),
        _ => Value::Null,
    }
}

/// The component of a type that is read by code of its own. Only what is any JSON is told apart by how it is written.
fn opaque_component(shape: &Shape, written: &str) -> &'static str {
    let name = match shape {
        Shape::Quantity | Shape::ResourceQuantity => "resource.Quantity",
        Shape::IntOrString => "intstr.IntOrString",
        Shape::Time => "meta.Time",
        Shape::MicroTime => "meta.MicroTime",
        Shape::ObjectOrBool(_) => "apiextensions.JSONSchemaPropsOrBool",
        Shape::ObjectOrList(_) => "apiextensions.JSONSchemaPropsOrArray",
        Shape::ObjectOrStrings(_) => "apiextensions.JSONSchemaPropsOrStringArray",
        _ => written,
    };
    OPAQUE
        .iter()
        .find(|(opaque, _, _)| *opaque == name)
        .map_or(FIELDS, |(_, component, _)| component)
}

/// Adds the component of an opaque type at the bottom of a shape.
fn add_opaque(shape: &Shape, written: &str, components: &mut BTreeMap<String, Value>) {
    match shape {
        Shape::Pointer(inner) | Shape::List(inner) | Shape::Map(inner) => add_opaque(inner, written, components),
        Shape::Quantity
        | Shape::ResourceQuantity
        | Shape::IntOrString
        | Shape::Time
        | Shape::MicroTime
        | Shape::Raw
        | Shape::ObjectOrBool(_)
        | Shape::ObjectOrList(_)
        | Shape::ObjectOrStrings(_) => {
            let component = opaque_component(shape, written);
            let known = OPAQUE.iter().find(|(_, name, _)| *name == component);
            let schema = known.map_or(r#"{"type":"object"}"#, |(_, _, schema)| schema);
            let schema = serde_json::from_str(schema).expect("the constants above are JSON");
            components.insert(component.to_owned(), schema);
        }
        _ => {}
    }
}
