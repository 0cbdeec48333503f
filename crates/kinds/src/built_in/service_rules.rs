//! What Services and their changes must be.

use std::{collections::BTreeSet, net::IpAddr};

use hyperplane_schema::{
    BadValue,
    names::{dns_1123_label, dns_1123_subdomain, qualified_name},
};
use serde_json::{Value, json};

use super::probe_rules::validate_port;
use crate::{
    Target,
    complaints::{Complaints, Path},
    labels::validate_labels,
    names::port_number,
    row::{carry_over_by_target, reset_status},
    value::{at, entry, field, is_set, list, number, text},
};

const NOT_FOR_EXTERNAL_NAME: &str = "may not be set for ExternalName services";
const ONLY_FOR_BALANCER: &str = "may only be used when `type` is 'LoadBalancer'";
/// The annotation that stops a service from being headless by mistake has no other name for "no address".
const NO_ADDRESS: &str = "None";
const LONGEST_AFFINITY_SECONDS: i64 = 86_400;

/// A new service says its address once or twice, and means the same.
pub(super) fn create_service(service: &mut Value) {
    reset_status(service);
    pair_addresses(service);
}

/// A list of addresses that was left out holds the one address.
fn pair_addresses(service: &mut Value) {
    let Some(specification) = service.get_mut("spec").and_then(Value::as_object_mut) else {
        return;
    };
    let address = field(specification, "clusterIP").to_owned();
    if !address.is_empty() && !is_set(specification.get("clusterIPs")) {
        specification.insert("clusterIPs".to_owned(), json!([address]));
    }
}

/// An update that leaves the address and the ports of nodes open keeps them, unless it changes to a type without.
pub(super) fn carry_over_service(service: &mut Value, old: &Value, target: Target<'_>) {
    carry_over_by_target(service, old, target);
    if target != Target::Main {
        return;
    }
    keep_addresses(service, old);
    keep_node_ports(service, old);
}

fn keep_addresses(service: &mut Value, old: &Value) {
    let is_external = |service: &Value| text(service, "spec.type") == "ExternalName";
    if is_external(service) || is_external(old) {
        return;
    }
    let Some(map) = service.as_object_mut() else { return };
    let specification = entry(map, "spec");
    let fields = ["clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy"];
    for name in fields {
        if let (false, Some(value)) = (is_set(specification.get(name)), old["spec"].get(name)) {
            specification.insert(name.to_owned(), value.clone());
        }
    }
    if field(specification, "clusterIP") != text(old, "spec.clusterIP")
        && specification.get("clusterIPs") == old["spec"].get("clusterIPs")
    {
        let address = field(specification, "clusterIP").to_owned();
        specification.insert("clusterIPs".to_owned(), json!([address]));
    }
}

fn keep_node_ports(service: &mut Value, old: &Value) {
    if !matches!(text(service, "spec.type"), "NodePort" | "LoadBalancer") {
        return;
    }
    let before = list(old, "spec.ports");
    let ports = service
        .get_mut("spec")
        .and_then(|specification| specification.get_mut("ports"));
    for port in ports.and_then(Value::as_array_mut).into_iter().flatten() {
        let same = before.iter().find(|candidate| {
            candidate.get("port") == port.get("port") && text(candidate, "protocol") == text(port, "protocol")
        });
        let node_port = same.and_then(|same| same.get("nodePort")).cloned();
        if let (Some(node_port), Some(map)) = (node_port, port.as_object_mut()) {
            map.entry("nodePort").or_insert(node_port);
        }
    }
}

pub(super) fn validate(service: &Value, old: Option<&Value>, target: Target<'_>, complaints: &mut Complaints) {
    if target == Target::Status {
        validate_status(service, complaints);
        return;
    }
    if let Some(old) = old {
        validate_address_change(service, old, complaints);
    }
    let specification = &service["spec"];
    let path = Path::new("spec");
    let kind = text(specification, "type");
    let is_headless = text(specification, "clusterIP") == NO_ADDRESS;
    if list(specification, "ports").is_empty() && !is_headless && kind != "ExternalName" {
        complaints.required(&path.child("ports"), "");
    }
    validate_type(specification, kind, is_headless, &path, complaints);
    validate_ports(specification, &path.child("ports"), complaints);
    validate_labels(specification.get("selector"), &path.child("selector"), complaints);
    validate_affinity(specification, &path, complaints);
    if kind != "ExternalName" {
        validate_addresses(specification, &path, complaints);
    }
    let known = ["ClusterIP", "ExternalName", "LoadBalancer", "NodePort"];
    complaints.required_one_of(&path.child("type"), kind, &known);
    validate_repeated_ports(specification, kind, &path.child("ports"), complaints);
    validate_balancer(specification, kind, &path, complaints);
    validate_traffic(specification, kind, &path, complaints);
}

