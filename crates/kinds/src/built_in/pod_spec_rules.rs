//! What the specification of a pod must be, in a pod and in every template.

use hyperplane_schema::names::{dns_1123_label, dns_1123_subdomain, qualified_name};
use serde_json::Value;

use super::{
    container_rules::{PodFacts, validate_containers, validate_init_containers, validate_pod_security},
    placement_rules::{validate_affinity, validate_spread, validate_tolerations},
    volume_source_rules::validate_volumes,
};
use crate::{
    complaints::{Complaints, Path},
    labels::{validate_annotations, validate_labels},
    names::in_range,
    value::{is_set, is_true, list, number, text},
};

/// A template of pods.
pub(super) fn validate_template(template: &Value, path: &Path<'_>, complaints: &mut Complaints) {
    let metadata = &template["metadata"];
    validate_labels(metadata.get("labels"), &path.child("labels"), complaints);
    validate_annotations(metadata.get("annotations"), &path.child("annotations"), complaints);
    let specification = path.child("spec");
    validate_specification(&template["spec"], &specification, false, complaints);
    if is_set(template["spec"].get("ephemeralContainers")) {
        let path = specification.child("ephemeralContainers");
        complaints.forbidden(&path, "ephemeral containers not allowed in pod template");
    }
}

/// The specification itself.
pub(super) fn validate_specification(
    specification: &Value,
    path: &Path<'_>,
    is_pod: bool,
    complaints: &mut Complaints,
) {
    let volumes = validate_volumes(specification, path, complaints);
    let facts = PodFacts { volumes };
    validate_containers(specification, &facts, path, complaints);
    validate_init_containers(specification, &facts, path, complaints);
    validate_host_network(specification, path, is_pod, complaints);
    complaints.required_one_of(
        &path.child("restartPolicy"),
        text(specification, "restartPolicy"),
        &["Always", "OnFailure", "Never"],
    );
    complaints.required_one_of(
        &path.child("dnsPolicy"),
        text(specification, "dnsPolicy"),
        &["ClusterFirstWithHostNet", "ClusterFirst", "Default", "None"],
    );
    validate_labels(
        specification.get("nodeSelector"),
        &path.child("nodeSelector"),
        complaints,
    );
    validate_pod_security(specification, &path.child("securityContext"), complaints);
    validate_affinity(specification, &path.child("affinity"), complaints);
    validate_dns(specification, &path.child("dnsConfig"), complaints);
    validate_gates(specification, path, complaints);
    validate_spread(specification, &path.child("topologySpreadConstraints"), complaints);
    validate_names(specification, path, complaints);
    validate_tolerations(specification, &path.child("tolerations"), complaints);
}

fn validate_host_network(specification: &Value, path: &Path<'_>, is_pod: bool, complaints: &mut Complaints) {
    if !is_true(specification, "hostNetwork") {
        return;
    }
    let path = path.child("containers");
    for (index, container) in list(specification, "containers").iter().enumerate() {
        let path = path.index(index);
        let path = path.child("ports");
        for (index, port) in list(container, "ports").iter().enumerate() {
            let path = path.index(index);
            let (host, container) = (
                number(port, "hostPort").unwrap_or_default(),
                number(port, "containerPort"),
            );
            if (is_pod || host != 0) && Some(host) != container {
                let detail = "must match `containerPort` when `hostNetwork` is true";
                complaints.invalid(&path.child("hostPort"), host, detail);
            }
        }
    }
}

fn validate_dns(specification: &Value, path: &Path<'_>, complaints: &mut Complaints) {
    if text(specification, "dnsPolicy") != "None" {
        return;
    }
    match specification.get("dnsConfig") {
        None => complaints.required(path, "must provide `dnsConfig` when `dnsPolicy` is None"),
        Some(config) if list(config, "nameservers").is_empty() => {
            let detail = "must provide at least one DNS nameserver when `dnsPolicy` is None";
            complaints.required(&path.child("nameservers"), detail);
        }
        Some(_) => {}
    }
}

fn validate_gates(specification: &Value, path: &Path<'_>, complaints: &mut Complaints) {
    let readiness = path.child("readinessGates");
    for (index, gate) in list(specification, "readinessGates").iter().enumerate() {
        let path = readiness.index(index);
        let kind = text(gate, "conditionType");
        complaints.each(&path.child("conditionType"), kind, qualified_name(kind));
    }
    let scheduling = path.child("schedulingGates");
    let gates = list(specification, "schedulingGates");
    for (index, gate) in gates.iter().enumerate() {
        let path = scheduling.index(index);
        let name = text(gate, "name");
        complaints.each(&path, name, qualified_name(name));
        if gates[..index].iter().any(|earlier| text(earlier, "name") == name) {
            complaints.duplicate(&path, name);
        }
    }
}

fn validate_names(specification: &Value, path: &Path<'_>, complaints: &mut Complaints) {
    for field in [
        "serviceAccountName",
        "nodeName",
        "priorityClassName",
        "runtimeClassName",
    ] {
        let name = text(specification, field);
        if !name.is_empty() {
            complaints.each(&path.child(field), name, dns_1123_subdomain(name));
        }
    }
    for field in ["hostname", "subdomain"] {
        let name = text(specification, field);
        if !name.is_empty() {
            complaints.each(&path.child(field), name, dns_1123_label(name));
        }
    }
    if let Some(seconds) = number(specification, "activeDeadlineSeconds") {
        let messages = in_range(seconds, 1, i64::from(i32::MAX));
        complaints.each_number(&path.child("activeDeadlineSeconds"), seconds, messages);
    }
}
