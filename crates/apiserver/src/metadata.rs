//! Reading and writing of the metadata that all kinds share, over plain values.

use std::sync::LazyLock;

use jiff::{Timestamp, tz::TimeZone};
use serde_json::{Map, Value};

/// The metadata of an object; an empty map where it has none.
pub(crate) fn of(object: &Value) -> &Map<String, Value> {
    static EMPTY: LazyLock<Map<String, Value>> = LazyLock::new(Map::new);
    object.get("metadata").and_then(Value::as_object).unwrap_or(&EMPTY)
}

/// A string in the metadata; empty where it is missing.
pub(crate) fn text<'a>(object: &'a Value, field: &str) -> &'a str {
    of(object).get(field).and_then(Value::as_str).unwrap_or_default()
}

/// The metadata to write to; an object without any gets it.
pub(crate) fn of_mut(object: &mut Value) -> &mut Map<String, Value> {
    if !object.is_object() {
        *object = Value::Object(Map::new());
    }
    let members = object.as_object_mut().expect("an object was put there");
    let metadata = members.entry("metadata").or_insert_with(|| Value::Object(Map::new()));
    if !metadata.is_object() {
        *metadata = Value::Object(Map::new());
    }
    metadata.as_object_mut().expect("an object was put there")
}

/// Sets a field of the metadata.
pub(crate) fn set(object: &mut Value, field: &str, value: impl Into<Value>) {
    of_mut(object).insert(field.to_owned(), value.into());
}

/// Sets a list in the metadata, or removes it where it is empty.
pub(crate) fn set_list(object: &mut Value, field: &str, list: Vec<Value>) {
    if list.is_empty() {
        remove(object, field);
    } else {
        set(object, field, list);
    }
}

/// Sets a field of the metadata as another object has it, or removes it.
pub(crate) fn copy(object: &mut Value, from: &Value, field: &str) {
    match of(from).get(field) {
        Some(value) => set(object, field, value.clone()),
        None => remove(object, field),
    }
}

/// Removes a field of the metadata.
pub(crate) fn remove(object: &mut Value, field: &str) {
    of_mut(object).remove(field);
}

/// Whether the object is on its way out.
pub(crate) fn is_deleting(object: &Value) -> bool {
    of(object).get("deletionTimestamp").is_some_and(|time| !time.is_null())
}

/// What must happen before the object goes.
pub(crate) fn finalizers(object: &Value) -> impl Iterator<Item = &str> {
    let list = of(object).get("finalizers").and_then(Value::as_array);
    list.into_iter().flatten().filter_map(Value::as_str)
}

/// The generation; 0 where the kind has none.
pub(crate) fn generation(object: &Value) -> i64 {
    of(object).get("generation").and_then(Value::as_i64).unwrap_or_default()
}

/// A time as `metav1.Time` is written: UTC, whole seconds.
pub(crate) fn time(timestamp: Timestamp) -> String {
    timestamp
        .to_zoned(TimeZone::UTC)
        .strftime("%Y-%m-%dT%H:%M:%SZ")
        .to_string()
}
