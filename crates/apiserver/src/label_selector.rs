//! LabelSelectors, the structures, as selectors, the texts that are matched.

use hyperplane_wire::selector::Selector;
use serde_json::Value;

/// A LabelSelector as a selector. An absent one selects nothing, an empty one everything.
pub(crate) fn parse(selector: &Value) -> Option<Selector> {
    let fields = selector.as_object()?;
    let mut parts = Vec::new();
    for (key, value) in fields
        .get("matchLabels")
        .and_then(Value::as_object)
        .into_iter()
        .flatten()
    {
        parts.push(format!("{key}={}", value.as_str().unwrap_or_default()));
    }
    for expression in fields
        .get("matchExpressions")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
    {
        let key = expression["key"].as_str().unwrap_or_default();
        let values: Vec<&str> = expression["values"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .collect();
        let values = values.join(",");
        parts.push(match expression["operator"].as_str()? {
            "In" => format!("{key} in ({values})"),
            "NotIn" => format!("{key} notin ({values})"),
            "Exists" => key.to_owned(),
            "DoesNotExist" => format!("!{key}"),
            _ => return None,
        });
    }
    parts.join(",").parse().ok()
}
