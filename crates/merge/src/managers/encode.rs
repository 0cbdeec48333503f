//! Entries of managedFields, in the order and form in which they are stored.

use serde_json::{Map, Value};

use super::{Entry, Identity, Managers};
use crate::set;

/// What stands for an entry without a time in the order of entries.
pub(super) const EPOCH: &str = "1970-01-01T00:00:00Z";

/// One entry of the list to write, free of borrows from the objects that it came from.
#[derive(Debug)]
pub(crate) enum Planned {
    /// The entry at this position of the list that was read.
    Keep(usize),
    /// The same with another time.
    Restamp(usize, Option<String>),
    /// A new or changed entry.
    Write(Value),
}

/// The list to write: appliers first, then by time, then by name.
pub(crate) fn plan(managers: Managers<'_>) -> Vec<Planned> {
    let mut entries: Vec<(Identity<'_>, Entry<'_>)> = managers.into_iter().collect();
    entries.sort_by(|(left, left_entry), (right, right_entry)| {
        (left.operation.cmp(&right.operation))
            .then_with(|| time(left_entry).cmp(time(right_entry)))
            .then_with(|| left.manager.cmp(right.manager))
            .then_with(|| left_entry.api_version.cmp(right_entry.api_version))
            .then_with(|| left.subresource.cmp(right.subresource))
    });
    entries
        .iter()
        .map(|(identity, entry)| plan_entry(identity, entry))
        .collect()
}

fn time<'e>(entry: &'e Entry<'_>) -> &'e str {
    entry.time.as_deref().unwrap_or(EPOCH)
}

fn plan_entry(identity: &Identity<'_>, entry: &Entry<'_>) -> Planned {
    match entry.origin {
        Some(position) if entry.restamped => {
            return Planned::Restamp(position, entry.time.as_deref().map(str::to_owned));
        }
        Some(position) => return Planned::Keep(position),
        None => {}
    }
    let mut fields = Map::new();
    let mut put = |name: &str, text: &str| {
        if !text.is_empty() {
            fields.insert(name.to_owned(), Value::from(text));
        }
    };
    put("apiVersion", entry.api_version);
    put("fieldsType", "FieldsV1");
    put("manager", identity.manager);
    put("operation", identity.operation.as_str());
    put("subresource", identity.subresource);
    put("time", entry.time.as_deref().unwrap_or_default());
    fields.insert("fieldsV1".to_owned(), set::encode(&entry.set));
    Planned::Write(Value::Object(fields))
}

fn with_time(mut entry: Value, time: Option<String>) -> Value {
    if let Some(fields) = entry.as_object_mut() {
        fields.remove("time");
        fields.extend(time.map(|time| ("time".to_owned(), Value::from(time))));
    }
    entry
}

/// Writes the list into an object. `read` is the list that kept entries are taken from.
pub(crate) fn write(object: &mut Value, planned: Vec<Planned>, read: &mut [Value]) {
    let Some(object) = object.as_object_mut() else { return };
    if planned.is_empty() {
        if let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) {
            metadata.remove("managedFields");
        }
        return;
    }
    let list = planned.into_iter().map(|entry| match entry {
        Planned::Keep(position) => read[position].take(),
        Planned::Restamp(position, time) => with_time(read[position].take(), time),
        Planned::Write(entry) => entry,
    });
    let list = Value::Array(list.collect());
    let metadata = object.entry("metadata").or_insert_with(|| Value::Object(Map::new()));
    if let Some(metadata) = metadata.as_object_mut() {
        metadata.insert("managedFields".to_owned(), list);
    }
}
