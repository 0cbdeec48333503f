//! The metadata of a resource: which fields it has, of which type, and which values they may have (apimachinery,
//! ObjectMeta and ValidateObjectMeta).

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde_json::{Map, Value, json};

use crate::field_error::{BadValue, FieldError};
use crate::go_text;
use crate::names;
use crate::openapi::Definitions;
use crate::path::Path;
use crate::schema::Schema;

/// All annotations of an object together.
const MAX_ANNOTATIONS_BYTES: i64 = 256 * 1024;
/// The longest name of a field manager.
const MAX_MANAGER_BYTES: i64 = 128;
/// The longest name of a subresource in managedFields.
const MAX_SUBRESOURCE_BYTES: i64 = 256;

/// The shape of ObjectMeta, from which unknown fields and wrong types are told.
pub(crate) static SHAPE: LazyLock<Schema> = LazyLock::new(|| {
    let definitions = Definitions::new(&shape()).expect("the definitions are written below and tested");
    definitions
        .schema(OBJECT_META)
        .expect("the definition is written below")
});

const OBJECT_META: &str = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta";

fn shape() -> BTreeMap<String, Value> {
    let string = json!({"type": "string"});
    let integer = json!({"type": "integer", "format": "int64"});
    let boolean = json!({"type": "boolean"});
    let strings = json!({"type": "object", "additionalProperties": string});
    let package = "io.k8s.apimachinery.pkg.apis.meta.v1";
    let reference = |name: &str| json!({"$ref": format!("#/components/schemas/{package}.{name}")});
    let list = |items: Value| json!({"type": "array", "items": items});
    let object = |properties: Value| json!({"type": "object", "properties": properties});
    let definition = |name: &str, schema: Value| (format!("{package}.{name}"), schema);
    BTreeMap::from([
        definition("Time", json!({"type": "string", "format": "date-time"})),
        definition("FieldsV1", json!({"type": "object"})),
        definition(
            "OwnerReference",
            object(json!({
                "apiVersion": string, "kind": string, "name": string, "uid": string,
                "controller": boolean, "blockOwnerDeletion": boolean,
            })),
        ),
        definition(
            "ManagedFieldsEntry",
            object(json!({
                "manager": string, "operation": string, "apiVersion": string, "time": reference("Time"),
                "fieldsType": string, "fieldsV1": reference("FieldsV1"), "subresource": string,
            })),
        ),
        definition(
            "ObjectMeta",
            object(json!({
                "name": string, "generateName": string, "namespace": string, "selfLink": string, "uid": string,
                "resourceVersion": string, "generation": integer, "creationTimestamp": reference("Time"),
                "deletionTimestamp": reference("Time"), "deletionGracePeriodSeconds": integer, "labels": strings,
                "annotations": strings, "ownerReferences": list(reference("OwnerReference")),
                "finalizers": list(string.clone()), "managedFields": list(reference("ManagedFieldsEntry")),
            })),
        ),
    ])
}

/// Fields that are pointers in Go: a zero that was sent stays.
const POINTERS: [&str; 1] = ["deletionGracePeriodSeconds"];

/// Drops unknown fields and, as a round trip through Go does, fields without a value.
pub fn prune(metadata: &mut Value) -> Vec<String> {
    let unknown = SHAPE.prune(metadata);
    if let Value::Object(fields) = metadata {
        fields.retain(|name, value| POINTERS.contains(&name.as_str()) || !is_empty(value));
    }
    unknown
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Bool(_) => false,
        Value::Number(number) => number.as_f64() == Some(0.0),
        Value::String(text) => text.is_empty(),
        Value::Array(entries) => entries.is_empty(),
        Value::Object(fields) => fields.is_empty(),
    }
}

/// What Go's decoder says about metadata of a wrong type.
pub(crate) fn type_error(metadata: &Value) -> Option<String> {
    if !metadata.is_object() && !metadata.is_null() {
        let found = crate::decode::json_word(metadata);
        return Some(format!(
            "json: cannot unmarshal {found} into Go value of type v1.ObjectMeta"
        ));
    }
    SHAPE.type_errors(metadata)
}

/// How the name of an object is checked; the flag says that it is a `generateName`.
pub type NameRule = fn(&str, bool) -> Vec<String>;

