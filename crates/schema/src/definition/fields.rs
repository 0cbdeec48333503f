//! Small questions to JSON.

use serde_json::Value;

/// A string, or nothing.
pub(super) fn text<'a>(value: &'a Value, name: &str) -> &'a str {
    value.get(name).and_then(Value::as_str).unwrap_or_default()
}

/// A list, or an empty one.
pub(super) fn list<'a>(value: &'a Value, name: &str) -> &'a [Value] {
    value.get(name).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// A field that is there and not null.
pub(super) fn present<'a>(value: &'a Value, name: &str) -> Option<&'a Value> {
    value.get(name).filter(|value| !value.is_null())
}

/// A flag.
pub(super) fn flag(value: &Value, name: &str) -> bool {
    value.get(name).and_then(Value::as_bool).unwrap_or_default()
}

/// Whether the status says that the definition is served.
pub(super) fn is_established(definition: &Value) -> bool {
    list(&definition["status"], "conditions")
        .iter()
        .any(|condition| text(condition, "type") == "Established" && text(condition, "status") == "True")
}
