//! Several Ignition configs as one, as Ignition itself and the machine config operator merge them, from the first to the
//! last. What a later config says of a file, a unit or a user is put over what was said before, field by field; entries of
//! lists are told apart by their paths, names and devices.
//!
//! - A path that is a file here and a link there is what the later config says, and nothing of the other is left. So it is
//!   with an argument of the kernel that should exist here and should not there. That is why the order of merging matters
//!   even among three: what the second takes away, the first cannot add to what the third says.
//! - Options and appended contents are put one behind the other. A config with such merged with itself is therefore more
//!   than itself.
//! - In one thing it is stricter: a later source brings its own compression, headers and hash. Ignition would keep those of
//!   the earlier source, with which the later one cannot be read.

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use crate::ignition::{Config, VERSIONS};

/// Lists of objects, the field by which their entries are told apart, and whether that gives them their order. Where the
/// order of a list means something, it is the one in which entries first come.
const KEYED: &[(&str, Key, bool)] = &[
    ("certificateAuthorities", Key::Field("source"), false),
    ("directories", Key::Field("path"), true),
    ("disks", Key::Field("device"), true),
    ("dropins", Key::Field("name"), true),
    ("files", Key::Field("path"), true),
    ("filesystems", Key::Field("device"), true),
    ("groups", Key::Field("name"), true),
    ("httpHeaders", Key::Field("name"), false),
    ("links", Key::Field("path"), true),
    ("luks", Key::Field("name"), true),
    ("merge", Key::Field("source"), false),
    ("partitions", Key::Partition, false),
    ("raid", Key::Field("name"), true),
    ("tang", Key::Field("url"), false),
    ("units", Key::Field("name"), true),
    ("users", Key::Field("name"), true),
];

/// Lists of which both are kept, one behind the other.
const APPENDED: &[&str] = &["append", "mountOptions", "options"];

/// Lists of one object of which only one can have an entry: the later config says which.
const EXCLUSIVE: &[&[&str]] = &[&["directories", "files", "links"], &["shouldExist", "shouldNotExist"]];

/// Objects that are taken whole: an owner is an id or a name, never both.
const WHOLE: &[&str] = &["group", "user"];

/// Objects that are taken whole where they say where content is.
const RESOURCES: &[&str] = &["contents", "keyFile", "replace"];

/// What tells entries of a list apart.
#[derive(Clone, Copy)]
enum Key {
    /// A field.
    Field(&'static str),
    /// The number of a partition, or its label where it has no number.
    Partition,
}

impl Key {
    fn of(self, entry: &Value) -> String {
        let text = |field: &str| entry[field].as_str().unwrap_or_default().to_owned();
        match self {
            Self::Field(field) => text(field),
            Self::Partition => match entry["number"].as_i64() {
                Some(number) if number != 0 => format!("number {number}"),
                _ => format!("label {}", text("label")),
            },
        }
    }
}

/// All configs as one, the first at the bottom. Entries come in the order of their paths and names.
#[allow(
    clippy::missing_panics_doc,
    reason = "a config that was read is written and read again"
)]
pub fn merge_all<'a>(configs: impl IntoIterator<Item = &'a Config>) -> Config {
    let mut configs = configs.into_iter().peekable();
    if configs.peek().is_none() {
        return Config::default();
    }
    let mut merged = Value::Object(Map::new());
    let mut version = "";
    for config in configs {
        merged = put("", Some(merged), &value_of(config));
        version = newer(version, &config.ignition.version);
    }
    let mut merged = config_of(merged);
    version.clone_into(&mut merged.ignition.version);
    merged
}

/// One config over another.
pub fn merge(base: &Config, over: &Config) -> Config {
    merge_all([base, over])
}

fn value_of(config: &Config) -> Value {
    serde_json::to_value(config).expect("a config has only text keys and finite numbers")
}

fn config_of(merged: Value) -> Config {
    hyperplane_objects::read(merged).expect("what is merged of configs has the fields of configs")
}

/// The newer of two versions: it reads what the older one says.
fn newer<'a>(base: &'a str, over: &'a str) -> &'a str {
    let rank = |version: &str| VERSIONS.iter().position(|known| *known == version);
    if rank(base) > rank(over) { base } else { over }
}

/// A field with what a later config says of it. What is there already has the form that merging gives.
fn put(name: &str, base: Option<Value>, over: &Value) -> Value {
    match (base, over) {
        (base, Value::Object(over)) => {
            let is_whole = WHOLE.contains(&name) || (RESOURCES.contains(&name) && over.contains_key("source"));
            let base = match base {
                Some(Value::Object(base)) if !is_whole => base,
                _ => Map::new(),
            };
            Value::Object(fields(base, over))
        }
        (Some(Value::Array(base)), Value::Array(over)) => Value::Array(list(name, base, over)),
        (_, Value::Array(over)) => Value::Array(list(name, Vec::new(), over)),
        (_, scalar) => scalar.clone(),
    }
}

fn fields(mut base: Map<String, Value>, over: &Map<String, Value>) -> Map<String, Value> {
    for group in EXCLUSIVE {
        for name in group.iter().filter(|name| over.contains_key(**name)) {
            let moved: BTreeSet<String> = keys(name, &over[*name]);
            for other in group.iter().filter(|other| *other != name) {
                if let Some(Value::Array(entries)) = base.get_mut(*other) {
                    entries.retain(|entry| !moved.contains(&key(other, entry)));
                }
            }
        }
    }
    for (name, value) in over {
        let merged = put(name, base.remove(name), value);
        base.insert(name.clone(), merged);
    }
    base
}

fn list(name: &str, mut base: Vec<Value>, over: &[Value]) -> Vec<Value> {
    if APPENDED.contains(&name) {
        base.extend(over.iter().map(|entry| put("", None, entry)));
        return base;
    }
    let is_keyed = over.iter().all(Value::is_object) && rule(name).is_some();
    if !is_keyed && !over.iter().all(Value::is_string) {
        return over.to_vec();
    }
    let mut places: BTreeMap<String, usize> = BTreeMap::new();
    for (index, entry) in base.iter().enumerate() {
        places.insert(key(name, entry), index);
    }
    for entry in over {
        let key = key(name, entry);
        match places.get(&key) {
            // A header without a value takes away the one before.
            Some(index) if name == "httpHeaders" && entry.get("value").is_none() => base[*index] = Value::Null,
            Some(index) => {
                let before = std::mem::take(&mut base[*index]);
                base[*index] = put("", Some(before), entry);
            }
            None => {
                places.insert(key, base.len());
                base.push(put("", None, entry));
            }
        }
    }
    base.retain(|entry| !entry.is_null());
    if is_keyed && rule(name).is_some_and(|(_, is_sorted)| is_sorted) {
        base.sort_by_cached_key(|entry| self::key(name, entry));
    }
    base
}

fn rule(name: &str) -> Option<(Key, bool)> {
    let found = KEYED.iter().find(|(list, ..)| *list == name);
    found.map(|(_, key, is_sorted)| (*key, *is_sorted))
}

/// What an entry of a list is known by: its key, or itself where it is a text.
fn key(name: &str, entry: &Value) -> String {
    match (entry, rule(name)) {
        (Value::String(text), _) => text.clone(),
        (entry, Some((key, _))) => key.of(entry),
        (entry, None) => entry.to_string(),
    }
}

fn keys(name: &str, entries: &Value) -> BTreeSet<String> {
    let entries = entries.as_array().into_iter().flatten();
    entries.map(|entry| key(name, entry)).collect()
}
