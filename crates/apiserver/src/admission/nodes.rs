//! A new node takes no pods until it says that it is ready.

use serde_json::{Value, json};

use crate::call::Call;

const NOT_READY: &str = "node.kubernetes.io/not-ready";

/// Taints a new node.
pub(super) fn complete(call: &Call, node: &mut Value) {
    if !call.served.resource.group.is_empty() || call.served.resource.plural != "nodes" {
        return;
    }
    let taints = node["spec"]["taints"].as_array();
    if taints
        .into_iter()
        .flatten()
        .any(|taint| taint["key"] == NOT_READY && taint["effect"] == "NoSchedule")
    {
        return;
    }
    let taint = json!({"key": NOT_READY, "effect": "NoSchedule"});
    match node["spec"]["taints"].as_array_mut() {
        Some(taints) => taints.push(taint),
        None => node["spec"]["taints"] = json!([taint]),
    }
}