/// Complaints about the metadata of a new object; `path` is where it stands, usually `metadata`.
pub fn validate(metadata: &Value, is_namespaced: bool, name_rule: NameRule, path: &str) -> Vec<FieldError> {
    let root = Path::Root(path);
    let text = |name: &str| metadata.get(name).and_then(Value::as_str).unwrap_or_default();
    let mut errors = Vec::new();
    let mut name_errors = |name: &str, is_prefix: bool| {
        for words in name_rule(text(name), is_prefix) {
            errors.push(FieldError::invalid(root.child(name), text(name), words));
        }
    };
    if !text("generateName").is_empty() {
        name_errors("generateName", true);
    }
    if text("name").is_empty() {
        errors.push(FieldError::required(
            root.child("name"),
            "name or generateName is required",
        ));
    } else {
        name_errors("name", false);
    }
    validate_namespace(text("namespace"), is_namespaced, &root, &mut errors);
    errors.extend(validate_parts(metadata, path));
    errors
}

fn validate_namespace(namespace: &str, is_namespaced: bool, root: &Path<'_>, errors: &mut Vec<FieldError>) {
    let path = root.child("namespace");
    match (is_namespaced, namespace) {
        (true, "") => errors.push(FieldError::required(path, "")),
        (true, namespace) => {
            for words in names::dns_1123_label(namespace) {
                errors.push(FieldError::invalid(path.clone(), namespace, words));
            }
        }
        (false, "") => {}
        (false, _) => errors.push(FieldError::forbidden(path, "not allowed on this type")),
    }
}

/// Complaints about everything but the name, the same for new objects and for changed ones.
pub fn validate_parts(metadata: &Value, path: &str) -> Vec<FieldError> {
    let root = Path::Root(path);
    let empty = Map::new();
    let object = |name: &str| metadata.get(name).and_then(Value::as_object).unwrap_or(&empty).clone();
    let list = |name: &str| {
        metadata
            .get(name)
            .and_then(Value::as_array)
            .cloned()
            .unwrap_or_default()
    };
    let mut errors = Vec::new();
    if let Some(generation) = metadata
        .get("generation")
        .and_then(Value::as_i64)
        .filter(|generation| *generation < 0)
    {
        errors.push(FieldError::invalid(
            root.child("generation"),
            generation,
            "must be greater than or equal to 0",
        ));
    }
    validate_labels(&object("labels"), &root.child("labels"), &mut errors);
    validate_annotations(&object("annotations"), &root.child("annotations"), &mut errors);
    validate_owners(&list("ownerReferences"), &root.child("ownerReferences"), &mut errors);
    validate_finalizers(&list("finalizers"), &root.child("finalizers"), &mut errors);
    validate_managers(&list("managedFields"), &root.child("managedFields"), &mut errors);
    errors
}

/// Complaints about labels.
fn validate_labels(labels: &Map<String, Value>, path: &str, errors: &mut Vec<FieldError>) {
    for (key, value) in labels {
        let value = value.as_str().unwrap_or_default();
        errors.extend(
            names::qualified_name(key)
                .into_iter()
                .map(|words| FieldError::invalid(path, key.as_str(), words)),
        );
        errors.extend(
            names::label_value(value)
                .into_iter()
                .map(|words| FieldError::invalid(path, value, words)),
        );
    }
}

fn validate_annotations(annotations: &Map<String, Value>, path: &str, errors: &mut Vec<FieldError>) {
    for key in annotations.keys() {
        let complaints = names::qualified_name(&key.to_lowercase());
        errors.extend(
            complaints
                .into_iter()
                .map(|words| FieldError::invalid(path, key.as_str(), words)),
        );
    }
    let size: usize = annotations
        .iter()
        .map(|(key, value)| key.len() + value.as_str().map_or(0, str::len))
        .sum();
    if i64::try_from(size).unwrap_or(i64::MAX) > MAX_ANNOTATIONS_BYTES {
        errors.push(FieldError::too_long(path, MAX_ANNOTATIONS_BYTES));
    }
}

