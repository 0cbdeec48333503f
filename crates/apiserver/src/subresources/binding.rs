//! Binds a pod to a node, once.

use hyperplane_schema::FieldError;
use hyperplane_wire::{Failure, GroupResource, Reason};
use serde_json::{Map, Value, json};

use super::success;
use crate::{call::Call, core::Core, metadata, verbs::modify::Modification};

/// Binds the pod that a Binding names.
pub(super) async fn create(core: &Core, call: &Call, binding: &Value) -> Result<Value, Failure> {
    let name = metadata::text(binding, "name");
    if name != call.name {
        return Err(Failure::bad_request(
            "name in URL does not match name in Binding object",
        ));
    }
    check_target(binding)?;
    let uid = Some(metadata::text(binding, "uid").to_owned()).filter(|uid| !uid.is_empty());
    let now = metadata::time(core.clock.now());
    let next = |old: Option<&Value>| {
        let mut pod = old.ok_or_else(|| call.not_found())?.clone();
        check_pod(call, &pod)?;
        assign(&mut pod, binding, &now);
        Ok(pod)
    };
    let modification = Modification {
        uid,
        creates: false,
        next: &next,
    };
    core.modify(call, &modification).await?;
    Ok(success())
}

fn check_target(binding: &Value) -> Result<(), Failure> {
    let target = |field: &str| binding["target"][field].as_str().unwrap_or_default();
    let mut errors = Vec::new();
    if !matches!(target("kind"), "" | "Node") {
        errors.push(FieldError::not_supported(
            "target.kind",
            target("kind"),
            ["Node", "<empty>"],
        ));
    }
    if target("name").is_empty() {
        errors.push(FieldError::required("target.name", ""));
    }
    match errors.as_slice() {
        [] => Ok(()),
        errors => {
            let texts: Vec<String> = errors.iter().map(ToString::to_string).collect();
            let text = texts.join(", ");
            Err(Failure::new(
                Reason::Unknown,
                if errors.len() > 1 { format!("[{text}]") } else { text },
            ))
        }
    }
}

fn check_pod(call: &Call, pod: &Value) -> Result<(), Failure> {
    let name = &call.name;
    let node = pod["spec"]["nodeName"].as_str().unwrap_or_default();
    let has_gates = pod["spec"]["schedulingGates"]
        .as_array()
        .is_some_and(|gates| !gates.is_empty());
    let complaint = if metadata::is_deleting(pod) {
        format!("pod {name} is being deleted, cannot be assigned to a host")
    } else if !node.is_empty() {
        format!("pod {name} is already assigned to node {node:?}")
    } else if has_gates {
        format!("pod {name} has non-empty .spec.schedulingGates")
    } else {
        return Ok(());
    };
    Err(Failure::conflict(
        &GroupResource::new("", "pods/binding"),
        name,
        complaint,
    ))
}

fn assign(pod: &mut Value, binding: &Value, now: &str) {
    pod["spec"]["nodeName"] = binding["target"]["name"].clone();
    if let Some(status) = pod["status"].as_object_mut() {
        status.remove("nominatedNodeName");
    }
    for field in ["annotations", "labels"] {
        if let Some(added) = metadata::of(binding).get(field).and_then(Value::as_object) {
            let known = metadata::of_mut(pod)
                .entry(field)
                .or_insert_with(|| Value::Object(Map::new()));
            if let Some(known) = known.as_object_mut() {
                known.extend(added.clone());
            }
        }
    }
    super::set_pod_condition(pod, &json!({"type": "PodScheduled", "status": "True"}), now);
}
