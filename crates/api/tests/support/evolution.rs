//! Judges whether a newer schema still takes all that an older one took: the rule by which an API may grow.

use std::collections::BTreeSet;

use serde_json::Value;

/// Everything by which `new` would refuse, lose or change what `old` accepted; empty when it only grew.
pub fn breaks(old: &Value, new: &Value) -> Vec<String> {
    let mut found = Vec::new();
    compare(old, new, "", &mut found);
    found
}

fn compare(old: &Value, new: &Value, path: &str, found: &mut Vec<String>) {
    same_shape(old, new, path, found);
    no_narrower(old, new, path, found);
    no_fewer_words(old, new, path, found);
    nothing_newly_required(old, new, path, found);
    for (name, field) in old["properties"].as_object().into_iter().flatten() {
        let below = format!("{path}.{name}");
        match new["properties"].get(name) {
            Some(newer) => compare(field, newer, &below, found),
            None => found.push(format!("{below} is gone")),
        }
    }
    for child in ["items", "additionalProperties"] {
        if old[child].is_object() {
            compare(&old[child], &new[child], &format!("{path}[]"), found);
        }
    }
}

/// Keywords whose every change alters what a stored object means or who owns its parts.
const FIXED: &[&str] = &[
    "type",
    "format",
    "pattern",
    "default",
    "nullable",
    "x-kubernetes-list-type",
    "x-kubernetes-list-map-keys",
    "x-kubernetes-map-type",
    "x-kubernetes-int-or-string",
];

fn same_shape(old: &Value, new: &Value, path: &str, found: &mut Vec<String>) {
    for keyword in FIXED {
        if old[*keyword] != new[*keyword] {
            found.push(format!("{path}: {keyword} was {}, is {}", old[*keyword], new[*keyword]));
        }
    }
}

fn no_narrower(old: &Value, new: &Value, path: &str, found: &mut Vec<String>) {
    for keyword in ["maxLength", "maxItems", "maxProperties", "maximum"] {
        if let Some(newer) = new[keyword].as_f64()
            && old[keyword].as_f64().is_none_or(|older| newer < older)
        {
            found.push(format!("{path}: {keyword} is now {newer}"));
        }
    }
    for keyword in ["minLength", "minItems", "minProperties", "minimum"] {
        if let Some(newer) = new[keyword].as_f64()
            && old[keyword].as_f64().is_none_or(|older| newer > older)
        {
            found.push(format!("{path}: {keyword} is now {newer}"));
        }
    }
}

fn no_fewer_words(old: &Value, new: &Value, path: &str, found: &mut Vec<String>) {
    let Some(newer) = new["enum"].as_array() else {
        return;
    };
    match old["enum"].as_array() {
        None => found.push(format!("{path} is now a closed set of words")),
        Some(older) => found.extend(
            older
                .iter()
                .filter(|word| !newer.contains(word))
                .map(|word| format!("{path} no longer takes {word}")),
        ),
    }
}

fn nothing_newly_required(old: &Value, new: &Value, path: &str, found: &mut Vec<String>) {
    let required = |schema: &Value| -> BTreeSet<String> {
        schema["required"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(|name| Some(name.as_str()?.to_owned()))
            .collect()
    };
    found.extend(
        required(new)
            .difference(&required(old))
            .map(|name| format!("{path}.{name} is now required")),
    );
}
