//! Rules about labels and selectors inside of objects (apimachinery, meta/v1/validation). Labels in the metadata of an
//! object are the server's business.

use hyperplane_schema::names::{label_value, qualified_name};
use serde_json::{Map, Value};

use crate::{
    complaints::{Complaints, Path, texts},
    value::{field, is_set, list, object, text},
};

/// Keys and values of labels.
pub(crate) fn validate_labels(labels: Option<&Value>, path: &Path<'_>, complaints: &mut Complaints) {
    for (key, value) in labels.and_then(Value::as_object).into_iter().flat_map(texts) {
        complaints.each(path, key, qualified_name(key));
        complaints.each(path, value, label_value(value));
    }
}

/// The keys of annotations.
pub(crate) fn validate_annotations(annotations: Option<&Value>, path: &Path<'_>, complaints: &mut Complaints) {
    for (key, _) in annotations.and_then(Value::as_object).into_iter().flat_map(texts) {
        complaints.each(path, key, qualified_name(&key.to_lowercase()));
    }
}

/// A label selector.
pub(crate) fn validate_selector(selector: Option<&Value>, path: &Path<'_>, complaints: &mut Complaints) {
    let Some(selector) = selector else { return };
    validate_labels(selector.get("matchLabels"), &path.child("matchLabels"), complaints);
    let expressions = path.child("matchExpressions");
    for (index, expression) in list(selector, "matchExpressions").iter().enumerate() {
        validate_expression(expression, &expressions.index(index), complaints);
    }
}

fn validate_expression(expression: &Value, path: &Path<'_>, complaints: &mut Complaints) {
    let values = list(expression, "values");
    let values_path = path.child("values");
    match text(expression, "operator") {
        "In" | "NotIn" if values.is_empty() => {
            complaints.required(&values_path, "must be specified when `operator` is 'In' or 'NotIn'");
        }
        "Exists" | "DoesNotExist" if !values.is_empty() => {
            complaints.forbidden(
                &values_path,
                "may not be specified when `operator` is 'Exists' or 'DoesNotExist'",
            );
        }
        "In" | "NotIn" | "Exists" | "DoesNotExist" => {}
        other => complaints.invalid(&path.child("operator"), other, "not a valid selector operator"),
    }
    let key = text(expression, "key");
    complaints.each(&path.child("key"), key, qualified_name(key));
    for (index, value) in values.iter().enumerate() {
        let value = value.as_str().unwrap_or_default();
        complaints.each(&values_path.index(index), value, label_value(value));
    }
}

/// Whether a selector says nothing, and so selects everything.
pub(crate) fn is_empty_selector(selector: &Value) -> bool {
    !is_set(selector.get("matchLabels")) && !is_set(selector.get("matchExpressions"))
}

/// Whether labels are selected.
pub(crate) fn selects(selector: &Value, labels: Option<&Map<String, Value>>) -> bool {
    let none = Map::new();
    let labels = labels.unwrap_or(&none);
    let matches_labels = object(selector, "matchLabels")
        .is_none_or(|wanted| wanted.iter().all(|(key, value)| labels.get(key) == Some(value)));
    matches_labels
        && list(selector, "matchExpressions")
            .iter()
            .all(|expression| is_met(expression, labels))
}

fn is_met(expression: &Value, labels: &Map<String, Value>) -> bool {
    let key = text(expression, "key");
    let is_listed = || {
        list(expression, "values")
            .iter()
            .any(|value| value.as_str() == Some(field(labels, key)))
    };
    match text(expression, "operator") {
        "In" => labels.contains_key(key) && is_listed(),
        "NotIn" => !labels.contains_key(key) || !is_listed(),
        "Exists" => labels.contains_key(key),
        "DoesNotExist" => !labels.contains_key(key),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn selectors_select_by_all_their_requirements() {
        let labels = json!({ "app": "a", "tier": "web" });
        let check = |selector: Value, expected: bool| {
            assert_eq!(selects(&selector, labels.as_object()), expected, "{selector}");
        };
        let expression = |operator: &str, key: &str, values: Value| json!({ "matchExpressions": [{ "key": key, "operator": operator, "values": values }] });
        check(json!({}), true);
        check(json!({ "matchLabels": { "app": "a" } }), true);
        check(json!({ "matchLabels": { "app": "b" } }), false);
        check(expression("In", "tier", json!(["web", "db"])), true);
        check(expression("In", "zone", json!(["web"])), false);
        check(expression("NotIn", "tier", json!(["web"])), false);
        check(expression("NotIn", "zone", json!(["web"])), true);
        check(expression("Exists", "tier", json!([])), true);
        check(expression("DoesNotExist", "tier", json!([])), false);
    }
}
