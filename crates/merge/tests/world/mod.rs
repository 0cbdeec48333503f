//! A small world of one object and several writers: what the scenario and law tests share.

#![allow(dead_code, reason = "each test file uses a part of it")]

use std::collections::BTreeMap;

use hyperplane_merge::{ApplyError, Author, ResetFields, Scope, Types, apply, keep_times, update};
use serde_json::{Map, Value, json};

/// The version in which writers write unless they say otherwise.
pub const VERSION: &str = "test.dev/v1";

/// An object, its types, and a clock that moves one second with every write.
pub struct World {
    /// Types by version.
    pub types: BTreeMap<String, Types>,
    /// The object as it is stored.
    pub live: Option<Value>,
    second: i64,
}

impl World {
    /// A world without an object, whose kind has the schema of all list types.
    pub fn new() -> Self {
        Self::with_types(Types::structural(&schema()))
    }

    /// A world without an object, whose kind has these types.
    pub fn with_types(types: Types) -> Self {
        Self {
            types: BTreeMap::from([(VERSION.to_owned(), types)]),
            live: None,
            second: 0,
        }
    }

    /// A world with an object that nobody owns.
    pub fn unowned(content: Value) -> Self {
        let mut world = Self::new();
        let mut object = full(content);
        object["metadata"]["uid"] = json!("1");
        world.live = Some(object);
        world
    }

    /// Applies an intent as a manager.
    pub fn apply(&mut self, manager: &str, content: Value) -> Result<(), ApplyError> {
        self.apply_as(manager, "", content, false)
    }

    /// Applies an intent as a manager, and takes what others own.
    pub fn force(&mut self, manager: &str, content: Value) {
        self.apply_as(manager, "", content, true)
            .expect("a forced apply has no conflicts");
    }

    /// Applies an intent through a subresource.
    pub fn apply_as(
        &mut self,
        manager: &str,
        subresource: &str,
        content: Value,
        force: bool,
    ) -> Result<(), ApplyError> {
        let lookup = |version: &str| self.types.get(version);
        let reset = reset(subresource);
        let author = author(manager, subresource, self.second);
        let scope = Scope {
            types: &lookup,
            reset: &reset,
        };
        let mut object = apply(self.live.as_ref(), &full(content), &author, &scope, force)?;
        object["metadata"]["uid"] = json!("1");
        self.live = Some(object);
        self.second += 1;
        Ok(())
    }

    /// Writes the object as it is now with something changed in it.
    pub fn update(&mut self, manager: &str, change: impl FnOnce(&mut Value)) {
        self.update_as(manager, "", change);
    }

    /// Writes the object through a subresource.
    pub fn update_as(&mut self, manager: &str, subresource: &str, change: impl FnOnce(&mut Value)) {
        let lookup = |version: &str| self.types.get(version);
        let reset = reset(subresource);
        let author = author(manager, subresource, self.second);
        let scope = Scope {
            types: &lookup,
            reset: &reset,
        };
        let mut new = self.live.clone().unwrap_or_else(|| full(json!({})));
        change(&mut new);
        let mut object = update(self.live.as_ref(), new, &author, &scope);
        if let Some(live) = &self.live {
            keep_times(live, &mut object);
        }
        object["metadata"]["uid"] = json!("1");
        self.live = Some(object);
        self.second += 1;
    }

    /// The object without its managedFields and what identifies it.
    pub fn content(&self) -> Value {
        content(self.live.as_ref().expect("something was written"))
    }

    /// One line per manager: who, how, and the paths that it owns.
    pub fn owners(&self) -> Vec<String> {
        let entries = &self.live.as_ref().expect("something was written")["metadata"]["managedFields"];
        entries.as_array().into_iter().flatten().map(describe).collect()
    }

    /// When each manager wrote last, in the order of the entries; a dash where there is no time.
    pub fn times(&self) -> Vec<String> {
        let entries = &self.live.as_ref().expect("something was written")["metadata"]["managedFields"];
        let time = |entry: &Value| entry["time"].as_str().unwrap_or("-").to_owned();
        entries.as_array().into_iter().flatten().map(time).collect()
    }

    /// The fields and messages of the conflicts that an apply runs into.
    pub fn conflicts(&mut self, manager: &str, content: Value) -> Vec<String> {
        match self.apply(manager, content) {
            Err(ApplyError::Conflicts(conflicts)) => conflicts
                .iter()
                .map(|conflict| format!("{}: {}", conflict.message(), conflict.field))
                .collect(),
            other => panic!("expected conflicts, got {other:?}"),
        }
    }
}

/// The time that stands in managedFields after the write of this number.
pub fn time(write: i64) -> String {
    let time = jiff::Timestamp::from_second(1_790_000_000 + write).expect("a second of this century");
    time.to_string()
}

fn author<'a>(manager: &'a str, subresource: &'a str, second: i64) -> Author<'a> {
    let time = jiff::Timestamp::from_second(1_790_000_000 + second).expect("a second of this century");
    Author {
        manager,
        api_version: VERSION,
        subresource,
        time,
    }
}

