//! What one manager applied to an object, read back from the object: the intent that would change nothing.

use serde_json::Value;

use crate::{conflict::Operation, managers::entries_of, types::Types, walk};

/// The part of an object that a manager owns by apply, with what identifies the object; `None` when it owns nothing.
pub fn extract(object: &Value, manager: &str, subresource: &str, types: &Types) -> Option<Value> {
    let managers = entries_of(object).ok()?;
    let is_the_one = |operation, name, part| operation == Operation::Apply && name == manager && part == subresource;
    let (_, entry) = managers
        .iter()
        .find(|(identity, _)| is_the_one(identity.operation, identity.manager, identity.subresource))?;
    let mut extracted = walk::extract(types, object, &entry.set);
    for name in ["apiVersion", "kind"] {
        extracted[name] = object[name].clone();
    }
    for name in ["name", "namespace"] {
        if let Some(value) = object["metadata"].get(name) {
            extracted["metadata"][name] = value.clone();
        }
    }
    Some(extracted)
}
