//! What affinities, tolerations and spread constraints must be.

use hyperplane_schema::names::{dns_1123_label, label_value, qualified_name};
use serde_json::Value;

use crate::{
    complaints::{Complaints, Path},
    labels::validate_selector,
    value::{list, number, text},
};

const REQUIRED: &str = "requiredDuringSchedulingIgnoredDuringExecution";
const PREFERRED: &str = "preferredDuringSchedulingIgnoredDuringExecution";
const WEIGHT: &str = "must be in the range 1-100";

pub(super) fn validate_affinity(specification: &Value, path: &Path<'_>, complaints: &mut Complaints) {
    let Some(affinity) = specification.get("affinity") else {
        return;
    };
    if let Some(nodes) = affinity.get("nodeAffinity") {
        validate_node_affinity(nodes, &path.child("nodeAffinity"), complaints);
    }
    for kind in ["podAffinity", "podAntiAffinity"] {
        if let Some(pods) = affinity.get(kind) {
            validate_pod_affinity(pods, &path.child(kind), complaints);
        }
    }
}

fn validate_node_affinity(affinity: &Value, path: &Path<'_>, complaints: &mut Complaints) {
    if let Some(required) = affinity.get(REQUIRED) {
        validate_node_selector(required, &path.child(REQUIRED), complaints);
    }
    let preferred = path.child(PREFERRED);
    for (index, term) in list(affinity, PREFERRED).iter().enumerate() {
        let path = preferred.index(index);
        validate_weight(term, &path, complaints);
        validate_node_term(&term["preference"], &path.child("preference"), false, complaints);
    }
}

/// A selector of nodes, which needs a term.
pub(super) fn validate_node_selector(selector: &Value, path: &Path<'_>, complaints: &mut Complaints) {
    let path = path.child("nodeSelectorTerms");
    let terms = list(selector, "nodeSelectorTerms");
    if terms.is_empty() {
        complaints.required(&path, "must have at least one node selector term");
    }
    for (index, term) in terms.iter().enumerate() {
        validate_node_term(term, &path.index(index), true, complaints);
    }
}

fn validate_node_term(term: &Value, path: &Path<'_>, checks_values: bool, complaints: &mut Complaints) {
    let expressions = path.child("matchExpressions");
    for (index, expression) in list(term, "matchExpressions").iter().enumerate() {
        validate_node_expression(expression, &expressions.index(index), checks_values, complaints);
    }
}

fn validate_node_expression(expression: &Value, path: &Path<'_>, checks_values: bool, complaints: &mut Complaints) {
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
        "Gt" | "Lt" if values.len() != 1 => {
            complaints.required(
                &values_path,
                "must be specified single value when `operator` is 'Lt' or 'Gt'",
            );
        }
        "In" | "NotIn" | "Exists" | "DoesNotExist" | "Gt" | "Lt" => {}
        other => complaints.invalid(&path.child("operator"), other, "not a valid selector operator"),
    }
    let key = text(expression, "key");
    complaints.each(&path.child("key"), key, qualified_name(key));
    if checks_values {
        for (index, value) in values.iter().filter_map(Value::as_str).enumerate() {
            complaints.each(&values_path.index(index), value, label_value(value));
        }
    }
}

fn validate_weight(term: &Value, path: &Path<'_>, complaints: &mut Complaints) {
    let weight = number(term, "weight").unwrap_or_default();
    if !(1..=100).contains(&weight) {
        complaints.invalid(&path.child("weight"), weight, WEIGHT);
    }
}

fn validate_pod_affinity(affinity: &Value, path: &Path<'_>, complaints: &mut Complaints) {
    let required = path.child(REQUIRED);
    for (index, term) in list(affinity, REQUIRED).iter().enumerate() {
        validate_pod_term(term, &required.index(index), complaints);
    }
    let preferred = path.child(PREFERRED);
    for (index, term) in list(affinity, PREFERRED).iter().enumerate() {
        let path = preferred.index(index);
        validate_weight(term, &path, complaints);
        validate_pod_term(&term["podAffinityTerm"], &path.child("podAffinityTerm"), complaints);
    }
}

fn validate_pod_term(term: &Value, path: &Path<'_>, complaints: &mut Complaints) {
    for selector in ["labelSelector", "namespaceSelector"] {
        validate_selector(term.get(selector), &path.child(selector), complaints);
    }
    for namespace in list(term, "namespaces").iter().filter_map(Value::as_str) {
        complaints.each(&path.child("namespace"), namespace, dns_1123_label(namespace));
    }
    let key = text(term, "topologyKey");
    let key_path = path.child("topologyKey");
    if key.is_empty() {
        complaints.required(&key_path, "can not be empty");
    }
    complaints.each(&key_path, key, qualified_name(key));
}

pub(super) fn validate_tolerations(specification: &Value, path: &Path<'_>, complaints: &mut Complaints) {
    for (index, toleration) in list(specification, "tolerations").iter().enumerate() {
        validate_toleration(toleration, &path.index(index), complaints);
    }
}

fn validate_toleration(toleration: &Value, path: &Path<'_>, complaints: &mut Complaints) {
    let field = |name| text(toleration, name);
    let (key, operator, value, effect) = (field("key"), field("operator"), field("value"), field("effect"));
    let operator_path = path.child("operator");
    if !key.is_empty() {
        complaints.each(&path.child("key"), key, qualified_name(key));
    } else if operator != "Exists" {
        let detail = "operator must be Exists when `key` is empty, which means \"match all values and all keys\"";
        complaints.invalid(&operator_path, operator, detail);
    }
    if toleration.get("tolerationSeconds").is_some() && effect != "NoExecute" {
        complaints.invalid(
            &path.child("effect"),
            effect,
            "effect must be 'NoExecute' when `tolerationSeconds` is set",
        );
    }
    match operator {
        "" | "Equal" => {
            let messages = label_value(value);
            if !messages.is_empty() {
                complaints.invalid(&operator_path, value, messages.join(";"));
            }
        }
        "Exists" if !value.is_empty() => {
            complaints.invalid(&operator_path, value, "value must be empty when `operator` is 'Exists'");
        }
        "Exists" => {}
        "Lt" | "Gt" => complaints.one_of(&operator_path, operator, &["Equal", "Exists", "Lt", "Gt"]),
        other => complaints.one_of(&operator_path, other, &["Equal", "Exists"]),
    }
    if !effect.is_empty() {
        complaints.one_of(
            &path.child("effect"),
            effect,
            &["NoSchedule", "PreferNoSchedule", "NoExecute"],
        );
    }
}

pub(super) fn validate_spread(specification: &Value, path: &Path<'_>, complaints: &mut Complaints) {
    for (index, constraint) in list(specification, "topologySpreadConstraints").iter().enumerate() {
        let path = path.index(index);
        let skew = number(constraint, "maxSkew").unwrap_or_default();
        if skew <= 0 {
            complaints.invalid(&path.child("maxSkew"), skew, "must be greater than zero");
        }
        if text(constraint, "topologyKey").is_empty() {
            complaints.required(&path.child("topologyKey"), "can not be empty");
        }
        let action = text(constraint, "whenUnsatisfiable");
        complaints.one_of(
            &path.child("whenUnsatisfiable"),
            action,
            &["DoNotSchedule", "ScheduleAnyway"],
        );
        validate_selector(
            constraint.get("labelSelector"),
            &path.child("labelSelector"),
            complaints,
        );
    }
}
