//! Webhook configurations and admission policies.

use jiff::Timestamp;
use serde_json::Value;

use super::admission_rules::{validate_mutating_webhooks, validate_validating_webhooks};
use crate::{
    cells::{UNSET, name, object_age, selector_text},
    row::{AGE, CLUSTER, Generation, NAME, Row, STATUS},
    value::{at, list, text},
};

pub(super) const ROWS: &[Row] = &[
    Row {
        plural: "mutatingadmissionpolicies",
        singular: "mutatingadmissionpolicy",
        kind: "MutatingAdmissionPolicy",
        type_name: "admission.MutatingAdmissionPolicy",
        columns: &[NAME, ("Mutations", "integer", 0), ("ParamKind", "string", 0), AGE],
        cells: |object, now| policy_cells(object, now, "spec.mutations"),
        ..ADMISSION
    },
    Row {
        plural: "mutatingadmissionpolicybindings",
        singular: "mutatingadmissionpolicybinding",
        kind: "MutatingAdmissionPolicyBinding",
        type_name: "admission.MutatingAdmissionPolicyBinding",
        ..POLICY_BINDING
    },
    Row {
        plural: "mutatingwebhookconfigurations",
        singular: "mutatingwebhookconfiguration",
        kind: "MutatingWebhookConfiguration",
        type_name: "admission.MutatingWebhookConfiguration",
        validate: validate_mutating_webhooks,
        ..WEBHOOKS
    },
    Row {
        plural: "validatingadmissionpolicies",
        singular: "validatingadmissionpolicy",
        kind: "ValidatingAdmissionPolicy",
        type_name: "admission.ValidatingAdmissionPolicy",
        subresources: &[STATUS],
        columns: &[NAME, ("Validations", "integer", 0), ("ParamKind", "string", 0), AGE],
        cells: |object, now| policy_cells(object, now, "spec.validations"),
        ..ADMISSION
    },
    Row {
        plural: "validatingadmissionpolicybindings",
        singular: "validatingadmissionpolicybinding",
        kind: "ValidatingAdmissionPolicyBinding",
        type_name: "admission.ValidatingAdmissionPolicyBinding",
        ..POLICY_BINDING
    },
    Row {
        plural: "validatingwebhookconfigurations",
        singular: "validatingwebhookconfiguration",
        kind: "ValidatingWebhookConfiguration",
        type_name: "admission.ValidatingWebhookConfiguration",
        validate: validate_validating_webhooks,
        ..WEBHOOKS
    },
];

const ADMISSION: Row = Row {
    group: "admissionregistration.k8s.io",
    categories: &["api-extensions"],
    generation: Generation::Specification,
    allows_unconditional_update: false,
    ..CLUSTER
};

const WEBHOOKS: Row = Row {
    columns: &[NAME, ("Webhooks", "integer", 0), AGE],
    cells: |object, now| {
        vec![
            name(object),
            Value::from(list(object, "webhooks").len()),
            object_age(object, now),
        ]
    },
    ..ADMISSION
};

const POLICY_BINDING: Row = Row {
    columns: &[NAME, ("PolicyName", "string", 0), ("ParamRef", "string", 0), AGE],
    cells: binding_cells,
    ..ADMISSION
};

fn policy_cells(policy: &Value, now: Timestamp, rules: &str) -> Vec<Value> {
    let kind = at(policy, "spec.paramKind").map_or_else(
        || UNSET.to_owned(),
        |kind| format!("{}/{}", text(kind, "apiVersion"), text(kind, "kind")),
    );
    vec![
        name(policy),
        Value::from(list(policy, rules).len()),
        Value::from(kind),
        object_age(policy, now),
    ]
}

fn binding_cells(binding: &Value, now: Timestamp) -> Vec<Value> {
    let reference = &binding["spec"]["paramRef"];
    let parameter = match (text(reference, "name"), text(reference, "namespace")) {
        ("", _) => match reference.get("selector") {
            Some(selector) => selector_text(Some(selector)),
            None => UNSET.to_owned(),
        },
        (name, "") => format!("*/{name}"),
        (name, namespace) => format!("{namespace}/{name}"),
    };
    vec![
        name(binding),
        Value::from(text(binding, "spec.policyName")),
        Value::from(parameter),
        object_age(binding, now),
    ]
}
