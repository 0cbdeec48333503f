//! CertificateSigningRequest.

use jiff::Timestamp;
use serde_json::Value;

use super::certificate_rules::validate;
use crate::{
    Target,
    cells::{NONE, name, object_age, or},
    human::human_duration,
    row::{AGE, CLUSTER, NAME, Row, STATUS, SubresourceRow},
    value::{carry_over, entry, is_set, list, number, text},
};

pub(super) const ROWS: &[Row] = &[Row {
    group: "certificates.k8s.io",
    plural: "certificatesigningrequests",
    singular: "certificatesigningrequest",
    kind: "CertificateSigningRequest",
    reset_fields: |target| match target {
        Target::Main => &[&["spec"], &["status"]],
        Target::Status => &[&["spec"], &["status", "conditions"]],
        Target::Subresource(_) => &[&["spec"], &["status", "certificate"]],
    },
    type_name: "certificates.CertificateSigningRequest",
    short_names: &["csr"],
    subresources: &[
        SubresourceRow {
            name: "approval",
            ..STATUS
        },
        STATUS,
    ],
    columns: &[
        NAME,
        AGE,
        ("SignerName", "string", 0),
        ("Requestor", "string", 0),
        ("RequestedDuration", "string", 0),
        ("Condition", "string", 0),
    ],
    cells,
    fields: &[("spec.signerName", &["spec.signerName"], "")],
    create,
    update,
    validate,
    stamp,
    ..CLUSTER
}];

/// Who asks is not the client's to say: the server fills these in from the request.
const REQUESTER: [&str; 4] = ["username", "uid", "groups", "extra"];

fn create(request: &mut Value) {
    crate::row::reset_status(request);
    if let Some(specification) = request.get_mut("spec").and_then(Value::as_object_mut) {
        specification.retain(|name, _| !REQUESTER.contains(&name.as_str()));
    }
}

fn update(request: &mut Value, old: &Value, target: Target<'_>) {
    carry_over(request, old, "spec");
    match target {
        Target::Main => carry_over(request, old, "status"),
        Target::Status => keep_decisions(request, old),
        Target::Subresource(_) => {
            let conditions = request["status"].get("conditions").cloned();
            carry_over(request, old, "status");
            if let Some(map) = request.as_object_mut() {
                let status = entry(map, "status");
                match conditions {
                    Some(conditions) => status.insert("conditions".to_owned(), conditions),
                    None => status.remove("conditions"),
                };
            }
        }
    }
}

fn is_decision(condition: &Value) -> bool {
    matches!(text(condition, "type"), "Approved" | "Denied")
}

/// An update of the status can neither approve nor deny: those conditions stay as they were, unless there are more or
/// fewer, which the rules refuse.
fn keep_decisions(request: &mut Value, old: &Value) {
    let count = |request: &Value| {
        list(request, "status.conditions")
            .iter()
            .filter(|entry| is_decision(entry))
            .count()
    };
    if count(request) != count(old) {
        return;
    }
    let kept = list(old, "status.conditions")
        .iter()
        .filter(|condition| is_decision(condition));
    let others = list(request, "status.conditions")
        .iter()
        .filter(|condition| !is_decision(condition));
    let conditions: Vec<Value> = kept.chain(others).cloned().collect();
    if let Some(map) = request.as_object_mut() {
        let status = entry(map, "status");
        if conditions.is_empty() {
            status.remove("conditions");
        } else {
            status.insert("conditions".to_owned(), Value::Array(conditions));
        }
    }
}

/// Conditions without times get the time of the request, or of the condition of the same type and status before.
fn stamp(request: &mut Value, old: Option<&Value>, target: Target<'_>, now: Timestamp) {
    if target == Target::Main {
        return;
    }
    let now = now.strftime("%Y-%m-%dT%H:%M:%SZ").to_string();
    let before = old.map_or(&[][..], |old| list(old, "status.conditions"));
    let conditions = request
        .get_mut("status")
        .and_then(|status| status.get_mut("conditions"));
    for condition in conditions.and_then(Value::as_array_mut).into_iter().flatten() {
        let same = before.iter().find(|candidate| {
            text(candidate, "type") == text(condition, "type") && text(candidate, "status") == text(condition, "status")
        });
        let transition = same.and_then(|same| same.get("lastTransitionTime")).cloned();
        let Some(map) = condition.as_object_mut() else { continue };
        if !is_set(map.get("lastUpdateTime")) {
            map.insert("lastUpdateTime".to_owned(), Value::from(now.as_str()));
        }
        if !is_set(map.get("lastTransitionTime")) {
            let time = transition.unwrap_or_else(|| Value::from(now.as_str()));
            map.insert("lastTransitionTime".to_owned(), time);
        }
    }
}

fn cells(request: &Value, now: Timestamp) -> Vec<Value> {
    let duration = number(request, "spec.expirationSeconds").map_or_else(|| NONE.to_owned(), human_duration);
    vec![
        name(request),
        object_age(request, now),
        Value::from(or(text(request, "spec.signerName"), NONE)),
        Value::from(text(request, "spec.username")),
        Value::from(duration),
        Value::from(condition(request)),
    ]
}

fn condition(request: &Value) -> String {
    let has = |kind| {
        list(request, "status.conditions")
            .iter()
            .any(|condition| text(condition, "type") == kind)
    };
    let decision = match (has("Denied"), has("Approved")) {
        (true, _) => "Denied",
        (false, true) => "Approved",
        (false, false) => "Pending",
    };
    let failed = if has("Failed") { ",Failed" } else { "" };
    let issued = if text(request, "status.certificate").is_empty() {
        ""
    } else {
        ",Issued"
    };
    format!("{decision}{failed}{issued}")
}
