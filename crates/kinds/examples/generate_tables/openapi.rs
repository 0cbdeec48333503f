//! The facts that a server's OpenAPI documents add to the Go types: how lists merge, real defaults, enumerations, what
//! is required. Descriptions are left behind.

use serde_json::{Map, Value};

/// The attributes of a component, as words of the table.
pub fn type_attributes(component: &Value) -> Vec<String> {
    let mut words = Vec::new();
    if let Some(kinds) = component["x-kubernetes-group-version-kind"]
        .as_array()
        .filter(|kinds| kinds.len() == 1)
    {
        let part = |name: &str| kinds[0][name].as_str().unwrap_or_default().to_owned();
        words.push(format!("kind={}/{}/{}", part("group"), part("version"), part("kind")));
    }
    if let Some(map_type) = component["x-kubernetes-map-type"].as_str() {
        words.push(format!("map={map_type}"));
    }
    if let Some(unions) = component.get("x-kubernetes-unions") {
        words.push(format!("unions={unions}"));
    }
    words
}

/// The attributes of a property, as words of the table.
pub fn field_attributes(component: &Value, name: &str, derived_default: Option<&Value>) -> Vec<String> {
    let empty = Map::new();
    let property = component["properties"][name].as_object().unwrap_or(&empty);
    let mut words = Vec::new();
    if component["required"]
        .as_array()
        .is_some_and(|required| required.iter().any(|entry| entry == name))
    {
        words.push("required".to_owned());
    }
    match property.get("default") {
        given if given == derived_default => {}
        Some(given) => words.push(format!("default={given}")),
        None => words.push("default=".to_owned()),
    }
    for (key, word) in [("x-kubernetes-list-type", "list"), ("x-kubernetes-map-type", "map")] {
        if let Some(value) = property.get(key).and_then(Value::as_str) {
            words.push(format!("{word}={value}"));
        }
    }
    if let Some(keys) = property.get("x-kubernetes-list-map-keys").and_then(Value::as_array) {
        words.push(format!("keys={}", joined(keys)));
    }
    for (key, word) in [
        ("x-kubernetes-patch-strategy", "patch"),
        ("x-kubernetes-patch-merge-key", "patchkey"),
    ] {
        if let Some(value) = property.get(key).and_then(Value::as_str) {
            words.push(format!("{word}={value}"));
        }
    }
    let nested = property.get("items").or_else(|| property.get("additionalProperties"));
    for (schema, word) in [(Some(&Value::Object(property.clone())), "enum"), (nested, "itemenum")] {
        if let Some(values) = schema.and_then(|schema| schema["enum"].as_array()) {
            words.push(format!("{word}={}", joined(values)));
        }
    }
    words
}

/// Values with commas between them; words of a table have no blanks, so those become tildes.
fn joined(values: &[Value]) -> String {
    let texts: Vec<String> = values
        .iter()
        .filter_map(Value::as_str)
        .map(|text| text.replace(' ', "~"))
        .collect();
    texts.join(",")
}
