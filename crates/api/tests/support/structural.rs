//! What an API server does with a document and the structural part of its schema: prune, default, validate.
//!
//! Pure functions on JSON. Rules in CEL are not judged here: those need a real API server.

pub mod difference;

use std::{cell::RefCell, collections::BTreeMap};

use regex::Regex;
use serde_json::{Map, Value};

const OPEN: &str = "x-kubernetes-preserve-unknown-fields";
const INT_OR_STRING: &str = "x-kubernetes-int-or-string";

/// A place in a document, and the keyword of the schema that the value there breaks.
pub type Violation = (String, &'static str);

/// The document without the fields that the schema does not know. It is a whole object: its apiVersion, kind and
/// metadata are kept as they are.
pub fn prune(schema: &Value, document: &Value) -> Value {
    let mut pruned = document.clone();
    prune_value(schema, &mut pruned);
    for name in ["apiVersion", "kind", "metadata"] {
        if let Some(value) = document.get(name) {
            pruned[name] = value.clone();
        }
    }
    pruned
}

fn prune_value(schema: &Value, value: &mut Value) {
    match value {
        Value::Object(fields) => {
            if !is_open(schema) {
                fields.retain(|name, _| field_schema(schema, name).is_some());
            }
            for (name, field) in fields.iter_mut() {
                if let Some(schema) = field_schema(schema, name) {
                    prune_value(schema, field);
                }
            }
        }
        Value::Array(items) => {
            if let Some(schema) = schema.get("items") {
                for item in items {
                    prune_value(schema, item);
                }
            }
        }
        _ => {}
    }
}

/// The document with the defaults of the schema filled in, also inside of what was filled in, and without nulls where
/// the schema allows none.
pub fn default(schema: &Value, document: &Value) -> Value {
    let mut defaulted = document.clone();
    fill_in(schema, &mut defaulted);
    drop_nulls(schema, &mut defaulted);
    defaulted
}

fn fill_in(schema: &Value, value: &mut Value) {
    match value {
        Value::Object(fields) => {
            for (name, field) in properties(schema) {
                let is_missing = fields.get(name).is_none_or(|value| is_stray_null(field, value));
                if let Some(default) = field.get("default").filter(|_| is_missing) {
                    fields.insert(name.clone(), default.clone());
                }
            }
            for (name, value) in fields.iter_mut() {
                if let Some(field) = field_schema(schema, name) {
                    replace_null_and_fill_in(field, value);
                }
            }
        }
        Value::Array(items) => {
            if let Some(schema) = schema.get("items") {
                for item in items {
                    replace_null_and_fill_in(schema, item);
                }
            }
        }
        _ => {}
    }
}

fn replace_null_and_fill_in(schema: &Value, value: &mut Value) {
    if is_stray_null(schema, value)
        && let Some(default) = schema.get("default")
    {
        *value = default.clone();
    }
    fill_in(schema, value);
}

fn drop_nulls(schema: &Value, value: &mut Value) {
    match value {
        Value::Object(fields) => {
            fields.retain(|name, value| field_schema(schema, name).is_none_or(|field| !is_stray_null(field, value)));
            for (name, value) in fields.iter_mut() {
                if let Some(field) = field_schema(schema, name) {
                    drop_nulls(field, value);
                }
            }
        }
        Value::Array(items) => {
            if let Some(schema) = schema.get("items") {
                for item in items {
                    drop_nulls(schema, item);
                }
            }
        }
        _ => {}
    }
}

/// Every place where the document breaks a keyword of the schema, all at once.
pub fn validate(schema: &Value, document: &Value) -> Vec<Violation> {
    let mut violations = Vec::new();
    validate_value(schema, document, "", &mut violations);
    violations
}

fn validate_value(schema: &Value, value: &Value, path: &str, violations: &mut Vec<Violation>) {
    let broken = |keyword| (path.to_owned(), keyword);
    if value.is_null() && schema.get("nullable") == Some(&Value::Bool(true)) {
        return;
    }
    if !has_type(schema, value) {
        violations.push(broken("type"));
        return;
    }
    if schema
        .get("enum")
        .and_then(Value::as_array)
        .is_some_and(|words| !words.contains(value))
    {
        violations.push(broken("enum"));
    }
    match value {
        Value::String(text) => violations.extend(text_keywords(schema, text).map(broken)),
        Value::Number(_) => violations.extend(number_keywords(schema, value).map(broken)),
        Value::Array(items) => {
            violations.extend(list_keywords(schema, items).map(broken));
            if let Some(schema) = schema.get("items") {
                for (index, item) in items.iter().enumerate() {
                    validate_value(schema, item, &format!("{path}[{index}]"), violations);
                }
            }
        }
        Value::Object(fields) => validate_fields(schema, fields, path, violations),
        Value::Bool(_) | Value::Null => {}
    }
}

fn validate_fields(schema: &Value, fields: &Map<String, Value>, path: &str, violations: &mut Vec<Violation>) {
    violations.extend(
        required(schema)
            .filter(|name| !fields.contains_key(*name))
            .map(|name| (format!("{path}.{name}"), "required")),
    );
    violations.extend(
        out_of_bounds(schema, fields.len(), "minProperties", "maxProperties").map(|keyword| (path.to_owned(), keyword)),
    );
    for (name, value) in fields {
        if let Some(field) = field_schema(schema, name) {
            validate_value(field, value, &format!("{path}.{name}"), violations);
        }
    }
}

fn has_type(schema: &Value, value: &Value) -> bool {
    if schema.get(INT_OR_STRING) == Some(&Value::Bool(true)) {
        return value.is_i64() || value.is_string();
    }
    match schema.get("type").and_then(Value::as_str) {
        None => !value.is_null(),
        Some("string") => value.is_string(),
        Some("integer") => value.is_i64() || value.is_u64(),
        Some("number") => value.is_number(),
        Some("boolean") => value.is_boolean(),
        Some("array") => value.is_array(),
        Some("object") => value.is_object(),
        Some(_) => false,
    }
}

fn text_keywords(schema: &Value, text: &str) -> impl Iterator<Item = &'static str> {
    let pattern = schema
        .get("pattern")
        .and_then(Value::as_str)
        .is_some_and(|pattern| !matches(pattern, text));
    let format = schema
        .get("format")
        .and_then(Value::as_str)
        .is_some_and(|format| !has_format(format, text));
    out_of_bounds(schema, text.chars().count(), "minLength", "maxLength")
        .chain(pattern.then_some("pattern"))
        .chain(format.then_some("format"))
}

