//! The rules of an aggregated ClusterRole: the union of those that its selectors find
//! (kubernetes, clusterroleaggregation_controller.go). Knows nothing of bindings.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::object::{self, at, list, text};

/// The rules that the ClusterRole should have, or none if it is not aggregated: selector by selector, role by role in
/// the order of their names, each rule once.
pub fn aggregate<'a>(role: &Value, cluster_roles: impl IntoIterator<Item = &'a Value>) -> Option<Value> {
    let selectors = role.get("aggregationRule").filter(|rule| !rule.is_null())?;
    let by_name: BTreeMap<&str, &Value> = cluster_roles
        .into_iter()
        .map(|other| (object::name(other), other))
        .collect();
    let mut rules: Vec<&Value> = Vec::new();
    for selector in list(selectors, &["clusterRoleSelectors"]) {
        let found = by_name
            .iter()
            .filter(|(name, other)| **name != object::name(role) && selects(selector, other));
        for rule in found.flat_map(|(_, other)| list(other, &["rules"])) {
            if !rules.contains(&rule) {
                rules.push(rule);
            }
        }
    }
    Some(json!(rules))
}

fn selects(selector: &Value, role: &Value) -> bool {
    let labels = at(role, &["metadata", "labels"]);
    let equal = at(selector, &["matchLabels"]).as_object();
    equal.is_none_or(|equal| equal.iter().all(|(key, value)| labels.get(key) == Some(value)))
        && list(selector, &["matchExpressions"])
            .iter()
            .all(|expression| is_met(expression, labels))
}

fn is_met(expression: &Value, labels: &Value) -> bool {
    let label = labels.get(text(expression, &["key"]));
    let is_listed = label.is_some_and(|label| list(expression, &["values"]).contains(label));
    match text(expression, &["operator"]) {
        "In" => is_listed,
        "NotIn" => !is_listed,
        "Exists" => label.is_some(),
        "DoesNotExist" => label.is_none(),
        // Validation lets no other operator in; one that is not known selects nothing.
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn role(name: &str, labels: &Value, rules: &Value) -> Value {
        json!({"metadata": {"name": name, "labels": labels}, "rules": rules})
    }

    #[test]
    fn rules_are_gathered_by_selector_then_by_name_each_once() {
        let rule = |verb: &str| json!({"verbs": [verb], "apiGroups": [""], "resources": ["pods"]});
        let roles = [
            role("z", &json!({"x": "1"}), &json!([rule("a"), rule("b")])),
            role("b", &json!({"x": "1"}), &json!([rule("b")])),
            role("a", &json!({"y": "2"}), &json!([rule("c"), rule("a")])),
            role("self", &json!({"x": "1"}), &json!([rule("d")])),
        ];
        let mut aggregated = role("self", &json!({}), &json!([]));
        aggregated["aggregationRule"] = json!({"clusterRoleSelectors": [
            {"matchLabels": {"x": "1"}},
            {"matchExpressions": [{"key": "y", "operator": "In", "values": ["1", "2"]}]},
        ]});
        let expected = json!([rule("b"), rule("a"), rule("c")]);
        assert_eq!(aggregate(&aggregated, &roles), Some(expected));
        assert_eq!(aggregate(&roles[0], &roles), None);
    }

    #[test]
    fn expressions_select_as_label_selectors_do() {
        let cases = [
            (json!({"key": "x", "operator": "Exists"}), true),
            (json!({"key": "z", "operator": "Exists"}), false),
            (json!({"key": "z", "operator": "DoesNotExist"}), true),
            (json!({"key": "z", "operator": "NotIn", "values": ["1"]}), true),
            (json!({"key": "x", "operator": "NotIn", "values": ["1"]}), false),
            (json!({"key": "x", "operator": "In", "values": ["2"]}), false),
            (json!({"key": "x", "operator": "Odd", "values": ["1"]}), false),
        ];
        let labelled = role("a", &json!({"x": "1"}), &json!([]));
        for (expression, expected) in cases {
            assert_eq!(
                selects(&json!({"matchExpressions": [expression]}), &labelled),
                expected,
                "{expression}"
            );
        }
    }
}
