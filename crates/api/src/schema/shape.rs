//! Keywords that Kubernetes adds to JSON schema: list and map types, open objects, bounds on maps.

use schemars::{Schema, json_schema, transform::Transform};
use serde_json::{Value, json};

use super::{Rule, marker};

fn set(key: &'static str, value: impl Into<Value>) -> impl Transform {
    let value = value.into();
    move |schema: &mut Schema| {
        schema.insert(key.to_owned(), value.clone());
    }
}

/// The list is a map by these keys, separated by commas: two writers may own different entries.
pub fn list_map(keys: &'static str) -> impl Transform {
    move |schema: &mut Schema| {
        let keys: Vec<&str> = keys.split(',').collect();
        schema.insert("x-kubernetes-list-type".to_owned(), "map".into());
        schema.insert("x-kubernetes-list-map-keys".to_owned(), json!(keys));
    }
}

/// The list is a set: an entry stands in it once.
pub fn list_set() -> impl Transform {
    set("x-kubernetes-list-type", "set")
}

/// The list is replaced as a whole.
pub fn atomic() -> impl Transform {
    set("x-kubernetes-list-type", "atomic")
}

/// The object is replaced as a whole.
pub fn atomic_map() -> impl Transform {
    set("x-kubernetes-map-type", "atomic")
}

/// Two writers may own different entries of the map, as without saying so.
pub fn granular_map() -> impl Transform {
    set("x-kubernetes-map-type", "granular")
}

/// The default that the API server fills in, where the Rust type leaves the field out.
pub fn default_value(value: impl Into<Value>) -> impl Transform {
    set("default", value)
}

/// The named format of a string or number.
pub fn format(name: &'static str) -> impl Transform {
    set("format", name)
}

/// A regular expression as a plain schema keyword.
pub fn pattern(expression: &'static str) -> impl Transform {
    set("pattern", expression)
}

/// The field may be an explicit null.
pub fn nullable() -> impl Transform {
    set(marker::NULLABLE, true)
}

/// The object keeps fields that its schema does not name.
pub fn open() -> impl Transform {
    set("x-kubernetes-preserve-unknown-fields", true)
}

/// How many fields or entries an object or map holds.
pub fn properties(minimum: Option<u32>, maximum: Option<u32>) -> impl Transform {
    move |schema: &mut Schema| {
        for (key, bound) in [("minProperties", minimum), ("maxProperties", maximum)] {
            if let Some(bound) = bound {
                schema.insert(key.to_owned(), bound.into());
            }
        }
    }
}

/// Bounds and rules for each string of a list.
pub fn text_items(minimum: Option<u32>, maximum: Option<u32>, rules: Vec<Rule>) -> impl Transform {
    move |schema: &mut Schema| {
        let mut items = json_schema!({"type": "string"});
        for (key, bound) in [("minLength", minimum), ("maxLength", maximum)] {
            if let Some(bound) = bound {
                items.insert(key.to_owned(), bound.into());
            }
        }
        for mut rule in rules.clone() {
            rule.transform(&mut items);
        }
        schema.insert("items".to_owned(), items.to_value());
    }
}

/// An integer or a string, as Kubernetes writes ports, percentages and quantities.
pub fn int_or_string(pattern: Option<&str>) -> Schema {
    let mut schema = json_schema!({
        "anyOf": [{"type": "integer"}, {"type": "string"}],
        "x-kubernetes-int-or-string": true,
    });
    if let Some(pattern) = pattern {
        schema.insert("pattern".to_owned(), pattern.into());
    }
    schema
}