fn number_keywords(schema: &Value, value: &Value) -> impl Iterator<Item = &'static str> {
    let below = bound(schema, "minimum").is_some_and(|least| value.as_f64() < Some(least));
    let above = bound(schema, "maximum").is_some_and(|most| value.as_f64() > Some(most));
    let format = schema.get("format").and_then(Value::as_str) == Some("int32")
        && value.as_i64().is_some_and(|number| i32::try_from(number).is_err());
    [(below, "minimum"), (above, "maximum"), (format, "format")]
        .into_iter()
        .filter_map(|(is_broken, keyword)| is_broken.then_some(keyword))
}

fn list_keywords(schema: &Value, items: &[Value]) -> impl Iterator<Item = &'static str> {
    let keys: Vec<Value> = items.iter().filter_map(|item| identity(schema, item)).collect();
    let repeats = keys.iter().enumerate().any(|(index, key)| keys[..index].contains(key));
    out_of_bounds(schema, items.len(), "minItems", "maxItems").chain(repeats.then_some("x-kubernetes-list-type"))
}

fn out_of_bounds(
    schema: &Value,
    size: usize,
    least: &'static str,
    most: &'static str,
) -> impl Iterator<Item = &'static str> + use<> {
    let is_small = size_bound(schema, least).is_some_and(|bound| size < bound);
    let is_large = size_bound(schema, most).is_some_and(|bound| size > bound);
    is_small.then_some(least).into_iter().chain(is_large.then_some(most))
}

/// What makes an item of a set or of a list with keys the same as another; none where items may repeat.
pub fn identity(schema: &Value, item: &Value) -> Option<Value> {
    match schema.get("x-kubernetes-list-type").and_then(Value::as_str) {
        Some("set") => Some(item.clone()),
        Some("map") => {
            let keys = schema.get("x-kubernetes-list-map-keys")?.as_array()?;
            keys.iter()
                .map(|key| Some(key_value(schema, item, key.as_str()?)))
                .collect()
        }
        _ => None,
    }
}

/// A key that is left out stands for its default.
fn key_value(schema: &Value, item: &Value, key: &str) -> Value {
    let default = || schema.pointer("/items/properties")?.get(key)?.get("default").cloned();
    item.get(key).cloned().or_else(default).unwrap_or(Value::Null)
}

/// Whether a text matches a pattern of a schema, which is not anchored by itself.
pub fn matches(pattern: &str, text: &str) -> bool {
    thread_local! {
        static COMPILED: RefCell<BTreeMap<String, Regex>> = const { RefCell::new(BTreeMap::new()) };
    }
    COMPILED.with_borrow_mut(|compiled| {
        compiled
            .entry(pattern.to_owned())
            .or_insert_with(|| Regex::new(pattern).expect("a pattern of a schema is a regular expression"))
            .is_match(text)
    })
}

fn has_format(format: &str, text: &str) -> bool {
    match format {
        "date-time" => text.parse::<jiff::Timestamp>().is_ok(),
        "uuid" => matches("^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$", text),
        "uri" => matches("^[a-zA-Z][a-zA-Z0-9+.-]*:", text),
        _ => true,
    }
}

/// The schema of a field, by its own name or as an entry of a map.
pub fn field_schema<'schema>(schema: &'schema Value, name: &str) -> Option<&'schema Value> {
    schema
        .get("properties")
        .and_then(|fields| fields.get(name))
        .or_else(|| schema.get("additionalProperties").filter(|entries| entries.is_object()))
}

/// The named fields of an object.
pub fn properties(schema: &Value) -> impl Iterator<Item = (&String, &Value)> {
    schema
        .get("properties")
        .and_then(Value::as_object)
        .into_iter()
        .flatten()
}

/// The fields that an object must have.
pub fn required(schema: &Value) -> impl Iterator<Item = &str> {
    schema
        .get("required")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
}

/// Whether an object keeps fields that its schema does not name.
pub fn is_open(schema: &Value) -> bool {
    schema.get(OPEN) == Some(&Value::Bool(true))
}

/// A bound on how much there is of something.
pub fn size_bound(schema: &Value, keyword: &str) -> Option<usize> {
    schema.get(keyword)?.as_u64()?.try_into().ok()
}

fn bound(schema: &Value, keyword: &str) -> Option<f64> {
    schema.get(keyword)?.as_f64()
}

fn is_stray_null(schema: &Value, value: &Value) -> bool {
    value.is_null() && schema.get("nullable") != Some(&Value::Bool(true))
}