fn validate_owners(owners: &[Value], path: &str, errors: &mut Vec<FieldError>) {
    let mut controller: Option<String> = None;
    for owner in owners {
        let text = |name: &str| owner.get(name).and_then(Value::as_str).unwrap_or_default();
        if text("apiVersion").rsplit('/').next().unwrap_or_default().is_empty() {
            errors.push(FieldError::invalid(
                format!("{path}.apiVersion"),
                text("apiVersion"),
                "version must not be empty",
            ));
        }
        for name in ["kind", "name", "uid"] {
            if text(name).is_empty() {
                errors.push(FieldError::invalid(format!("{path}.{name}"), "", "must not be empty"));
            }
        }
        if (text("apiVersion"), text("kind")) == ("v1", "Event") {
            errors.push(FieldError::invalid(
                path,
                owner.clone(),
                "/v1, Kind=Event is disallowed from being an owner",
            ));
        }
        if owner.get("controller") == Some(&Value::Bool(true)) {
            let name = format!("{}/{}", text("kind"), text("name"));
            match &controller {
                None => controller = Some(name),
                Some(first) => errors.push(FieldError::invalid(
                    path,
                    owners_text(owners),
                    format!(
                        "Only one reference can have Controller set to true. Found \"true\" in references for {first} and {name}"
                    ),
                )),
            }
        }
    }
}

/// References as upstream prints them: in the order of the fields of its structure.
fn owners_text(owners: &[Value]) -> BadValue {
    const ORDER: [&str; 6] = ["apiVersion", "kind", "name", "uid", "controller", "blockOwnerDeletion"];
    let texts: Vec<String> = owners
        .iter()
        .map(|owner| {
            let fields = ORDER
                .iter()
                .filter_map(|name| Some(format!("{name:?}:{}", owner.get(*name)?)));
            format!("{{{}}}", fields.collect::<Vec<_>>().join(","))
        })
        .collect();
    BadValue::Text(format!("[{}]", texts.join(",")))
}

fn validate_finalizers(finalizers: &[Value], path: &str, errors: &mut Vec<FieldError>) {
    let names: Vec<&str> = finalizers.iter().filter_map(Value::as_str).collect();
    for name in &names {
        let complaints = names::qualified_name(name);
        errors.extend(
            complaints
                .into_iter()
                .map(|words| FieldError::invalid(path, *name, words)),
        );
    }
    if names.contains(&"orphan") && names.contains(&"foregroundDeletion") {
        errors.push(FieldError::invalid(
            path,
            finalizers.to_vec(),
            "finalizer orphan and foregroundDeletion cannot be both set",
        ));
    }
}

fn validate_managers(entries: &[Value], path: &str, errors: &mut Vec<FieldError>) {
    for (index, entry) in entries.iter().enumerate() {
        let text = |name: &str| entry.get(name).and_then(Value::as_str).unwrap_or_default();
        let field = |name: &str| format!("{path}[{index}].{name}");
        if !matches!(text("operation"), "Apply" | "Update") {
            errors.push(FieldError::invalid(
                field("operation"),
                text("operation"),
                "must be `Apply` or `Update`",
            ));
        }
        if !matches!(text("fieldsType"), "" | "FieldsV1") {
            errors.push(FieldError::invalid(
                field("fieldsType"),
                text("fieldsType"),
                "must be `FieldsV1`",
            ));
        }
        errors.extend(validate_manager(text("manager"), &field("manager")));
        if i64::try_from(text("subresource").len()).unwrap_or(i64::MAX) > MAX_SUBRESOURCE_BYTES {
            errors.push(FieldError::too_long(field("subresource"), MAX_SUBRESOURCE_BYTES));
        }
    }
}

/// Complaints about the name of a field manager.
pub fn validate_manager(manager: &str, path: &str) -> Vec<FieldError> {
    let mut errors = Vec::new();
    if i64::try_from(manager.len()).unwrap_or(i64::MAX) > MAX_MANAGER_BYTES {
        errors.push(FieldError::too_long(path, MAX_MANAGER_BYTES));
    }
    for (at, character) in manager
        .char_indices()
        .filter(|(_, character)| !go_text::is_printable(*character))
    {
        let code = u32::from(character);
        let detail = format!("invalid character U+{code:04X} (at position {at})");
        errors.push(FieldError::invalid(path, manager, detail));
    }
    errors
}
