//! Finds the old value of a new one, and whether they are the same, as far as the schema lets entries be told apart
//! (apiserver, cel/common: equality.go and maplist.go).

use std::collections::BTreeMap;

use serde_json::Value;

use crate::go_text;
use crate::node::{Arena, ListType, Node, NodeId};

/// The old entries of a list by their keys; empty unless the list is a map.
pub(crate) struct OldEntries<'a> {
    keys: &'a [String],
    entries: BTreeMap<String, &'a Value>,
}

impl<'a> OldEntries<'a> {
    /// Reads the keys of all old entries; the first of several with the same key counts.
    pub(crate) fn new(node: &'a Node, old: Option<&'a Value>) -> Self {
        let ListType::Map(keys) = &node.list else {
            return Self {
                keys: &[],
                entries: BTreeMap::new(),
            };
        };
        let mut entries = BTreeMap::new();
        for entry in old.and_then(Value::as_array).into_iter().flatten() {
            if let Some(key) = key_of(keys, entry) {
                entries.entry(key).or_insert(entry);
            }
        }
        Self { keys, entries }
    }

    /// The old value of an entry.
    pub(crate) fn get(&self, entry: &Value) -> Option<&'a Value> {
        if self.entries.is_empty() {
            return None;
        }
        self.entries.get(&key_of(self.keys, entry)?).copied()
    }
}

/// All keys must be there and be scalars.
fn key_of(keys: &[String], entry: &Value) -> Option<String> {
    let mut key = String::new();
    for name in keys {
        let value = entry.get(name)?;
        if value.is_null() || value.is_object() || value.is_array() {
            return None;
        }
        key.push_str(&go_text::json(value));
        key.push('\0');
    }
    (!keys.is_empty()).then_some(key)
}

/// The old value of a field; none when the schema does not know the field.
pub(crate) fn old_field<'a>(node: &Node, name: &str, old: Option<&'a Value>) -> Option<&'a Value> {
    node.field(name)?;
    old?.get(name)
}

/// Whether nothing changed: fields are compared by name, entries of maps by key, everything else as a whole.
pub(crate) fn is_equal(arena: &Arena, id: NodeId, value: &Value, old: &Value) -> bool {
    let node = &arena[id];
    match (value, old) {
        (Value::Object(fields), Value::Object(old_fields)) => {
            fields.len() == old_fields.len() && fields.iter().all(|(name, field)| {
                let child = node.field(name);
                matches!((child, old_fields.get(name)), (Some(child), Some(old)) if is_equal(arena, child, field, old))
            })
        }
        (Value::Array(entries), Value::Array(old_entries)) => {
            let (ListType::Map(_), Some(items)) = (&node.list, node.items) else {
                return entries == old_entries;
            };
            let by_key = OldEntries::new(node, Some(old));
            entries.len() == old_entries.len()
                && entries
                    .iter()
                    .all(|entry| by_key.get(entry).is_some_and(|old| is_equal(arena, items, entry, old)))
        }
        _ => value == old,
    }
}
