//! A value without some of its parts, or with only those.
//! Expects a value that was checked; which parts, and why, is decided elsewhere.

use serde_json::{Map, Value};

use super::keys;
use crate::{
    element::Element,
    set::Set,
    types::{ListShape, ListType, MapType, Shape, TypeId, Types},
};

/// Takes the paths of a set out of an object.
///
/// A container that loses all it had without being a path itself becomes null, as upstream leaves it; structs never do,
/// because callers name their fields in the set.
pub(crate) fn remove(types: &Types, value: &mut Value, paths: &Set<'_>) {
    remove_from(types, types.root(), value, paths);
}

fn remove_from(types: &Types, type_id: TypeId, value: &mut Value, paths: &Set<'_>) {
    match types.shape(type_id, value) {
        Shape::Scalar(_) => {}
        Shape::Map(map) => remove_from_map(types, map, value, paths),
        Shape::List(list) => remove_from_list(types, list, value, paths),
    }
}

fn remove_from_map(types: &Types, map: &MapType, value: &mut Value, paths: &Set<'_>) {
    let Some(fields) = value.as_object_mut().filter(|_| !map.atomic) else {
        *value = Value::Null;
        return;
    };
    for node in &paths.nodes {
        let Element::Field(name) = node.element else { continue };
        if node.member {
            fields.remove(name);
        } else if let (Some(field), Some(type_id)) = (fields.get_mut(name), map.field(name)) {
            remove_from(types, type_id, field, &node.children);
        }
    }
    if fields.is_empty() {
        *value = Value::Null;
    }
}

fn remove_from_list(types: &Types, list: &ListType, value: &mut Value, paths: &Set<'_>) {
    let Some(items) = value.as_array_mut().filter(|_| list.shape != ListShape::Atomic) else {
        *value = Value::Null;
        return;
    };
    items.retain_mut(|item| {
        let node = keys::element(types, list, item)
            .ok()
            .and_then(|element| paths.get(&element));
        let Some(node) = node else { return true };
        if !node.member {
            remove_from(types, list.element, item, &node.children);
        }
        !node.member
    });
    if items.is_empty() {
        *value = Value::Null;
    }
}

/// The parts of an object that a set names, with the key fields of the list items on the way.
pub(crate) fn extract(types: &Types, value: &Value, paths: &Set<'_>) -> Value {
    extract_from(types, types.root(), value, paths).unwrap_or_else(|| Value::Object(Map::new()))
}

fn extract_from(types: &Types, type_id: TypeId, value: &Value, paths: &Set<'_>) -> Option<Value> {
    match (types.shape(type_id, value), value) {
        (Shape::Map(map), Value::Object(fields)) if !map.atomic && !fields.is_empty() => {
            extract_fields(types, map, fields, paths)
        }
        (Shape::List(list), Value::Array(items)) if list.shape != ListShape::Atomic && !items.is_empty() => {
            extract_items(types, list, items, paths)
        }
        _ => Some(value.clone()),
    }
}

fn extract_fields(types: &Types, map: &MapType, fields: &Map<String, Value>, paths: &Set<'_>) -> Option<Value> {
    let mut kept = Map::new();
    for node in &paths.nodes {
        let Element::Field(name) = node.element else { continue };
        if let (Some(field), Some(type_id)) = (fields.get(name), map.field(name)) {
            let part =
                extract_from(types, type_id, field, &node.children).or_else(|| node.member.then(|| emptied(field)));
            kept.extend(part.map(|part| (name.to_owned(), part)));
        }
    }
    (!kept.is_empty()).then_some(Value::Object(kept))
}

/// A container that is owned while nothing in it is: it was applied empty.
fn emptied(container: &Value) -> Value {
    if container.is_array() {
        Value::Array(Vec::new())
    } else {
        Value::Object(Map::new())
    }
}

fn extract_items(types: &Types, list: &ListType, items: &[Value], paths: &Set<'_>) -> Option<Value> {
    let mut kept = Vec::new();
    for item in items {
        let Ok(element) = keys::element(types, list, item) else {
            continue;
        };
        let Some(node) = paths.get(&element) else { continue };
        let mut part =
            extract_from(types, list.element, item, &node.children).unwrap_or_else(|| Value::Object(Map::new()));
        if let (Element::Key(key), Value::Object(fields)) = (&element, &mut part) {
            fields.extend(key.iter().map(|field| (field.name.to_string(), field.value.to_value())));
        }
        kept.push(part);
    }
    (!kept.is_empty()).then_some(Value::Array(kept))
}
