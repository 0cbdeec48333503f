//! Pod and PodTemplate.

use jiff::Timestamp;
use serde_json::{Value, json};

use super::{
    pod_cells::{pod_cells, template_cells},
    pod_changes::carry_over_pod,
    pod_quality::quality_of_service,
    pod_rules::{validate_pod, validate_pod_template},
};
use crate::{
    Target, Verb,
    row::{AGE, Generation, NAME, NAMESPACED, Row, STATUS, SubresourceRow},
    value::{is_set, list, number, text},
};

pub(super) const ROWS: &[Row] = &[POD, POD_TEMPLATE];

const PROXY_VERBS: &[Verb] = &[Verb::Create, Verb::Delete, Verb::Get, Verb::Patch, Verb::Update];

const fn stream(name: &'static str, kind: &'static str) -> SubresourceRow {
    SubresourceRow {
        name,
        kind,
        verbs: &[Verb::Create, Verb::Get],
        ..STATUS
    }
}

const POD: Row = Row {
    plural: "pods",
    singular: "pod",
    kind: "Pod",
    reset_fields: |target| match target {
        Target::Main => &[&["status"]],
        Target::Status => &[
            &["spec"],
            &["metadata", "deletionTimestamp"],
            &["metadata", "ownerReferences"],
        ],
        Target::Subresource(_) => &[],
    },
    grace: |pod, requested| Some(grace_period_seconds(pod, requested)),
    returns_deleted: true,
    type_name: "core.Pod",
    short_names: &["po"],
    categories: &["all"],
    subresources: &[
        stream("attach", "PodAttachOptions"),
        SubresourceRow {
            name: "binding",
            kind: "Binding",
            verbs: &[Verb::Create],
            ..STATUS
        },
        SubresourceRow {
            name: "ephemeralcontainers",
            ..STATUS
        },
        SubresourceRow {
            name: "eviction",
            kind: "Eviction",
            group: "policy",
            version: "v1",
            verbs: &[Verb::Create],
        },
        stream("exec", "PodExecOptions"),
        SubresourceRow {
            name: "log",
            verbs: &[Verb::Get],
            ..STATUS
        },
        stream("portforward", "PodPortForwardOptions"),
        SubresourceRow {
            name: "proxy",
            kind: "PodProxyOptions",
            verbs: PROXY_VERBS,
            ..STATUS
        },
        SubresourceRow {
            name: "resize",
            ..STATUS
        },
        STATUS,
    ],
    columns: &[
        NAME,
        ("Ready", "string", 0),
        ("Status", "string", 0),
        ("Restarts", "string", 0),
        AGE,
        ("IP", "string", 1),
        ("Node", "string", 1),
        ("Nominated Node", "string", 1),
        ("Readiness Gates", "string", 1),
    ],
    cells: pod_cells,
    fields: &[
        ("spec.host", &["spec.nodeName"], ""),
        ("spec.hostNetwork", &["spec.hostNetwork"], "false"),
        ("spec.nodeName", &["spec.nodeName"], ""),
        ("spec.restartPolicy", &["spec.restartPolicy"], ""),
        ("spec.schedulerName", &["spec.schedulerName"], ""),
        ("spec.serviceAccountName", &["spec.serviceAccountName"], ""),
        ("status.nominatedNodeName", &["status.nominatedNodeName"], ""),
        ("status.phase", &["status.phase"], ""),
        ("status.podIP", &["status.podIP"], ""),
        // Upstream takes the label and knows no value for it.
        ("status.podIPs", &[], ""),
    ],
    generation: Generation::Specification,
    create: create_pod,
    update: carry_over_pod,
    validate: validate_pod,
    warnings: super::pod_warnings::pod_warnings,
    stamp: stamp_new_pod,
    ..NAMESPACED
};

const POD_TEMPLATE: Row = Row {
    plural: "podtemplates",
    singular: "podtemplate",
    kind: "PodTemplate",
    returns_deleted: true,
    type_name: "core.PodTemplate",
    columns: &[
        NAME,
        ("Containers", "string", 0),
        ("Images", "string", 0),
        ("Pod Labels", "string", 0),
    ],
    cells: template_cells,
    generation: Generation::Specification,
    validate: validate_pod_template,
    ..NAMESPACED
};

/// A new pod is pending, of a quality that its resources decide, and not scheduled while a gate holds it.
fn create_pod(pod: &mut Value) {
    let mut status = json!({ "phase": "Pending", "qosClass": quality_of_service(pod) });
    if is_set(pod["spec"].get("schedulingGates")) && !list(pod, "spec.schedulingGates").is_empty() {
        status["conditions"] = json!([{
            "type": "PodScheduled",
            "status": "False",
            "reason": "SchedulingGated",
            "message": "Scheduling is blocked due to non-empty scheduling gates",
            "lastProbeTime": null,
        }]);
    }
    if let Some(map) = pod.as_object_mut() {
        map.insert("status".to_owned(), status);
    }
}

/// How long a pod may take to end: what the client asked for, else what the pod says; nothing for one that never started.
fn grace_period_seconds(pod: &Value, requested: Option<i64>) -> i64 {
    let has_ended = matches!(text(pod, "status.phase"), "Succeeded" | "Failed");
    if has_ended || text(pod, "spec.nodeName").is_empty() {
        return 0;
    }
    let period = requested
        .or_else(|| number(pod, "spec.terminationGracePeriodSeconds"))
        .unwrap_or_default();
    if period < 0 { 1 } else { period }
}

/// A condition that the server made has the time of the request.
fn stamp_new_pod(pod: &mut Value, old: Option<&Value>, _target: Target<'_>, now: Timestamp) {
    if old.is_some() {
        return;
    }
    let conditions = pod.get_mut("status").and_then(|status| status.get_mut("conditions"));
    let now = now.strftime("%Y-%m-%dT%H:%M:%SZ").to_string();
    for condition in conditions.and_then(Value::as_array_mut).into_iter().flatten() {
        if let Some(condition) = condition.as_object_mut() {
            condition.insert("lastTransitionTime".to_owned(), json!(now));
        }
    }
}