fn reset(subresource: &str) -> ResetFields {
    match subresource {
        "status" => ResetFields::none().exclude(VERSION, &[&["metadata"], &["spec"]]),
        _ => ResetFields::none().exclude(VERSION, &[&["status"]]),
    }
}

/// An object with this spec, or with these fields when they name spec, status or metadata.
pub fn full(content: Value) -> Value {
    let mut object =
        json!({"apiVersion": VERSION, "kind": "Thing", "metadata": {"name": "thing", "namespace": "here"}});
    let is_whole = ["spec", "status", "metadata", "apiVersion"]
        .iter()
        .any(|name| content.get(*name).is_some());
    let Value::Object(fields) = (if is_whole { content } else { json!({"spec": content}) }) else {
        panic!("the content of an object is a map");
    };
    for (name, value) in fields {
        match (object.get_mut(&name), value) {
            (Some(Value::Object(known)), Value::Object(more)) => known.extend(more),
            (_, value) => object[&name] = value,
        }
    }
    object
}

/// What an object says beyond what identifies it.
pub fn content(object: &Value) -> Value {
    let mut object = object.clone();
    let fields = object.as_object_mut().expect("an object");
    fields.remove("apiVersion");
    fields.remove("kind");
    let metadata = fields["metadata"].as_object_mut().expect("metadata");
    for name in ["name", "namespace", "uid", "managedFields"] {
        metadata.remove(name);
    }
    if metadata.is_empty() {
        fields.remove("metadata");
    }
    if fields.len() == 1 && fields.contains_key("spec") {
        fields["spec"].take()
    } else {
        object
    }
}

fn describe(entry: &Value) -> String {
    let mut paths = Vec::new();
    flatten("", &entry["fieldsV1"], &mut paths);
    let subresource = entry["subresource"]
        .as_str()
        .map(|name| format!("/{name}"))
        .unwrap_or_default();
    let part = |name: &str| entry[name].as_str().unwrap_or_default().to_owned();
    let lead = if part("operation") == "Apply" {
        "applies"
    } else {
        "updates"
    };
    format!("{}{subresource} {lead} {}", part("manager"), paths.join(" "))
}

fn flatten(prefix: &str, fields: &Value, paths: &mut Vec<String>) {
    let empty = Map::new();
    for (key, children) in fields.as_object().unwrap_or(&empty) {
        let children_map = children.as_object().expect("fields nest");
        let name = key
            .strip_prefix("f:")
            .unwrap_or(key)
            .trim_start_matches("k:")
            .trim_start_matches("v:")
            .replace('"', "");
        let path = if prefix.is_empty() {
            name
        } else {
            format!("{prefix}.{name}")
        };
        if key == "." {
            continue;
        }
        if children_map.is_empty() || children_map.contains_key(".") {
            paths.push(path.trim_start_matches("spec.").to_owned());
        }
        flatten(&path, children, paths);
    }
}

/// A schema with every kind of list and map.
pub fn schema() -> Value {
    let text = json!({"type": "string"});
    let texts = json!({"type": "array", "items": text});
    let pair = json!({"type": "object", "properties": {"a": text, "b": text}});
    json!({
        "type": "object",
        "properties": {
            "spec": {
                "type": "object",
                "properties": {
                    "text": text,
                    "number": {"type": "integer"},
                    "flag": {"type": "boolean"},
                    "either": {"x-kubernetes-int-or-string": true},
                    "pair": pair,
                    "color": {"type": "object", "properties": {"red": {"type": "integer"}, "blue": {"type": "integer"}}, "x-kubernetes-map-type": "atomic"},
                    "labels": {"type": "object", "additionalProperties": text},
                    "pairs": {"type": "object", "additionalProperties": pair},
                    "lines": texts,
                    "tags": {"type": "array", "items": text, "x-kubernetes-list-type": "set"},
                    "numbers": {"type": "array", "items": {"type": "number"}, "x-kubernetes-list-type": "set"},
                    "items": {
                        "type": "array",
                        "items": {
                            "type": "object",
                            "properties": {"name": text, "value": text, "pair": pair, "tags": {"type": "array", "items": text, "x-kubernetes-list-type": "set"}},
                        },
                        "x-kubernetes-list-type": "map",
                        "x-kubernetes-list-map-keys": ["name"],
                    },
                    "ports": {
                        "type": "array",
                        "items": {"type": "object", "properties": {"port": {"type": "integer"}, "protocol": {"type": "string", "default": "TCP"}, "name": text}},
                        "x-kubernetes-list-type": "map",
                        "x-kubernetes-list-map-keys": ["protocol", "port"],
                    },
                    "free": {"type": "object", "x-kubernetes-preserve-unknown-fields": true},
                    "embedded": {"type": "object", "x-kubernetes-embedded-resource": true, "x-kubernetes-preserve-unknown-fields": true},
                },
            },
            "status": {
                "type": "object",
                "properties": {
                    "phase": text,
                    "conditions": {
                        "type": "array",
                        "items": {"type": "object", "properties": {"type": text, "status": text}},
                        "x-kubernetes-list-type": "map",
                        "x-kubernetes-list-map-keys": ["type"],
                    },
                },
            },
        },
    })
}
