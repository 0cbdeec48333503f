//! What an update of a pod may reach, by the path that it came through.

use serde_json::Value;

use crate::{
    Target,
    row::carry_over_all_but_status,
    value::{carry_over, entry, list, text},
};

pub(super) fn carry_over_pod(pod: &mut Value, old: &Value, target: Target<'_>) {
    match target {
        Target::Main => carry_over(pod, old, "status"),
        Target::Status => carry_over_for_status(pod, old),
        Target::Subresource("ephemeralcontainers") => {
            let wanted = pod["spec"].get("ephemeralContainers").cloned();
            keep_all_but_specification(pod, old);
            if let (Some(wanted), Some(map)) = (wanted, pod.as_object_mut()) {
                entry(map, "spec").insert("ephemeralContainers".to_owned(), wanted);
            }
        }
        Target::Subresource("resize") => {
            let wanted = pod["spec"].clone();
            keep_all_but_specification(pod, old);
            for containers in ["containers", "initContainers"] {
                if let Some(specification) = pod.get_mut("spec") {
                    resize(specification, &wanted, containers);
                }
            }
        }
        Target::Subresource(_) => {}
    }
}

fn carry_over_for_status(pod: &mut Value, old: &Value) {
    carry_over_all_but_status(pod, old);
    let Some(map) = pod.as_object_mut() else { return };
    let owners = old["metadata"].get("ownerReferences").cloned();
    let metadata = entry(map, "metadata");
    match owners {
        Some(owners) => metadata.insert("ownerReferences".to_owned(), owners),
        None => metadata.remove("ownerReferences"),
    };
    if text(pod, "status.qosClass").is_empty()
        && let Some(quality) = old["status"].get("qosClass").cloned()
        && let Some(map) = pod.as_object_mut()
    {
        entry(map, "status").insert("qosClass".to_owned(), quality);
    }
}

/// Everything stays as it was, except what identifies the version that the client saw.
fn keep_all_but_specification(pod: &mut Value, old: &Value) {
    let metadata = pod.get("metadata").cloned();
    *pod = old.clone();
    for field in ["resourceVersion", "uid", "managedFields"] {
        let value = metadata.as_ref().and_then(|metadata| metadata.get(field)).cloned();
        if let (Some(value), Some(map)) = (value, pod.as_object_mut()) {
            entry(map, "metadata").insert(field.to_owned(), value);
        }
    }
}

/// Takes over the resources of containers of the same name.
fn resize(specification: &mut Value, wanted: &Value, containers: &str) {
    let wanted = list(wanted, containers);
    for container in specification
        .get_mut(containers)
        .and_then(Value::as_array_mut)
        .into_iter()
        .flatten()
    {
        let same = wanted
            .iter()
            .find(|candidate| text(candidate, "name") == text(container, "name"));
        for field in ["resources", "resizePolicy"] {
            if let (Some(value), Some(map)) = (same.and_then(|same| same.get(field)), container.as_object_mut()) {
                map.insert(field.to_owned(), value.clone());
            }
        }
    }
}
