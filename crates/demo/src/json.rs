//! Reading objects as JSON. Who judges a system must not share its types, and with them its mistakes.

use std::collections::BTreeMap;

use serde_json::Value;

/// Objects by name.
pub(crate) type Objects = BTreeMap<String, Value>;

/// A condition of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Condition<'a> {
    /// True, False or Unknown.
    pub(crate) status: &'a str,
    /// Why, in a word.
    pub(crate) reason: &'a str,
    /// Why, in sentences.
    pub(crate) message: &'a str,
    /// Whether it is about the spec as it is now, as far as it says.
    pub(crate) is_current: bool,
}

/// The text at a place; empty where there is none.
pub(crate) fn text<'a>(object: &'a Value, pointer: &str) -> &'a str {
    object.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
}

/// The number at a place; zero where there is none.
pub(crate) fn number(object: &Value, pointer: &str) -> u64 {
    object.pointer(pointer).and_then(Value::as_u64).unwrap_or_default()
}

/// The entries of the list at a place; none where there is no list.
pub(crate) fn list<'a>(object: &'a Value, pointer: &str) -> &'a [Value] {
    object
        .pointer(pointer)
        .and_then(Value::as_array)
        .map_or(&[], Vec::as_slice)
}

/// The name of an object.
pub(crate) fn name(object: &Value) -> &str {
    text(object, "/metadata/name")
}

/// The uid of an object.
pub(crate) fn uid(object: &Value) -> &str {
    text(object, "/metadata/uid")
}

/// An annotation; empty where there is none.
pub(crate) fn annotation<'a>(object: &'a Value, key: &str) -> &'a str {
    object["metadata"]["annotations"][key].as_str().unwrap_or_default()
}

/// A label; empty where there is none.
pub(crate) fn label<'a>(object: &'a Value, key: &str) -> &'a str {
    object["metadata"]["labels"][key].as_str().unwrap_or_default()
}

/// Whether an object is being deleted.
pub(crate) fn is_leaving(object: &Value) -> bool {
    !text(object, "/metadata/deletionTimestamp").is_empty()
}

/// A condition of an object.
pub(crate) fn condition<'a>(object: &'a Value, type_: &str) -> Option<Condition<'a>> {
    let found = list(object, "/status/conditions")
        .iter()
        .find(|found| found["type"] == type_)?;
    let observed = found["observedGeneration"].as_u64();
    Some(Condition {
        status: text(found, "/status"),
        reason: text(found, "/reason"),
        message: text(found, "/message"),
        is_current: observed.is_none_or(|observed| observed >= number(object, "/metadata/generation")),
    })
}

/// Whether a condition holds.
pub(crate) fn holds(object: &Value, type_: &str) -> bool {
    condition(object, type_).is_some_and(|found| found.status == "True")
}

/// Objects by their names.
pub(crate) fn by_name(objects: Vec<Value>) -> Objects {
    objects
        .into_iter()
        .map(|object| (name(&object).to_owned(), object))
        .collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_not_there_is_empty() {
        let nothing = Value::Null;
        assert_eq!((name(&nothing), uid(&nothing), number(&nothing, "/a")), ("", "", 0));
        assert!(list(&nothing, "/a").is_empty() && !is_leaving(&nothing) && !holds(&nothing, "Ready"));
        assert_eq!((annotation(&nothing, "a"), label(&nothing, "a")), ("", ""));
    }

    #[test]
    fn a_condition_tells_whether_it_is_about_the_present_spec() {
        let object = |observed: Value| {
            json!({
                "metadata": {"generation": 3},
                "status": {"conditions": [{"type": "Ready", "status": "True", "observedGeneration": observed}]},
            })
        };
        for (observed, is_current) in [(json!(2), false), (json!(3), true), (Value::Null, true)] {
            let object = object(observed);
            assert_eq!(condition(&object, "Ready").unwrap().is_current, is_current);
            assert!(holds(&object, "Ready"));
        }
    }
}
