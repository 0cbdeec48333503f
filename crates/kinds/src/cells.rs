//! Pieces of table cells that several kinds share, as kubectl's users know them (pkg/printers of Kubernetes).

use jiff::Timestamp;
use serde_json::Value;

use crate::{
    human::age,
    value::{at, list, number, object, text},
};

/// Stands for what is not there.
pub(crate) const NONE: &str = "<none>";
/// Stands for an optional value that was not given.
pub(crate) const UNSET: &str = "<unset>";
/// How many entries of a list are shown before the rest is only counted.
const SHOWN: usize = 3;

/// The name of an object.
pub(crate) fn name(object: &Value) -> Value {
    Value::from(text(object, "metadata.name"))
}

/// How long ago an object was made.
pub(crate) fn object_age(object: &Value, now: Timestamp) -> Value {
    Value::from(age(at(object, "metadata.creationTimestamp"), now))
}

/// The name and the age: all that is said of many kinds.
pub(crate) fn name_and_age(object: &Value, now: Timestamp) -> Vec<Value> {
    vec![name(object), object_age(object, now)]
}

/// The number at a path, zero where there is none.
pub(crate) fn count(object: &Value, path: &str) -> Value {
    Value::from(number(object, path).unwrap_or_default())
}

/// A text, or a word in its place where it is empty.
pub(crate) fn or<'a>(text: &'a str, otherwise: &'a str) -> &'a str {
    if text.is_empty() { otherwise } else { text }
}

/// A number or text as text.
pub(crate) fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// The names and the images of the containers of a pod specification.
pub(crate) fn containers(specification: &Value) -> [Value; 2] {
    let joined = |field: &str| {
        let entries = list(specification, "containers").iter();
        Value::from(
            entries
                .map(|container| text(container, field))
                .collect::<Vec<_>>()
                .join(","),
        )
    };
    [joined("name"), joined("image")]
}

/// Labels as `a=b,c=d`, or that there are none.
pub(crate) fn labels(value: Option<&Value>) -> String {
    let entries = value.and_then(Value::as_object).into_iter().flatten();
    let joined: Vec<String> = entries.map(|(key, value)| format!("{key}={}", shown(value))).collect();
    or(&joined.join(","), NONE).to_owned()
}

/// A label selector as one line, or that there is none.
pub(crate) fn selector(value: Option<&Value>) -> String {
    or(&selector_text(value), NONE).to_owned()
}

/// A label selector as one line, empty where it selects by nothing.
pub(crate) fn selector_text(value: Option<&Value>) -> String {
    let Some(value) = value else { return String::new() };
    let mut requirements: Vec<(&str, String)> = Vec::new();
    for (key, value) in object(value, "matchLabels").into_iter().flatten() {
        requirements.push((key, format!("{key}={}", shown(value))));
    }
    for expression in list(value, "matchExpressions") {
        let key = text(expression, "key");
        let mut values: Vec<&str> = list(expression, "values").iter().filter_map(Value::as_str).collect();
        values.sort_unstable();
        let values = values.join(",");
        requirements.push((
            key,
            match text(expression, "operator") {
                "In" => format!("{key} in ({values})"),
                "NotIn" => format!("{key} notin ({values})"),
                "DoesNotExist" => format!("!{key}"),
                _ => key.to_owned(),
            },
        ));
    }
    requirements.sort_by_key(|(key, _)| *key);
    requirements
        .into_iter()
        .map(|(_, text)| text)
        .collect::<Vec<_>>()
        .join(",")
}

/// The first entries, and how many more there are.
pub(crate) fn shortened(entries: &[String]) -> String {
    match entries {
        [] => NONE.to_owned(),
        few if few.len() <= SHOWN => few.join(","),
        many => format!("{} + {} more...", many[..SHOWN].join(","), many.len() - SHOWN),
    }
}

/// The addresses of a load balancer, each once.
pub(crate) fn balancer_addresses(object: &Value) -> Vec<&str> {
    let mut addresses: Vec<&str> = list(object, "status.loadBalancer.ingress")
        .iter()
        .map(|ingress| or(text(ingress, "ip"), text(ingress, "hostname")))
        .filter(|address| !address.is_empty())
        .collect();
    addresses.sort_unstable();
    addresses.dedup();
    addresses
}

/// Whether the list of conditions at a path has one of this type that is true.
pub(crate) fn has_condition(object: &Value, path: &str, kind: &str) -> bool {
    list(object, path)
        .iter()
        .find(|condition| text(condition, "type") == kind)
        .is_some_and(|condition| text(condition, "status") == "True")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn selectors_are_one_line_in_the_order_of_their_keys() {
        let value = json!({
            "matchLabels": { "b": "1" },
            "matchExpressions": [
                { "key": "c", "operator": "NotIn", "values": ["y", "x"] },
                { "key": "a", "operator": "Exists" },
                { "key": "d", "operator": "DoesNotExist" },
            ],
        });
        assert_eq!(selector(Some(&value)), "a,b=1,c notin (x,y),!d");
        assert_eq!(selector(Some(&json!({}))), "<none>");
        assert_eq!(selector(None), "<none>");
    }

    #[test]
    fn long_lists_are_counted() {
        let entries: Vec<String> = ["a", "b", "c", "d", "e"].map(str::to_owned).to_vec();
        assert_eq!(shortened(&entries), "a,b,c + 2 more...");
        assert_eq!(shortened(&entries[..3]), "a,b,c");
        assert_eq!(shortened(&[]), "<none>");
    }
}
