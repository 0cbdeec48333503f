//! What the containers of a pod must be (core/validation).

use std::collections::BTreeSet;

use hyperplane_schema::names::dns_1123_label;
use serde_json::Value;

use super::{
    environment_rules::validate_environment,
    probe_rules::{validate_lifecycle, validate_probes},
    resource_rules::validate_resources,
};
use crate::{
    complaints::{Complaints, Path},
    names::{in_range, port_name, port_number},
    value::{is_set, is_true, list, number, text},
};

/// What users and groups may be numbered.
const HIGHEST_ID: i64 = i32::MAX as i64;
const NOT_FOR_INIT: &str = "may not be set for init containers without restartPolicy=Always";

/// What the rules about one container need to know of its pod.
pub(super) struct PodFacts<'a> {
    /// The volumes that passed their own rules.
    pub volumes: BTreeSet<&'a str>,
}

/// The containers of a pod, of which there must be one.
pub(super) fn validate_containers(
    specification: &Value,
    facts: &PodFacts<'_>,
    path: &Path<'_>,
    complaints: &mut Complaints,
) {
    let path = path.child("containers");
    let containers = list(specification, "containers");
    if containers.is_empty() {
        complaints.required(&path, "");
        return;
    }
    let mut names = BTreeSet::new();
    for (index, container) in containers.iter().enumerate() {
        let path = path.index(index);
        validate_container(container, facts, &path, complaints);
        let name = text(container, "name");
        if !names.insert(name) {
            complaints.duplicate(&path.child("name"), name);
        }
        validate_lifecycle(container, &path, complaints);
        validate_probes(container, &path, complaints);
    }
    validate_host_ports(containers, &path, complaints);
}

/// Init containers, whose names must differ from those of the others too.
pub(super) fn validate_init_containers(
    specification: &Value,
    facts: &PodFacts<'_>,
    path: &Path<'_>,
    complaints: &mut Complaints,
) {
    let path = path.child("initContainers");
    let mut names: BTreeSet<&str> = list(specification, "containers")
        .iter()
        .map(|container| text(container, "name"))
        .collect();
    for (index, container) in list(specification, "initContainers").iter().enumerate() {
        let path = path.index(index);
        validate_container(container, facts, &path, complaints);
        let name = text(container, "name");
        if !names.insert(name) {
            complaints.duplicate(&path.child("name"), name);
        }
        if text(container, "restartPolicy") == "Always" {
            validate_lifecycle(container, &path, complaints);
            validate_probes(container, &path, complaints);
            continue;
        }
        for field in ["lifecycle", "livenessProbe", "readinessProbe", "startupProbe"] {
            if container.get(field).is_some() {
                complaints.forbidden(&path.child(field), NOT_FOR_INIT);
            }
        }
    }
}

fn validate_container(container: &Value, facts: &PodFacts<'_>, path: &Path<'_>, complaints: &mut Complaints) {
    let name = text(container, "name");
    let name_path = path.child("name");
    if name.is_empty() {
        complaints.required(&name_path, "");
    } else {
        complaints.each(&name_path, name, dns_1123_label(name));
    }
    if text(container, "image").is_empty() {
        complaints.required(&path.child("image"), "");
    }
    complaints.required_one_of(
        &path.child("terminationMessagePolicy"),
        text(container, "terminationMessagePolicy"),
        &["File", "FallbackToLogsOnError"],
    );
    validate_ports(container, &path.child("ports"), complaints);
    validate_environment(container, path, complaints);
    validate_mounts(container, facts, &path.child("volumeMounts"), complaints);
    complaints.required_one_of(
        &path.child("imagePullPolicy"),
        text(container, "imagePullPolicy"),
        &["Always", "IfNotPresent", "Never"],
    );
    validate_resources(&container["resources"], &path.child("resources"), complaints);
    validate_security(container, &path.child("securityContext"), complaints);
}

fn validate_ports(container: &Value, path: &Path<'_>, complaints: &mut Complaints) {
    let mut names = BTreeSet::new();
    for (index, port) in list(container, "ports").iter().enumerate() {
        let path = path.index(index);
        let name = text(port, "name");
        if !name.is_empty() {
            let messages = port_name(name);
            if messages.is_empty() && !names.insert(name) {
                complaints.duplicate(&path.child("name"), name);
            }
            complaints.each(&path.child("name"), name, messages);
        }
        match number(port, "containerPort").unwrap_or_default() {
            0 => complaints.required(&path.child("containerPort"), ""),
            number => complaints.each_number(&path.child("containerPort"), number, port_number(number)),
        }
        let host_port = number(port, "hostPort").unwrap_or_default();
        if host_port != 0 {
            complaints.each_number(&path.child("hostPort"), host_port, port_number(host_port));
        }
        complaints.required_one_of(&path.child("protocol"), text(port, "protocol"), &["SCTP", "TCP", "UDP"]);
    }
}

