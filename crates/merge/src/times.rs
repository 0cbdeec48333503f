//! Times of managedFields that changed alone: they are put back, so that a write that changes nothing else is none.

use serde_json::{Map, Value};

/// Puts the times of the old managedFields back when the objects differ in nothing else.
///
/// To be called on the object that is about to be stored, after defaults and everything else that may change it.
pub fn keep_times(old: &Value, new: &mut Value) {
    if differ_in_times_only(old, new) {
        new["metadata"]["managedFields"] = old["metadata"]["managedFields"].clone();
    }
}

fn differ_in_times_only(old: &Value, new: &Value) -> bool {
    let (Some(old), Some(new)) = (old.as_object(), new.as_object()) else {
        return false;
    };
    let (Some(old_metadata), Some(new_metadata)) = (metadata(old), metadata(new)) else {
        return false;
    };
    let (Some(old_entries), Some(new_entries)) = (entries(old_metadata), entries(new_metadata)) else {
        return false;
    };
    let same_entries = old_entries.len() == new_entries.len()
        && old_entries
            .iter()
            .zip(new_entries)
            .all(|(old, new)| same_without(old.as_object(), new.as_object(), "time"));
    same_entries
        && old_entries != new_entries
        && same_without(Some(old_metadata), Some(new_metadata), "managedFields")
        && same_without(Some(old), Some(new), "metadata")
}

fn metadata(object: &Map<String, Value>) -> Option<&Map<String, Value>> {
    object.get("metadata")?.as_object()
}

fn entries(metadata: &Map<String, Value>) -> Option<&Vec<Value>> {
    metadata.get("managedFields")?.as_array()
}

/// Whether two maps are the same but for one field.
fn same_without(left: Option<&Map<String, Value>>, right: Option<&Map<String, Value>>, name: &str) -> bool {
    let (Some(left), Some(right)) = (left, right) else {
        return false;
    };
    let others = |fields: &'_ Map<String, Value>| -> usize { fields.len() - usize::from(fields.contains_key(name)) };
    others(left) == others(right)
        && left
            .iter()
            .filter(|(key, _)| *key != name)
            .all(|(key, value)| right.get(key) == Some(value))
}
