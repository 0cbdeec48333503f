//! Lists that are sets or maps hold each entry once (structural/listtype).

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use crate::field_error::FieldError;
use crate::go_text;
use crate::node::{Additional, Arena, ListType, NodeId};
use crate::path::Path;

/// Complaints about entries that occur twice, at and below a value.
pub(crate) fn validate(arena: &Arena, id: NodeId, value: &Value, path: &Path<'_>, errors: &mut Vec<FieldError>) {
    let node = &arena[id];
    if !node.contents.lists {
        return;
    }
    match value {
        Value::Object(fields) => {
            if let Additional::Schema(child) = node.additional {
                for (name, field) in fields {
                    validate(arena, child, field, &Path::Key(path, name), errors);
                }
            }
            for (name, field) in fields {
                if let Some(child) = node.properties.get(name) {
                    validate(arena, *child, field, &Path::Field(path, name), errors);
                }
            }
        }
        Value::Array(entries) => {
            match &node.list {
                ListType::Atomic => {}
                ListType::Set => unique(entries, path, errors),
                ListType::Map(keys) => unique_keys(keys, entries, path, errors),
            }
            let Some(items) = node.items else { return };
            for (index, entry) in entries.iter().enumerate() {
                validate(arena, items, entry, &Path::Index(path, index), errors);
            }
        }
        _ => {}
    }
}

fn unique(entries: &[Value], path: &Path<'_>, errors: &mut Vec<FieldError>) {
    for index in repeated(entries.iter().map(identity)) {
        errors.push(FieldError::duplicate(
            Path::Index(path, index).text(),
            entries[index].clone(),
        ));
    }
}

fn unique_keys(keys: &[String], entries: &[Value], path: &Path<'_>, errors: &mut Vec<FieldError>) {
    let odd = entries.iter().position(|entry| !entry.is_null() && !entry.is_object());
    if let Some(index) = odd {
        errors.push(FieldError::invalid(
            Path::Index(path, index).text(),
            entries[index].clone(),
            "must be an object for an array of list-type map",
        ));
        return;
    }
    if entries.len() <= 1 {
        return;
    }
    let found: Vec<Value> = entries.iter().map(|entry| key_of(keys, entry)).collect();
    let identities = found.iter().map(|key| match keys {
        [only] => key.get(only).map_or_else(String::new, identity),
        _ => identity(key),
    });
    for index in repeated(identities) {
        errors.push(FieldError::duplicate(
            Path::Index(path, index).text(),
            found[index].clone(),
        ));
    }
}

/// The keys that the entry has, with their values.
fn key_of(keys: &[String], entry: &Value) -> Value {
    let value = |key: &String| Some((key.clone(), entry.get(key)?.clone()));
    Value::Object(keys.iter().filter_map(value).collect::<Map<_, _>>())
}

/// Where a value occurs for the second time; a third time is not told.
fn repeated(identities: impl Iterator<Item = String>) -> Vec<usize> {
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    let mut repeated = Vec::new();
    for (index, identity) in identities.enumerate() {
        let times = seen.entry(identity).or_default();
        *times += 1;
        if *times == 2 {
            repeated.push(index);
        }
    }
    repeated
}

/// Go tells the scalars 1 and 1.0 apart, but writes both as 1 inside of an object.
fn identity(value: &Value) -> String {
    match value {
        Value::Object(_) | Value::Array(_) => go_text::json(value),
        scalar => scalar.to_string(),
    }
}
