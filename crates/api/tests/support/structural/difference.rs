//! What a trip through a Rust type changed in a document, apart from what Go's types change too.

use serde_json::Value;

use super::{field_schema, required};

/// Every path at which two documents differ. These are not differences, because Go's types make them too:
/// an optional list or map that is empty, or an optional field that is null, may be left out (`omitempty`); and an
/// optional object that is absent may be written as an empty one, or as one of empty ones (a struct that is not a
/// pointer). An object that is there stays there, even when it is empty, since its presence can mean something.
pub fn differences(schema: &Value, before: &Value, after: &Value) -> Vec<String> {
    let mut found = Vec::new();
    compare(schema, before, after, "", &mut found);
    found
}

fn compare(schema: &Value, before: &Value, after: &Value, path: &str, found: &mut Vec<String>) {
    match (before, after) {
        (Value::Object(old), Value::Object(new)) => {
            let mut names: Vec<&String> = old.keys().chain(new.keys()).collect();
            names.sort_unstable();
            names.dedup();
            for name in names {
                let path = format!("{path}.{name}");
                match (old.get(name), new.get(name), field_schema(schema, name)) {
                    (Some(before), Some(after), Some(field)) => compare(field, before, after, &path, found),
                    (Some(before), Some(after), None) if before == after => {}
                    (Some(before), None, Some(field)) if may_be_left_out(schema, name, field, before) => {}
                    (None, Some(after), Some(_)) if is_named(schema, name) && is_hollow(after) => {}
                    (before, after, _) => found.push(format!("{path}: {before:?} became {after:?}")),
                }
            }
        }
        (Value::Array(old), Value::Array(new)) if old.len() == new.len() => {
            let items = schema.get("items").unwrap_or(&Value::Null);
            for (index, (before, after)) in old.iter().zip(new).enumerate() {
                compare(items, before, after, &format!("{path}[{index}]"), found);
            }
        }
        _ if before == after => {}
        _ => found.push(format!("{path}: {before} became {after}")),
    }
}

fn may_be_left_out(parent: &Value, name: &str, field: &Value, value: &Value) -> bool {
    let is_map = field.get("additionalProperties").is_some();
    let is_empty = match value {
        Value::Null => true,
        Value::Array(items) => items.is_empty(),
        Value::Object(entries) => is_map && entries.is_empty(),
        _ => false,
    };
    is_empty && is_named(parent, name) && required(parent).all(|required| required != name)
}

/// Whether the schema names the field; an entry of a map is never left out or made up.
fn is_named(parent: &Value, name: &str) -> bool {
    parent
        .get("properties")
        .is_some_and(|fields| fields.get(name).is_some())
}

fn is_hollow(value: &Value) -> bool {
    value.as_object().is_some_and(|fields| fields.values().all(is_hollow))
}
