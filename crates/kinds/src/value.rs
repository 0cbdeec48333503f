//! Small readers and writers of JSON objects. Knows nothing of Kubernetes.

use serde_json::{Map, Value};

/// The value below `value` at a path of field names, `spec.template.metadata`.
pub(crate) fn at<'a>(value: &'a Value, path: &str) -> Option<&'a Value> {
    path.split('.').try_fold(value, |value, name| value.get(name))
}

/// The text at a path, empty where there is none.
pub(crate) fn text<'a>(value: &'a Value, path: &str) -> &'a str {
    at(value, path).and_then(Value::as_str).unwrap_or_default()
}

/// The number at a path.
pub(crate) fn number(value: &Value, path: &str) -> Option<i64> {
    at(value, path).and_then(Value::as_i64)
}

/// Whether the boolean at a path is true.
pub(crate) fn is_true(value: &Value, path: &str) -> bool {
    at(value, path).and_then(Value::as_bool) == Some(true)
}

/// The entries of the list at a path, none where there is no list.
pub(crate) fn list<'a>(value: &'a Value, path: &str) -> &'a [Value] {
    at(value, path).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// The object at a path, if there is one.
pub(crate) fn object<'a>(value: &'a Value, path: &str) -> Option<&'a Map<String, Value>> {
    at(value, path).and_then(Value::as_object)
}

/// Sets a field that is absent.
pub(crate) fn put(map: &mut Map<String, Value>, name: &str, value: impl Into<Value>) {
    if map.get(name).is_none_or(Value::is_null) {
        map.insert(name.to_owned(), value.into());
    }
}

/// Sets a text that is absent or empty.
pub(crate) fn put_text(map: &mut Map<String, Value>, name: &str, value: &str) {
    if map.get(name).is_none_or(|found| found.is_null() || found == "") {
        map.insert(name.to_owned(), Value::from(value));
    }
}

/// Sets a number that is absent or zero.
pub(crate) fn put_number(map: &mut Map<String, Value>, name: &str, value: i64) {
    if map
        .get(name)
        .is_none_or(|found| found.is_null() || found.as_i64() == Some(0))
    {
        map.insert(name.to_owned(), Value::from(value));
    }
}

/// The object in a field, made if it is absent.
pub(crate) fn entry<'a>(map: &'a mut Map<String, Value>, name: &str) -> &'a mut Map<String, Value> {
    let value = map.entry(name).or_insert(Value::Null);
    if !value.is_object() {
        *value = Value::Object(Map::new());
    }
    value.as_object_mut().expect("it was just made an object")
}

/// The text in a field of an object, empty where there is none.
pub(crate) fn field<'a>(map: &'a Map<String, Value>, name: &str) -> &'a str {
    map.get(name).and_then(Value::as_str).unwrap_or_default()
}

/// Whether a field holds neither null, nor an empty text, list or object.
pub(crate) fn is_set(value: Option<&Value>) -> bool {
    match value {
        None | Some(Value::Null) => false,
        Some(Value::String(text)) => !text.is_empty(),
        Some(Value::Array(list)) => !list.is_empty(),
        Some(Value::Object(map)) => !map.is_empty(),
        Some(_) => true,
    }
}

/// Makes a field of `object` what it is in `old`, absent if it is absent there.
pub(crate) fn carry_over(object: &mut Value, old: &Value, name: &str) {
    let Some(map) = object.as_object_mut() else { return };
    match old.get(name) {
        Some(value) => map.insert(name.to_owned(), value.clone()),
        None => map.remove(name),
    };
}
