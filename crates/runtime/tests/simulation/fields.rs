//! Field ownership for the in-memory server: enough of server-side apply to tell owners apart. Lists are atomic.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

pub type Path = Vec<String>;

/// The leaves of a value.
pub fn leaves(value: &Value) -> BTreeSet<Path> {
    let mut found = BTreeSet::new();
    collect(value, &mut Vec::new(), &mut found);
    found
}

fn collect(value: &Value, path: &mut Path, found: &mut BTreeSet<Path>) {
    match value {
        Value::Object(fields) if !fields.is_empty() => {
            for (name, field) in fields {
                path.push(name.clone());
                collect(field, path, found);
                path.pop();
            }
        }
        _ => {
            found.insert(path.clone());
        }
    }
}

pub fn to_fields(paths: &BTreeSet<Path>) -> Value {
    let mut root = Map::new();
    for path in paths {
        let mut level = &mut root;
        for name in path {
            let entry = level.entry(format!("f:{name}")).or_insert_with(|| json!({}));
            level = entry.as_object_mut().expect("only objects are inserted");
        }
    }
    root.into()
}

pub fn from_fields(fields: &Value) -> BTreeSet<Path> {
    leaves(fields)
        .into_iter()
        .map(|path| path.iter().map(|name| name[2..].to_owned()).collect())
        .collect()
}

pub fn get<'a>(value: &'a Value, path: &Path) -> Option<&'a Value> {
    path.iter().try_fold(value, |value, name| value.get(name))
}

pub fn set(value: &mut Value, path: &Path, leaf: Value) {
    let mut level = value;
    for name in path {
        if !level.is_object() {
            *level = json!({});
        }
        level = &mut level[name];
    }
    *level = leaf;
}

/// Removes a leaf and the containers that it leaves empty.
pub fn remove(value: &mut Value, path: &[String]) {
    let (Some(first), Some(fields)) = (path.first(), value.as_object_mut()) else {
        return;
    };
    if path.len() == 1 {
        fields.remove(first);
    } else if let Some(below) = fields.get_mut(first) {
        remove(below, &path[1..]);
        if below.as_object().is_some_and(Map::is_empty) {
            fields.remove(first);
        }
    }
}

/// Applies an intent as `manager`; hands back the new object.
pub fn apply(live: &Value, intent: &Value, manager: &str, subresource: Option<&str>) -> Value {
    let mut object = live.clone();
    let wanted = leaves(intent);
    let mut entries = live["metadata"]["managedFields"]
        .as_array()
        .cloned()
        .unwrap_or_default();
    let mut before = BTreeSet::new();
    entries.retain_mut(|entry| {
        let paths = from_fields(&entry["fieldsV1"]);
        if entry["manager"] == manager {
            before = paths;
            return false;
        }
        // A forced apply takes over what it changes.
        let kept: BTreeSet<Path> = paths
            .into_iter()
            .filter(|path| !wanted.contains(path) || get(live, path) == get(intent, path))
            .collect();
        entry["fieldsV1"] = to_fields(&kept);
        !kept.is_empty()
    });
    for path in &wanted {
        set(&mut object, path, get(intent, path).cloned().unwrap_or_default());
    }
    let owned_by_others = |path: &Path| {
        entries
            .iter()
            .any(|entry| from_fields(&entry["fieldsV1"]).contains(path))
    };
    for path in before.difference(&wanted) {
        if !owned_by_others(path) {
            remove(&mut object, path);
        }
    }
    let mut entry = json!({"manager": manager, "operation": "Apply", "apiVersion": live["apiVersion"],
        "fieldsType": "FieldsV1", "fieldsV1": to_fields(&wanted)});
    if let Some(subresource) = subresource {
        entry["subresource"] = subresource.into();
    }
    entries.push(entry);
    entries.sort_by_key(|entry| entry["manager"].to_string());
    object["metadata"]["managedFields"] = entries.into();
    object
}

/// Takes from every applier what an update by somebody else has changed.
pub fn disown(before: &Value, after: &mut Value) {
    let mut entries = before["metadata"]["managedFields"]
        .as_array()
        .cloned()
        .unwrap_or_default();
    entries.retain_mut(|entry| {
        let mut paths = from_fields(&entry["fieldsV1"]);
        paths.retain(|path| get(before, path) == get(after, path));
        entry["fieldsV1"] = to_fields(&paths);
        !paths.is_empty()
    });
    if !entries.is_empty() {
        after["metadata"]["managedFields"] = entries.into();
    }
}
