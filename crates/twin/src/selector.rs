//! Whether labels are selected. Owns the two forms of selectors, of labels and of nodes; knows no object.

use std::collections::BTreeMap;

use k8s_openapi::{
    api::core::v1::NodeSelectorRequirement,
    apimachinery::pkg::apis::meta::v1::{LabelSelector, LabelSelectorRequirement},
};

/// Labels by their keys.
pub(crate) type Labels = BTreeMap<String, String>;

/// Whether a selector matches. An empty one matches everything, as the API has it.
pub(crate) fn matches(selector: &LabelSelector, labels: &Labels) -> bool {
    let equal = selector.match_labels.iter().flatten();
    let expressions = selector.match_expressions.iter().flatten();
    equal.into_iter().all(|(key, value)| labels.get(key) == Some(value))
        && expressions
            .into_iter()
            .all(|requirement| is_satisfied(requirement, labels))
}

/// Whether a selector matches; one that is absent matches nothing.
pub(crate) fn matches_some(selector: Option<&LabelSelector>, labels: &Labels) -> bool {
    selector.is_some_and(|selector| matches(selector, labels))
}

/// Whether every pair is among the labels.
pub(crate) fn contains(labels: &Labels, wanted: &Labels) -> bool {
    wanted.iter().all(|(key, value)| labels.get(key) == Some(value))
}

fn is_satisfied(requirement: &LabelSelectorRequirement, labels: &Labels) -> bool {
    let values = requirement.values.as_deref().unwrap_or_default();
    judge(&requirement.operator, values, labels.get(&requirement.key))
}

/// Whether labels, or fields, of a node satisfy a requirement.
pub(crate) fn node_satisfies(requirement: &NodeSelectorRequirement, labels: &Labels) -> bool {
    let values = requirement.values.as_deref().unwrap_or_default();
    judge(&requirement.operator, values, labels.get(&requirement.key))
}

fn judge(operator: &str, values: &[String], found: Option<&String>) -> bool {
    let number = |text: Option<&String>| text.and_then(|text| text.parse::<i64>().ok());
    let compare = |is: fn(&i64, &i64) -> bool| match (number(found), number(values.first())) {
        (Some(found), Some(bound)) => is(&found, &bound),
        _ => false,
    };
    match operator {
        "In" => found.is_some_and(|found| values.contains(found)),
        "NotIn" => found.is_none_or(|found| !values.contains(found)),
        "Exists" => found.is_some(),
        "DoesNotExist" => found.is_none(),
        "Gt" => compare(i64::gt),
        "Lt" => compare(i64::lt),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn selectors_of_labels() {
        let labels = Labels::from([("a".to_owned(), "1".to_owned()), ("b".to_owned(), "x".to_owned())]);
        let cases = [
            (json!({}), true),
            (json!({"matchLabels": {"a": "1"}}), true),
            (json!({"matchLabels": {"a": "2"}}), false),
            (
                json!({"matchExpressions": [{"key": "a", "operator": "In", "values": ["1", "2"]}]}),
                true,
            ),
            (
                json!({"matchExpressions": [{"key": "c", "operator": "NotIn", "values": ["1"]}]}),
                true,
            ),
            (
                json!({"matchExpressions": [{"key": "b", "operator": "DoesNotExist"}]}),
                false,
            ),
            (
                json!({"matchLabels": {"a": "1"}, "matchExpressions": [{"key": "c", "operator": "Exists"}]}),
                false,
            ),
        ];
        for (selector, expected) in cases {
            let parsed: LabelSelector = hyperplane_objects::read(&selector).unwrap();
            assert_eq!(matches(&parsed, &labels), expected, "{selector}");
        }
        assert!(!matches_some(None, &labels));
    }

    #[test]
    fn selectors_of_nodes_compare_numbers() {
        let labels = Labels::from([("cores".to_owned(), "8".to_owned())]);
        for (operator, value, expected) in [
            ("Gt", "4", true),
            ("Gt", "8", false),
            ("Lt", "9", true),
            ("Lt", "x", false),
        ] {
            let requirement = NodeSelectorRequirement {
                key: "cores".to_owned(),
                operator: operator.to_owned(),
                values: Some(vec![value.to_owned()]),
            };
            assert_eq!(node_satisfies(&requirement, &labels), expected, "{operator} {value}");
        }
    }
}
