//! Where two sets of objects differ, for people.

use std::collections::BTreeMap;

use serde_json::Value;

/// All differences, each with its place.
pub fn differences(expected: &BTreeMap<String, Value>, found: &BTreeMap<String, Value>) -> Vec<String> {
    let mut lines = Vec::new();
    for (title, expected) in expected {
        match found.get(title) {
            Some(found) => compare(title, expected, found, &mut lines),
            None => lines.push(format!("{title}: only on the embedded server")),
        }
    }
    let more = found.keys().filter(|title| !expected.contains_key(*title));
    lines.extend(more.map(|title| format!("{title}: only on the real server")));
    lines
}

fn compare(place: &str, expected: &Value, found: &Value, lines: &mut Vec<String>) {
    match (expected, found) {
        (Value::Object(left), Value::Object(right)) => {
            for (key, value) in left {
                compare(
                    &format!("{place} {key}"),
                    value,
                    right.get(key).unwrap_or(&Value::Null),
                    lines,
                );
            }
            for (key, value) in right.iter().filter(|(key, _)| !left.contains_key(*key)) {
                compare(&format!("{place} {key}"), &Value::Null, value, lines);
            }
        }
        (Value::Array(left), Value::Array(right)) if left.len() == right.len() => {
            for (index, (left, right)) in left.iter().zip(right).enumerate() {
                compare(&format!("{place} {index}"), left, right, lines);
            }
        }
        _ if expected == found => {}
        _ => lines.push(format!("{place}: embedded {expected}, real {found}")),
    }
}
