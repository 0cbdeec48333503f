//! What a built-in object is before anything is set: Go's zero value of its type as JSON, told from OpenAPI.
//! It is the left side when the first owner of an object is found, and decides which containers count as added.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::openapi::referred;

/// Zero values nest as deep as Go's structs without pointers do; a schema that goes on says something else.
const DEEPEST: usize = 16;

pub(super) fn empty_object(name: &str, definitions: &BTreeMap<String, Value>) -> Value {
    empty(name, definitions, 0)
}

fn empty(name: &str, definitions: &BTreeMap<String, Value>, depth: usize) -> Value {
    let mut fields = Map::new();
    let Some(schema) = definitions.get(name).filter(|_| depth < DEEPEST) else {
        return Value::Object(fields);
    };
    let required: Vec<&str> = schema["required"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    for (name, property) in schema["properties"].as_object().into_iter().flatten() {
        if let Some(zero) = zero(property, required.contains(&name.as_str()), definitions, depth) {
            fields.insert(name.clone(), zero);
        }
    }
    Value::Object(fields)
}

/// A struct that is not a pointer has an empty default, a scalar that is always written its zero, a required list or
/// pointer none. A default that is not a zero value is given by the server later and is not part of Go's zero value.
fn zero(property: &Value, required: bool, definitions: &BTreeMap<String, Value>, depth: usize) -> Option<Value> {
    match property.get("default") {
        Some(Value::Object(_)) => Some(empty(referred(property)?, definitions, depth + 1)),
        Some(default) => is_zero(default).then(|| default.clone()),
        None => (required || is_time(property, definitions)).then_some(Value::Null),
    }
}

/// Times are written as null when they are not pointers. OpenAPI does not tell, and a null where Go has nothing makes
/// no difference: nobody owns it.
fn is_time(property: &Value, definitions: &BTreeMap<String, Value>) -> bool {
    referred(property)
        .and_then(|name| definitions.get(name))
        .is_some_and(|schema| schema["format"] == "date-time")
}

fn is_zero(default: &Value) -> bool {
    match default {
        Value::String(text) => text.is_empty(),
        Value::Number(number) => number.as_f64() == Some(0.0),
        Value::Bool(flag) => !flag,
        _ => false,
    }
}