/// A port of the host can be taken once.
fn validate_host_ports(containers: &[Value], path: &Path<'_>, complaints: &mut Complaints) {
    let mut taken = BTreeSet::new();
    for (index, container) in containers.iter().enumerate() {
        let path = path.index(index);
        let path = path.child("ports");
        for (index, port) in list(container, "ports").iter().enumerate() {
            let host_port = number(port, "hostPort").unwrap_or_default();
            let key = format!("{}/{}/{host_port}", text(port, "protocol"), text(port, "hostIP"));
            if host_port != 0 && !taken.insert(key.clone()) {
                let path = path.index(index);
                complaints.duplicate(&path.child("hostPort"), key);
            }
        }
    }
}

fn validate_mounts(container: &Value, facts: &PodFacts<'_>, path: &Path<'_>, complaints: &mut Complaints) {
    let mut places = BTreeSet::new();
    for (index, mount) in list(container, "volumeMounts").iter().enumerate() {
        let item = path.index(index);
        let name = text(mount, "name");
        if name.is_empty() {
            complaints.required(&item.child("name"), "");
        }
        if !facts.volumes.contains(name) {
            complaints.not_found(&item.child("name"), name);
        }
        let place = text(mount, "mountPath");
        if place.is_empty() {
            complaints.required(&item.child("mountPath"), "");
        }
        if !places.insert(place) {
            complaints.invalid(&item.child("mountPath"), place, "must be unique");
        }
        for field in ["subPath", "subPathExpr"] {
            validate_descending(text(mount, field), &path.child(field), complaints);
        }
        if is_set(mount.get("subPath")) && is_set(mount.get("subPathExpr")) {
            let expression = text(mount, "subPathExpr");
            let detail = "subPathExpr and subPath are mutually exclusive";
            complaints.invalid(&item.child("subPathExpr"), expression, detail);
        }
    }
}

/// A path that stays below where it starts.
pub(super) fn validate_descending(place: &str, path: &Path<'_>, complaints: &mut Complaints) {
    if place.starts_with('/') {
        complaints.invalid(path, place, "must be a relative path");
    }
    validate_no_backsteps(place, path, complaints);
}

pub(super) fn validate_no_backsteps(place: &str, path: &Path<'_>, complaints: &mut Complaints) {
    if place.split('/').any(|part| part == "..") {
        complaints.invalid(path, place, "must not contain '..'");
    }
}

fn validate_security(container: &Value, path: &Path<'_>, complaints: &mut Complaints) {
    let Some(context) = container.get("securityContext") else {
        return;
    };
    for field in ["runAsUser", "runAsGroup"] {
        if let Some(id) = number(context, field) {
            complaints.each_number(&path.child(field), id, in_range(id, 0, HIGHEST_ID));
        }
    }
    let may_not_escalate = context.get("allowPrivilegeEscalation") == Some(&Value::Bool(false));
    if may_not_escalate && is_true(context, "privileged") {
        let detail = "cannot set `allowPrivilegeEscalation` to false and `privileged` to true";
        complaints.invalid(path, hyperplane_schema::BadValue::Omitted, detail);
    }
}

/// Ids of users and groups of a pod's own context.
pub(super) fn validate_pod_security(specification: &Value, path: &Path<'_>, complaints: &mut Complaints) {
    let Some(context) = specification.get("securityContext") else {
        return;
    };
    for field in ["fsGroup", "runAsUser", "runAsGroup"] {
        if let Some(id) = number(context, field) {
            complaints.each_number(&path.child(field), id, in_range(id, 0, HIGHEST_ID));
        }
    }
    let groups = path.child("supplementalGroups");
    for (index, id) in list(context, "supplementalGroups")
        .iter()
        .filter_map(Value::as_i64)
        .enumerate()
    {
        complaints.each_number(&groups.index(index), id, in_range(id, 0, HIGHEST_ID));
    }
}