fn validate_status(service: &Value, complaints: &mut Complaints) {
    let path = Path::new("status.loadBalancer.ingress");
    let entries = list(service, "status.loadBalancer.ingress");
    if text(service, "spec.type") != "LoadBalancer" && !entries.is_empty() {
        complaints.forbidden(&path, "may only be used when `spec.type` is 'LoadBalancer'");
        return;
    }
    for (index, entry) in entries.iter().enumerate() {
        let path = path.index(index);
        let (address, mode) = (text(entry, "ip"), entry.get("ipMode").and_then(Value::as_str));
        if !address.is_empty() {
            validate_address(address, &path.child("ip"), complaints);
        }
        match mode {
            None if !address.is_empty() => {
                complaints.required(&path.child("ipMode"), "must be specified when `ip` is set");
            }
            None => {}
            Some(_) if address.is_empty() => {
                complaints.forbidden(&path.child("ipMode"), "may not be specified when `ip` is not set");
            }
            Some(mode) => complaints.one_of(&path.child("ipMode"), mode, &["Proxy", "VIP"]),
        }
        let host = text(entry, "hostname");
        if !host.is_empty() {
            complaints.each(&path.child("hostname"), host, dns_1123_subdomain(host));
        }
    }
}

fn validate_type(specification: &Value, kind: &str, is_headless: bool, path: &Path<'_>, complaints: &mut Complaints) {
    if matches!(kind, "LoadBalancer" | "NodePort") && is_headless {
        let path = path.child("clusterIPs");
        complaints.invalid(
            &path.index(0),
            NO_ADDRESS,
            format!("may not be set to 'None' for {kind} services"),
        );
    }
    if kind != "ExternalName" {
        return;
    }
    for name in ["clusterIPs", "ipFamilies", "ipFamilyPolicy"] {
        if is_set(specification.get(name)) {
            complaints.forbidden(&path.child(name), NOT_FOR_EXTERNAL_NAME);
        }
    }
    let name = text(specification, "externalName").trim_end_matches('.');
    if name.is_empty() {
        complaints.required(&path.child("externalName"), "");
    } else {
        complaints.each(&path.child("externalName"), name, dns_1123_subdomain(name));
    }
}

fn validate_ports(specification: &Value, path: &Path<'_>, complaints: &mut Complaints) {
    let ports = list(specification, "ports");
    let mut names = BTreeSet::new();
    for (index, port) in ports.iter().enumerate() {
        let path = path.index(index);
        let name = text(port, "name");
        if name.is_empty() && ports.len() > 1 {
            complaints.required(&path.child("name"), "");
        } else if !name.is_empty() {
            complaints.each(&path.child("name"), name, dns_1123_label(name));
            if !names.insert(name) {
                complaints.duplicate(&path.child("name"), name);
            }
        }
        let number = number(port, "port").unwrap_or_default();
        complaints.each_number(&path.child("port"), number, port_number(number));
        complaints.required_one_of(&path.child("protocol"), text(port, "protocol"), &["SCTP", "TCP", "UDP"]);
        validate_port(port.get("targetPort"), &path.child("targetPort"), complaints);
        if let Some(protocol) = port.get("appProtocol").and_then(Value::as_str) {
            complaints.each(&path.child("appProtocol"), protocol, qualified_name(protocol));
        }
    }
}

fn validate_affinity(specification: &Value, path: &Path<'_>, complaints: &mut Complaints) {
    let affinity = text(specification, "sessionAffinity");
    complaints.required_one_of(&path.child("sessionAffinity"), affinity, &["ClientIP", "None"]);
    if affinity == "ClientIP"
        && let Some(seconds) = number(specification, "sessionAffinityConfig.clientIP.timeoutSeconds")
        && !(1..=LONGEST_AFFINITY_SECONDS).contains(&seconds)
    {
        let detail = "must be greater than 0 and less than 86400";
        complaints.invalid(
            &path.child("sessionAffinityConfig.clientIP.timeoutSeconds"),
            seconds,
            detail,
        );
    }
}

fn validate_addresses(specification: &Value, path: &Path<'_>, complaints: &mut Complaints) {
    let address = text(specification, "clusterIP");
    let addresses = list(specification, "clusterIPs");
    let list_path = path.child("clusterIPs");
    let shown = || at(specification, "clusterIPs").cloned().unwrap_or(Value::Null);
    match addresses.first() {
        None if !address.is_empty() => complaints.required(&list_path, ""),
        Some(_) if address.is_empty() => {
            complaints.invalid(&list_path, shown(), "must be empty when `clusterIP` is not specified");
        }
        Some(first) if first != address => {
            complaints.invalid(&list_path, shown(), "first value must match `clusterIP`");
        }
        _ => {}
    }
    let families = path.child("ipFamilies");
    for (index, family) in list(specification, "ipFamilies")
        .iter()
        .filter_map(Value::as_str)
        .enumerate()
    {
        complaints.one_of(&families.index(index), family, &["IPv4", "IPv6"]);
    }
    let policy = text(specification, "ipFamilyPolicy");
    if !policy.is_empty() {
        let known = ["PreferDualStack", "RequireDualStack", "SingleStack"];
        complaints.one_of(&path.child("ipFamilyPolicy"), policy, &known);
    }
    for (index, address) in addresses.iter().filter_map(Value::as_str).enumerate() {
        if address != NO_ADDRESS {
            validate_address(address, &list_path.index(index), complaints);
        }
    }
}

