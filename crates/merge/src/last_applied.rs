//! The annotation of kubectl's client-side apply, and the way from it to server-side apply.
//! Only the manager `kubectl` takes part, as upstream has it.

use serde_json::{Value, json};

use crate::{
    go,
    set::Set,
    types::Types,
    walk::{Duplicates, check, compare, owned},
};

/// The manager name that opts in.
pub(crate) const KUBECTL: &str = "kubectl";
const ANNOTATION: &str = "kubectl.kubernetes.io/last-applied-configuration";
/// How large all annotations of an object may be together; a larger one is refused, so the annotation is left out.
const MOST_ANNOTATION_BYTES: usize = 256 << 10;

/// What an object was last applied with from the client's side.
pub(crate) fn last_applied(object: &Value) -> Option<&str> {
    object["metadata"]["annotations"][ANNOTATION]
        .as_str()
        .filter(|text| !text.is_empty())
}

/// Paths that kubectl applied from the client's side and that still have the value that it gave them.
pub(crate) fn unchanged_since<'a>(
    types: &'a Types,
    live: &'a Value,
    applied: &'a Value,
    api_version: &str,
) -> Option<Set<'a>> {
    if applied["apiVersion"] != api_version || applied["kind"] != live["kind"] {
        return None;
    }
    check(types, live, Duplicates::Refused).ok()?;
    check(types, applied, Duplicates::Refused).ok()?;
    let changes = compare(types, applied, live)?;
    let mut set = owned(types, applied);
    set.subtract(&changes.changed);
    set.subtract(&changes.removed);
    Some(set)
}

/// Brings the annotation of an object up to what was applied, if it has one.
pub(crate) fn renew(object: &mut Value, intent: &Value) {
    if last_applied(object).is_none() {
        return;
    }
    let text = describe(intent);
    let Some(annotations) = object["metadata"]["annotations"].as_object_mut() else {
        return;
    };
    annotations.remove(ANNOTATION);
    let others: usize = annotations
        .iter()
        .map(|(name, value)| name.len() + value.as_str().map_or(0, str::len))
        .sum();
    if others + ANNOTATION.len() + text.len() <= MOST_ANNOTATION_BYTES {
        annotations.insert(ANNOTATION.to_owned(), json!(text));
    }
}

/// The intent as one line of JSON, without the annotation itself.
fn describe(intent: &Value) -> String {
    let mut intent = intent.clone();
    if let Some(metadata) = intent.get_mut("metadata").and_then(Value::as_object_mut) {
        match metadata.get_mut("annotations").and_then(Value::as_object_mut) {
            Some(annotations) => drop(annotations.remove(ANNOTATION)),
            None => drop(metadata.remove("annotations")),
        }
    }
    let mut text = String::new();
    go::write_json(&mut text, &intent);
    text.push('\n');
    text
}
