//! From the schema that schemars derives to the structural schema of a CustomResourceDefinition.

use serde_json::{Map, Value};

use super::{FeatureSet, VALIDATIONS, marker};

type Object = Map<String, Value>;

/// The structural schema that a feature set publishes, of a schema as schemars derives it.
pub fn structural(mut derived: Value, features: FeatureSet) -> Value {
    normalise(&mut derived, features);
    derived
}

fn normalise(schema: &mut Value, features: FeatureSet) {
    let Some(object) = schema.as_object_mut() else {
        // schemars writes `true` for "any value"; Kubernetes has no boolean schemas.
        *schema = Value::Object(Map::from_iter([(
            "x-kubernetes-preserve-unknown-fields".to_owned(),
            Value::Bool(true),
        )]));
        return;
    };
    object.remove("title");
    join_lines(object);
    object.remove(marker::FEATURE_GATE);
    hoist_optional(object);
    drop_null(object);
    keep_known_format(object);
    integral_bounds(object);
    apply_value_gates(object, features);
    apply_rule_gates(object, features);
    apply_field_gates(object, features);
    for key in ["items", "additionalProperties"] {
        if let Some(child) = object.get_mut(key) {
            normalise_child(child, features);
        }
    }
    if let Some(Value::Object(fields)) = object.get_mut("properties") {
        for field in fields.values_mut() {
            normalise(field, features);
        }
    }
    forget_closed_maps(object);
}

fn normalise_child(child: &mut Value, features: FeatureSet) {
    if child.as_bool() != Some(false) {
        normalise(child, features);
    }
}

/// A comment is broken into lines for the reader of the code; the reader of `kubectl explain` has another width.
fn join_lines(object: &mut Object) {
    let Some(Value::String(description)) = object.get_mut("description") else {
        return;
    };
    let paragraphs: Vec<String> = description
        .split("\n\n")
        .map(|paragraph| paragraph.replace('\n', " "))
        .collect();
    *description = paragraphs.join("\n\n");
}

/// `Option<T>` over a schema with alternatives derives to `anyOf: [T, null]`; Kubernetes wants T itself.
fn hoist_optional(object: &mut Object) {
    let Some(Value::Array(alternatives)) = object.get("anyOf") else {
        return;
    };
    let is_null = |value: &Value| value.get("type").and_then(Value::as_str) == Some("null");
    let others: Vec<Value> = alternatives.iter().filter(|one| !is_null(one)).cloned().collect();
    if others.len() == alternatives.len() || others.len() != 1 {
        return;
    }
    object.remove("anyOf");
    let Some(Value::Object(inner)) = others.into_iter().next() else {
        return;
    };
    for (key, value) in inner {
        match (key.as_str(), object.get_mut(&key)) {
            (VALIDATIONS, Some(Value::Array(outer))) => {
                if let Value::Array(mut rules) = value {
                    rules.append(outer);
                    *outer = rules;
                }
            }
            (_, Some(_)) => {}
            (_, None) => {
                object.insert(key, value);
            }
        }
    }
}

/// An optional field is absent, not null; null stays only where a type asks for it.
fn drop_null(object: &mut Object) {
    if let Some(Value::Array(types)) = object.get("type") {
        let first = types.iter().find(|one| one.as_str() != Some("null")).cloned();
        if let Some(first) = first {
            object.insert("type".to_owned(), first);
        }
    }
    if let Some(Value::Array(values)) = object.get_mut("enum") {
        values.retain(|value| !value.is_null());
    }
    if object.get("default") == Some(&Value::Null) {
        object.remove("default");
    }
    if object.remove(marker::NULLABLE).is_some() {
        object.insert("nullable".to_owned(), Value::Bool(true));
    }
}

/// Rust's unsigned and floating formats mean nothing to an API server, and it warns of them.
fn keep_known_format(object: &mut Object) {
    const KNOWN: &[&str] = &["int32", "int64", "date-time", "duration", "uuid", "uri"];
    let known = object
        .get("format")
        .and_then(Value::as_str)
        .is_none_or(|format| KNOWN.contains(&format));
    if !known {
        object.remove("format");
    }
}

/// `maximum: 100.0` reads better, and applies without a difference, as `maximum: 100`.
fn integral_bounds(object: &mut Object) {
    for key in ["minimum", "maximum"] {
        let Some(bound) = object.get(key).and_then(Value::as_f64) else {
            continue;
        };
        #[expect(clippy::cast_possible_truncation, reason = "bounds lie within 2^53 and are whole")]
        if bound.fract() == 0.0 {
            object.insert(key.to_owned(), Value::from(bound as i64));
        }
    }
}

fn apply_value_gates(object: &mut Object, features: FeatureSet) {
    let Some(Value::Object(gated)) = object.remove(marker::GATED_VALUES) else {
        return;
    };
    let gate_of = |value: &Value| gated.get(value.as_str()?)?.as_str();
    if let Some(Value::Array(values)) = object.get_mut("enum") {
        values.retain(|value| gate_of(value).is_none_or(|gate| features.has_named(gate)));
    }
}

fn apply_rule_gates(object: &mut Object, features: FeatureSet) {
    let Some(Value::Array(rules)) = object.get_mut(VALIDATIONS) else {
        return;
    };
    rules.retain(|rule| is_published(rule, features));
    for rule in rules.iter_mut() {
        if let Some(rule) = rule.as_object_mut() {
            rule.remove(marker::FEATURE_GATE);
        }
    }
    if rules.is_empty() {
        object.remove(VALIDATIONS);
    }
}

fn apply_field_gates(object: &mut Object, features: FeatureSet) {
    let Some(Value::Object(fields)) = object.get_mut("properties") else {
        return;
    };
    let hidden: Vec<String> = fields
        .iter()
        .filter(|(_, field)| !is_published(field, features))
        .map(|(name, _)| name.clone())
        .collect();
    for name in &hidden {
        fields.remove(name);
    }
    if fields.is_empty() {
        object.remove("properties");
    }
    if let Some(Value::Array(required)) = object.get_mut("required") {
        required.retain(|name| name.as_str().is_none_or(|name| !hidden.iter().any(|one| one == name)));
    }
}

fn is_published(schema: &Value, features: FeatureSet) -> bool {
    schema
        .get(marker::FEATURE_GATE)
        .and_then(Value::as_str)
        .is_none_or(|gate| features.has_named(gate))
}

/// A flattened remainder derives to `additionalProperties`, which excludes `properties` in Kubernetes;
/// such a type says that it is open instead.
fn forget_closed_maps(object: &mut Object) {
    if object.contains_key("properties") || object.get("additionalProperties") == Some(&Value::Bool(false)) {
        object.remove("additionalProperties");
    }
}
