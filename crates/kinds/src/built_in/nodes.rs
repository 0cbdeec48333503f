//! Node.

use std::collections::BTreeSet;

use jiff::Timestamp;
use serde_json::Value;

use super::node_rules::validate;
use crate::{
    Verb,
    cells::{NONE, name, object_age, or},
    row::{CLUSTER, NAME, Row, STATUS, SubresourceRow},
    value::{is_true, list, object, text},
};

pub(super) const ROWS: &[Row] = &[Row {
    plural: "nodes",
    singular: "node",
    kind: "Node",
    type_name: "core.Node",
    short_names: &["no"],
    subresources: &[
        SubresourceRow {
            name: "proxy",
            kind: "NodeProxyOptions",
            verbs: &[Verb::Create, Verb::Delete, Verb::Get, Verb::Patch, Verb::Update],
            ..STATUS
        },
        STATUS,
    ],
    columns: &[
        NAME,
        ("Status", "string", 0),
        ("Roles", "string", 0),
        ("Age", "string", 0),
        ("Version", "string", 0),
        ("Internal-IP", "string", 1),
        ("External-IP", "string", 1),
        ("OS-Image", "string", 1),
        ("Kernel-Version", "string", 1),
        ("Container-Runtime", "string", 1),
    ],
    cells,
    fields: &[("spec.unschedulable", &["spec.unschedulable"], "false")],
    // A kubelet registers its node together with its status.
    create: |_| {},
    validate,
    ..CLUSTER
}];

const ROLE_PREFIX: &str = "node-role.kubernetes.io/";
const ROLE_LABEL: &str = "kubernetes.io/role";
const UNKNOWN: &str = "<unknown>";

fn cells(node: &Value, now: Timestamp) -> Vec<Value> {
    let information = |field: &str| text(&node["status"]["nodeInfo"], field);
    let mut kernel = or(information("kernelVersion"), UNKNOWN).to_owned();
    let architecture = information("architecture");
    if !architecture.is_empty() {
        kernel = format!("{kernel} ({architecture})");
    }
    vec![
        name(node),
        Value::from(status(node)),
        Value::from(roles(node)),
        object_age(node, now),
        Value::from(information("kubeletVersion")),
        Value::from(address(node, "InternalIP")),
        Value::from(address(node, "ExternalIP")),
        Value::from(or(information("osImage"), UNKNOWN)),
        Value::from(kernel),
        Value::from(or(information("containerRuntimeVersion"), UNKNOWN)),
    ]
}

fn status(node: &Value) -> String {
    let conditions = list(node, "status.conditions").iter();
    let ready = conditions.rev().find(|condition| text(condition, "type") == "Ready");
    let word = match ready.map(|condition| text(condition, "status")) {
        None => "Unknown",
        Some("True") => "Ready",
        Some(_) => "NotReady",
    };
    if is_true(node, "spec.unschedulable") {
        format!("{word},SchedulingDisabled")
    } else {
        word.to_owned()
    }
}

fn roles(node: &Value) -> String {
    let mut roles = BTreeSet::new();
    for (label, value) in object(node, "metadata.labels").into_iter().flatten() {
        match label.strip_prefix(ROLE_PREFIX) {
            Some(role) if !role.is_empty() => {
                roles.insert(role);
            }
            _ if label == ROLE_LABEL => roles.extend(value.as_str().filter(|role| !role.is_empty())),
            _ => {}
        }
    }
    or(&roles.into_iter().collect::<Vec<_>>().join(","), NONE).to_owned()
}

fn address<'a>(node: &'a Value, kind: &str) -> &'a str {
    let mut addresses = list(node, "status.addresses").iter();
    addresses
        .find(|address| text(address, "type") == kind)
        .map_or(NONE, |address| text(address, "address"))
}
