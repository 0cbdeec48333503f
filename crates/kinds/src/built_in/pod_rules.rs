//! What pods and their changes must be.

use serde_json::Value;

use super::pod_spec_rules::{validate_specification, validate_template};
use crate::{
    Target,
    complaints::{Complaints, Path, is_different},
    value::{is_set, list, number, text},
};

/// What an update of a pod may change, as upstream says it.
const MUTABLE: &str = "`spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)";

pub(super) fn validate_pod(pod: &Value, old: Option<&Value>, target: Target<'_>, complaints: &mut Complaints) {
    let path = Path::new("spec");
    match (old, target) {
        (None, _) => validate_new(pod, &path, complaints),
        (Some(old), Target::Main) => validate_change(pod, old, &path, complaints),
        (Some(old), Target::Status) => validate_status(pod, old, complaints),
        (Some(_), Target::Subresource(_)) => validate_specification(&pod["spec"], &path, true, complaints),
    }
}

pub(super) fn validate_pod_template(
    object: &Value,
    _old: Option<&Value>,
    _target: Target<'_>,
    complaints: &mut Complaints,
) {
    validate_template(&object["template"], &Path::new("template"), complaints);
}

fn validate_new(pod: &Value, path: &Path<'_>, complaints: &mut Complaints) {
    let specification = &pod["spec"];
    validate_specification(specification, path, true, complaints);
    if is_set(specification.get("ephemeralContainers")) {
        complaints.forbidden(&path.child("ephemeralContainers"), "cannot be set on create");
    }
    if is_set(specification.get("nodeName")) && is_set(specification.get("schedulingGates")) {
        let detail = "cannot be set until all schedulingGates have been cleared";
        complaints.forbidden(&path.child("nodeName"), detail);
    }
}

fn validate_change(pod: &Value, old: &Value, path: &Path<'_>, complaints: &mut Complaints) {
    let (new, old) = (&pod["spec"], &old["spec"]);
    if new == old {
        return;
    }
    validate_specification(new, path, true, complaints);
    for field in ["containers", "initContainers"] {
        if list(new, field).len() != list(old, field).len() {
            complaints.forbidden(&path.child(field), "pod updates may not add or remove containers");
            return;
        }
    }
    if !validate_deadline(new, old, &path.child("activeDeadlineSeconds"), complaints) {
        return;
    }
    validate_added_tolerations(new, old, &path.child("tolerations"), complaints);
    validate_removed_gates(new, old, &path.child("schedulingGates"), complaints);
    if is_otherwise_changed(new, old) {
        complaints.forbidden(path, format!("pod updates may not change fields other than {MUTABLE}"));
    }
}

/// Says whether the rest is looked at.
fn validate_deadline(new: &Value, old: &Value, path: &Path<'_>, complaints: &mut Complaints) -> bool {
    match (
        number(new, "activeDeadlineSeconds"),
        number(old, "activeDeadlineSeconds"),
    ) {
        (Some(new), Some(old)) if new > old => {
            complaints.invalid(path, new, "must be less than or equal to previous value");
            return false;
        }
        (None, Some(_)) => {
            complaints.invalid(
                path,
                Value::Null,
                "must not update from a positive integer to nil value",
            );
        }
        _ => {}
    }
    true
}

fn validate_added_tolerations(new: &Value, old: &Value, path: &Path<'_>, complaints: &mut Complaints) {
    let without_seconds = |toleration: &Value| {
        let mut toleration = toleration.clone();
        toleration
            .as_object_mut()
            .and_then(|map| map.remove("tolerationSeconds"));
        toleration
    };
    let kept: Vec<Value> = list(new, "tolerations").iter().map(without_seconds).collect();
    if !list(old, "tolerations")
        .iter()
        .all(|toleration| kept.contains(&without_seconds(toleration)))
    {
        complaints.forbidden(
            path,
            "existing toleration can not be modified except its tolerationSeconds",
        );
    }
}

fn validate_removed_gates(new: &Value, old: &Value, path: &Path<'_>, complaints: &mut Complaints) {
    let old = list(old, "schedulingGates");
    for (index, gate) in list(new, "schedulingGates").iter().enumerate() {
        if !old.contains(gate) {
            let name = text(gate, "name");
            let detail = format!("only deletion is allowed, but found new scheduling gate '{name}'");
            complaints.forbidden(&path.index(index), detail);
        }
    }
}

/// Whether anything differs but what an update may change.
fn is_otherwise_changed(new: &Value, old: &Value) -> bool {
    let mut new = new.clone();
    for field in ["activeDeadlineSeconds", "tolerations", "schedulingGates"] {
        crate::value::carry_over(&mut new, old, field);
    }
    for field in ["containers", "initContainers"] {
        let before = list(old, field);
        let now = new.get_mut(field).and_then(Value::as_array_mut);
        for (container, before) in now.into_iter().flatten().zip(before) {
            crate::value::carry_over(container, before, "image");
        }
    }
    let may_shorten = number(old, "terminationGracePeriodSeconds").is_some_and(|seconds| seconds < 0)
        && number(&new, "terminationGracePeriodSeconds") == Some(1);
    if may_shorten {
        crate::value::carry_over(&mut new, old, "terminationGracePeriodSeconds");
    }
    is_different(Some(&new), Some(old))
}

fn validate_status(pod: &Value, old: &Value, complaints: &mut Complaints) {
    let (new, old) = (text(pod, "spec.nodeName"), text(old, "spec.nodeName"));
    if new != old {
        complaints.forbidden(&Path::new("spec.nodeName"), "may not be changed directly");
    }
}
