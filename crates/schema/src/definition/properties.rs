//! What each level of a schema may say, apart from being structural.

use serde_json::{Map, Value};

use crate::builder::{flag, strings, text};
use crate::field_error::FieldError;
use crate::structural::{as_object, join, property_path, subschemas};

/// The types of OpenAPI.
const TYPES: [&str; 6] = ["array", "boolean", "integer", "number", "object", "string"];

/// Whether a schema or any schema inside of it has some property.
pub(super) fn any(schema: &Value, is_odd: &impl Fn(&Map<String, Value>) -> bool) -> bool {
    let fields = as_object(schema);
    is_odd(fields) || subschemas(fields).any(|inner| any(inner, is_odd))
}

/// Whether there is a default somewhere.
pub(super) fn has_defaults(schema: &Value) -> bool {
    any(schema, &|schema| {
        schema.get("default").is_some_and(|default| !default.is_null())
    })
}

/// A type that OpenAPI does not know.
pub(super) fn has_invalid_type(schema: &Map<String, Value>) -> bool {
    let kind = text(schema, "type");
    !kind.is_empty() && !TYPES.contains(&kind)
}

/// A set whose entries can be owned in parts.
pub(super) fn is_set_of_divisibles(schema: &Map<String, Value>) -> bool {
    text(schema, "x-kubernetes-list-type") == "set"
        && schema.get("items").is_some_and(|items| {
            let items = as_object(items);
            match text(items, "type") {
                "array" => !matches!(text(items, "x-kubernetes-list-type"), "" | "atomic"),
                "object" => text(items, "x-kubernetes-map-type") != "atomic",
                _ => false,
            }
        })
}

/// What the place of a schema forbids.
#[derive(Clone, Debug)]
pub(super) struct Place {
    /// Why defaults are not allowed.
    pub(super) forbids_defaults: Option<String>,
    /// Whether the schema is about metadata.
    pub(super) is_metadata: bool,
    pub(super) requires_valid_types: bool,
}

/// Complaints that do not look below.
pub(super) fn validate(schema: &Map<String, Value>, place: &Place, path: &str, errors: &mut Vec<FieldError>) {
    let mut forbid = |name: &str, detail: String| errors.push(FieldError::forbidden(join(path, name), detail));
    if schema.get("default").is_some_and(|default| !default.is_null())
        && let Some(reason) = &place.forbids_defaults
    {
        forbid("default", format!("must not be set {reason}").trim_end().to_owned());
    }
    for (name, field) in [
        ("id", "id"),
        ("additionalItems", "additionalItems"),
        ("patternProperties", "patternProperties"),
        ("definitions", "definitions"),
        ("dependencies", "dependencies"),
        ("$ref", "$ref"),
    ] {
        let is_set = schema.get(field).is_some_and(|value| match value {
            Value::Null => false,
            Value::String(text) => !text.is_empty() || field == "$ref",
            Value::Object(fields) => !fields.is_empty() || matches!(field, "additionalItems" | "dependencies"),
            _ => true,
        });
        if is_set {
            forbid(name, format!("{name} is not supported"));
        }
    }
    if text(schema, "type") == "null" {
        forbid(
            "type",
            "type cannot be set to null, use nullable as an alternative".to_owned(),
        );
    }
    if schema
        .get("items")
        .and_then(Value::as_array)
        .is_some_and(|items| !items.is_empty())
    {
        forbid("items", "items must be a schema object and not an array".to_owned());
    }
    if place.is_metadata && flag(schema, "x-kubernetes-embedded-resource") {
        forbid(
            "x-kubernetes-embedded-resource",
            "must not be used inside of resource meta".to_owned(),
        );
    }
    if flag(schema, "uniqueItems") {
        forbid(
            "uniqueItems",
            "uniqueItems cannot be set to true since the runtime complexity becomes quadratic".to_owned(),
        );
    }
    if place.requires_valid_types && has_invalid_type(schema) {
        errors.push(FieldError::not_supported(
            join(path, "type"),
            text(schema, "type"),
            TYPES,
        ));
    }
}