/// An address of version 4 or 6.
pub(super) fn validate_address(address: &str, path: &Path<'_>, complaints: &mut Complaints) {
    if address.parse::<IpAddr>().is_err() {
        complaints.invalid(
            path,
            address,
            "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)",
        );
    }
}

fn validate_repeated_ports(specification: &Value, kind: &str, path: &Path<'_>, complaints: &mut Complaints) {
    let ports = list(specification, "ports");
    let mut taken = BTreeSet::new();
    for (index, port) in ports.iter().enumerate() {
        let path = path.index(index);
        let node_port = number(port, "nodePort").unwrap_or_default();
        if kind == "ClusterIP" && node_port != 0 {
            complaints.forbidden(&path.child("nodePort"), "may not be used when `type` is 'ClusterIP'");
        }
        if node_port != 0 && !taken.insert((text(port, "protocol"), node_port)) {
            complaints.duplicate(&path.child("nodePort"), node_port);
        }
    }
    let mut seen = BTreeSet::new();
    for (index, port) in ports.iter().enumerate() {
        let (protocol, number) = (text(port, "protocol"), number(port, "port").unwrap_or_default());
        if !seen.insert((protocol, number)) {
            complaints.duplicate(&path.index(index), shown_port(protocol, number));
        }
    }
}

/// A port as upstream prints its internal form.
fn shown_port(protocol: &str, number: i64) -> BadValue {
    BadValue::Text(format!(
        r#"{{"Name":"","Protocol":"{protocol}","AppProtocol":null,"Port":{number},"TargetPort":0,"NodePort":0}}"#
    ))
}

fn validate_balancer(specification: &Value, kind: &str, path: &Path<'_>, complaints: &mut Complaints) {
    if kind == "LoadBalancer" {
        return;
    }
    if is_set(specification.get("loadBalancerSourceRanges")) {
        complaints.forbidden(&path.child("LoadBalancerSourceRanges"), ONLY_FOR_BALANCER);
    }
    if specification.get("allocateLoadBalancerNodePorts").is_some() {
        complaints.forbidden(&path.child("allocateLoadBalancerNodePorts"), ONLY_FOR_BALANCER);
    }
    if specification.get("loadBalancerClass").is_some() {
        complaints.forbidden(&path.child("loadBalancerClass"), ONLY_FOR_BALANCER);
    }
}

fn validate_traffic(specification: &Value, kind: &str, path: &Path<'_>, complaints: &mut Complaints) {
    let policy = text(specification, "externalTrafficPolicy");
    let policy_path = path.child("externalTrafficPolicy");
    let is_external = matches!(kind, "NodePort" | "LoadBalancer") || is_set(specification.get("externalIPs"));
    if is_external {
        complaints.required_one_of(&policy_path, policy, &["Cluster", "Local"]);
    } else if !policy.is_empty() {
        complaints.invalid(
            &policy_path,
            policy,
            "may only be set for externally-accessible services",
        );
    }
    let internal = text(specification, "internalTrafficPolicy");
    if !internal.is_empty() {
        complaints.one_of(&path.child("internalTrafficPolicy"), internal, &["Cluster", "Local"]);
    }
    let distribution = text(specification, "trafficDistribution");
    if !distribution.is_empty() {
        let known = ["PreferClose", "PreferSameZone", "PreferSameNode"];
        complaints.one_of(&path.child("trafficDistribution"), distribution, &known);
    }
}

/// The first address of a service stays, unless its type changes to or from one without.
fn validate_address_change(service: &Value, old: &Value, complaints: &mut Complaints) {
    let is_external = |service: &Value| text(service, "spec.type") == "ExternalName";
    if is_external(service) || is_external(old) {
        return;
    }
    let (before, now) = (list(old, "spec.clusterIPs"), list(service, "spec.clusterIPs"));
    if let Some(first) = before.first()
        && now.first() != Some(first)
    {
        let path = Path::new("spec.clusterIPs");
        let shown = at(service, "spec.clusterIPs").cloned().unwrap_or(Value::Null);
        let (path, detail) = match now.first() {
            None => (path.index(0), "primary clusterIP can not be unset"),
            Some(_) => (path.index(0), "may not change once set"),
        };
        complaints.invalid(&path, shown, detail);
    }
}

pub(super) fn service_warnings(service: &Value, old: Option<&Value>) -> Vec<String> {
    let specification = &service["spec"];
    let is_changed = old.is_none_or(|old| old["spec"] != *specification);
    let mut warnings = Vec::new();
    if is_changed && is_set(specification.get("externalIPs")) {
        warnings.push("spec.externalIPs is deprecated in v1.36+ and will be removed in a future release; consider using other means to route traffic to the service".to_owned());
    }
    if is_changed
        && text(specification, "sessionAffinity") == "ClientIP"
        && text(specification, "clusterIP") == NO_ADDRESS
    {
        warnings.push("spec.SessionAffinity is ignored for headless services".to_owned());
    }
    warnings
}