/// Complaints about the topology of maps and lists.
pub(super) fn validate_topology(
    schema: &Map<String, Value>,
    requires_atomic_sets: bool,
    path: &str,
    errors: &mut Vec<FieldError>,
) {
    const PRESERVE: &str = "x-kubernetes-preserve-unknown-fields";
    if schema.get(PRESERVE) == Some(&Value::Bool(false)) {
        errors.push(FieldError::invalid(
            join(path, PRESERVE),
            false,
            "must be true or undefined",
        ));
    }
    let kind = text(schema, "type");
    for (name, wanted, known) in [
        ("x-kubernetes-map-type", "object", &["atomic", "granular"][..]),
        ("x-kubernetes-list-type", "array", &["atomic", "set", "map"][..]),
    ] {
        let Some(found) = schema.get(name).and_then(Value::as_str) else {
            continue;
        };
        if kind != wanted {
            let detail = format!("must be {wanted} if {name} is specified");
            errors.push(match kind {
                "" => FieldError::required(join(path, "type"), detail),
                kind => FieldError::invalid(join(path, "type"), kind, detail),
            });
        } else if requires_atomic_sets && found == "set" && is_set_of_divisibles(schema) {
            errors.push(divisible(schema, path));
        }
        if !known.contains(&found) {
            errors.push(FieldError::not_supported(
                join(path, name),
                found,
                known.iter().copied(),
            ));
        }
    }
    validate_list_map(schema, path, errors);
}

fn divisible(schema: &Map<String, Value>, path: &str) -> FieldError {
    let items = as_object(&schema["items"]);
    let name = if text(items, "type") == "array" {
        "x-kubernetes-list-type"
    } else {
        "x-kubernetes-map-type"
    };
    let found = items.get("x-kubernetes-list-type").cloned().unwrap_or(Value::Null);
    FieldError::invalid(
        join(&join(path, "items"), name),
        found,
        "must be atomic as item of a list with x-kubernetes-list-type=set",
    )
}

fn validate_list_map(schema: &Map<String, Value>, path: &str, errors: &mut Vec<FieldError>) {
    const KEYS: &str = "x-kubernetes-list-map-keys";
    const LIST: &str = "x-kubernetes-list-type";
    let keys = strings(schema, KEYS);
    let list = schema.get(LIST).and_then(Value::as_str);
    if !keys.is_empty() && list != Some("map") {
        let detail = format!("must be map if {KEYS} is non-empty");
        errors.push(match list {
            None => FieldError::required(join(path, LIST), detail),
            Some(found) => FieldError::invalid(join(path, LIST), found, detail),
        });
    }
    if list != Some("map") {
        return;
    }
    if keys.is_empty() {
        errors.push(FieldError::required(
            join(path, KEYS),
            format!("must not be empty if {LIST} is map"),
        ));
    }
    let Some(items) = schema.get("items").filter(|items| !items.is_null()) else {
        errors.push(FieldError::required(
            join(path, "items"),
            format!("must have a schema if {LIST} is map"),
        ));
        return;
    };
    let items = as_object(items);
    if text(items, "type") != "object" {
        errors.push(FieldError::invalid(
            join(path, "items.type"),
            text(items, "type"),
            format!("must be object if parent array's {LIST} is map"),
        ));
        return;
    }
    for (index, key) in keys.iter().enumerate() {
        let property = items
            .get("properties")
            .and_then(|properties| properties.get(key))
            .map(as_object);
        let refuse = |detail: &str| FieldError::invalid(join(path, KEYS), keys.clone(), detail);
        match property {
            None => errors.push(refuse("entries must all be names of item properties")),
            Some(property) if matches!(text(property, "type"), "array" | "object") => errors.push(FieldError::invalid(
                format!("{}.type", property_path(&join(path, "items"), key)),
                text(items, "type"),
                format!("must be a scalar type if parent array's {LIST} is map"),
            )),
            Some(_) => {}
        }
        if keys[..index].contains(key) {
            errors.push(refuse("must not contain duplicate entries"));
        }
    }
}

/// Complaints about keys that an entry of a list may lack.
pub(super) fn list_key_errors(schema: &Map<String, Value>, path: &str) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let list = text(schema, "x-kubernetes-list-type");
    let Some(items) = schema.get("items").filter(|items| items.is_object()) else {
        return errors;
    };
    if !matches!(list, "set" | "map") {
        return errors;
    }
    let items = as_object(items);
    let path = join(path, "items");
    if flag(items, "nullable") {
        let detail = format!("cannot be nullable when x-kubernetes-list-type is {list}");
        errors.push(FieldError::forbidden(join(&path, "nullable"), detail));
    }
    if list != "map" {
        return errors;
    }
    let required = strings(items, "required");
    for key in strings(schema, "x-kubernetes-list-map-keys") {
        let Some(property) = items.get("properties").and_then(|properties| properties.get(&key)) else {
            continue;
        };
        let property_path = property_path(&path, &key);
        if !required.contains(&key) && property.get("default").is_none_or(Value::is_null) {
            errors.push(FieldError::required(
                join(&property_path, "default"),
                "this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property",
            ));
        }
        if flag(as_object(property), "nullable") {
            errors.push(FieldError::forbidden(
                join(&property_path, "nullable"),
                "this property is in x-kubernetes-list-map-keys, so it cannot be nullable",
            ));
        }
    }
    errors
}
