//! What Ingresses, NetworkPolicies and address ranges must be.

use std::net::IpAddr;

use hyperplane_schema::names::{dns_1123_label, dns_1123_subdomain, path_segment};
use serde_json::Value;

use crate::{
    Target,
    complaints::{Complaints, Path},
    labels::validate_selector,
    names::{port_name, port_number, wildcard_subdomain},
    value::{at, list, number, text},
};

const SPECIFICATION: Path<'static> = Path::new("spec");
const CLASS_ANNOTATION: &str = "kubernetes.io/ingress.class";
const ABSOLUTE: &str = "must be an absolute path";
/// Parts of paths that servers read differently.
const BAD_SEQUENCES: [&str; 5] = ["//", "/./", "/../", "%2f", "%2F"];

pub(super) fn validate_ingress(ingress: &Value, old: Option<&Value>, target: Target<'_>, complaints: &mut Complaints) {
    if target == Target::Status {
        return;
    }
    let specification = &ingress["spec"];
    let path = &SPECIFICATION;
    let rules = list(specification, "rules");
    let default = specification.get("defaultBackend");
    if rules.is_empty() && default.is_none() {
        complaints.invalid(
            path,
            Value::Null,
            "either `defaultBackend` or `rules` must be specified",
        );
    }
    if let Some(backend) = default {
        validate_backend(backend, &path.child("defaultBackend"), complaints);
    }
    let rules_path = path.child("rules");
    for (index, rule) in rules.iter().enumerate() {
        validate_ingress_rule(rule, &rules_path.index(index), complaints);
    }
    validate_tls(specification, &path.child("tls"), complaints);
    if let Some(class) = specification.get("ingressClassName").and_then(Value::as_str) {
        complaints.each(&path.child("ingressClassName"), class, dns_1123_subdomain(class));
        let annotation = at(ingress, "metadata.annotations").and_then(|annotations| annotations.get(CLASS_ANNOTATION));
        if let (None, Some(annotation)) = (old, annotation.and_then(Value::as_str))
            && annotation != class
        {
            let path = Path::new("annotations");
            let detail = "must match `ingressClassName` when both are specified";
            complaints.invalid(&path.child(CLASS_ANNOTATION), annotation, detail);
        }
    }
}

fn validate_host(host: &str, path: &Path<'_>, complaints: &mut Complaints) {
    let messages = if host.contains('*') {
        wildcard_subdomain(host)
    } else {
        dns_1123_subdomain(host)
    };
    complaints.each(path, host, messages);
}

fn validate_ingress_rule(rule: &Value, path: &Path<'_>, complaints: &mut Complaints) {
    let host = text(rule, "host");
    if !host.is_empty() {
        if host.parse::<IpAddr>().is_ok() {
            complaints.invalid(&path.child("host"), host, "must be a DNS name, not an IP address");
        }
        validate_host(host, &path.child("host"), complaints);
    }
    let Some(http) = rule.get("http") else { return };
    let path = path.child("http.paths");
    if list(http, "paths").is_empty() {
        complaints.required(&path, "");
    }
    for (index, entry) in list(http, "paths").iter().enumerate() {
        validate_http_path(entry, &path.index(index), complaints);
    }
}

fn validate_http_path(entry: &Value, path: &Path<'_>, complaints: &mut Complaints) {
    let place = text(entry, "path");
    let place_path = path.child("path");
    match entry.get("pathType").and_then(Value::as_str) {
        None => {
            complaints.required(&path.child("pathType"), "pathType must be specified");
            return;
        }
        Some("Exact" | "Prefix") => {
            if !place.starts_with('/') {
                complaints.invalid(&place_path, place, ABSOLUTE);
            }
            for sequence in BAD_SEQUENCES.iter().filter(|sequence| place.contains(**sequence)) {
                complaints.invalid(&place_path, place, format!("must not contain '{sequence}'"));
            }
            for suffix in ["/..", "/."].iter().filter(|suffix| place.ends_with(**suffix)) {
                complaints.invalid(&place_path, place, format!("cannot end with '{suffix}'"));
            }
        }
        Some("ImplementationSpecific") => {
            if !place.is_empty() && !place.starts_with('/') {
                complaints.invalid(&place_path, place, ABSOLUTE);
            }
        }
        Some(other) => {
            let known = ["Exact", "ImplementationSpecific", "Prefix"];
            complaints.one_of(&path.child("pathType"), other, &known);
        }
    }
    validate_backend(&entry["backend"], &path.child("backend"), complaints);
}

fn validate_backend(backend: &Value, path: &Path<'_>, complaints: &mut Complaints) {
    let service = match (backend.get("resource"), backend.get("service")) {
        (Some(_), Some(_)) => {
            complaints.invalid(path, "", "cannot set both resource and service backends");
            return;
        }
        (None, None) => {
            complaints.invalid(path, "", "resource or service backend is required");
            return;
        }
        (Some(resource), None) => {
            validate_local_reference(resource, &path.child("resource"), complaints);
            return;
        }
        (None, Some(service)) => service,
    };
    match text(service, "name") {
        "" => complaints.required(&path.child("service.name"), ""),
        name => complaints.each(&path.child("service.name"), name, dns_1123_label(name)),
    }
    let name = text(service, "port.name");
    let number = number(service, "port.number").unwrap_or_default();
    match (name.is_empty(), number) {
        (false, 0) => complaints.each(&path.child("service.port.name"), name, port_name(name)),
        (false, _) => complaints.invalid(path, "", "cannot set both port name & port number"),
        (true, 0) => complaints.required(path, "port name or number is required"),
        (true, number) => complaints.each_number(&path.child("service.port.number"), number, port_number(number)),
    }
}

fn validate_local_reference(reference: &Value, path: &Path<'_>, complaints: &mut Complaints) {
    if let Some(group) = reference.get("apiGroup").and_then(Value::as_str) {
        complaints.each(&path.child("apiGroup"), group, dns_1123_subdomain(group));
    }
    for field in ["kind", "name"] {
        match text(reference, field) {
            "" => complaints.required(&path.child(field), ""),
            name => complaints.each(&path.child(field), name, path_segment(name, false)),
        }
    }
}

fn validate_tls(specification: &Value, path: &Path<'_>, complaints: &mut Complaints) {
    for (index, entry) in list(specification, "tls").iter().enumerate() {
        let path = path.index(index);
        let hosts = path.child("hosts");
        for (index, host) in list(entry, "hosts").iter().filter_map(Value::as_str).enumerate() {
            validate_host(host, &hosts.index(index), complaints);
        }
        let secret = text(entry, "secretName");
        if !secret.is_empty() {
            complaints.each(&path.child("secretName"), secret, dns_1123_subdomain(secret));
        }
    }
}

pub(super) fn ingress_warnings(ingress: &Value, old: Option<&Value>) -> Vec<String> {
    let annotation = at(ingress, "metadata.annotations").and_then(|annotations| annotations.get(CLASS_ANNOTATION));
    let is_old_style = annotation.is_some() && at(ingress, "spec.ingressClassName").is_none();
    if old.is_none() && is_old_style {
        vec![format!(
            "annotation {CLASS_ANNOTATION:?} is deprecated, please use 'spec.ingressClassName' instead"
        )]
    } else {
        Vec::new()
    }
}

pub(super) fn validate_ingress_class(
    class: &Value,
    old: Option<&Value>,
    _target: Target<'_>,
    complaints: &mut Complaints,
) {
    let controller = text(class, "spec.controller");
    let path = SPECIFICATION.child("controller");
    if let Some(old) = old {
        complaints.unchanged(&path, at(class, "spec.controller"), at(old, "spec.controller"));
    }
    match controller.split_once('/') {
        _ if controller.is_empty() => complaints.required(&path, ""),
        Some((host, rest)) if !host.is_empty() && !rest.is_empty() => {
            complaints.each(&path, host, dns_1123_subdomain(host));
        }
        _ => {
            let detail = "must be a domain-prefixed path (such as \"acme.io/foo\")";
            complaints.invalid(&path, controller, detail);
        }
    }
    if let Some(parameters) = at(class, "spec.parameters") {
        validate_local_reference(parameters, &SPECIFICATION.child("parameters"), complaints);
    }
}

pub(super) fn validate_network_policy(
    policy: &Value,
    _old: Option<&Value>,
    _target: Target<'_>,
    complaints: &mut Complaints,
) {
    let specification = &policy["spec"];
    let path = &SPECIFICATION;
    validate_selector(specification.get("podSelector"), &path.child("podSelector"), complaints);
    for (direction, peers) in [("ingress", "from"), ("egress", "to")] {
        let path = path.child(direction);
        for (index, rule) in list(specification, direction).iter().enumerate() {
            let path = path.index(index);
            let ports = path.child("ports");
            for (index, port) in list(rule, "ports").iter().enumerate() {
                validate_policy_port(port, &ports.index(index), complaints);
            }
            let peers_path = path.child(peers);
            for (index, peer) in list(rule, peers).iter().enumerate() {
                validate_peer(peer, &peers_path.index(index), complaints);
            }
        }
    }
    let types = path.child("policyTypes");
    for (index, kind) in list(specification, "policyTypes")
        .iter()
        .filter_map(Value::as_str)
        .enumerate()
    {
        complaints.one_of(&types.index(index), kind, &["Ingress", "Egress"]);
    }
}

fn validate_policy_port(port: &Value, path: &Path<'_>, complaints: &mut Complaints) {
    let protocol = text(port, "protocol");
    if !protocol.is_empty() {
        complaints.one_of(&path.child("protocol"), protocol, &["TCP", "UDP", "SCTP"]);
    }
    let end = number(port, "endPort");
    let end_path = path.child("endPort");
    match (port.get("port"), end) {
        (Some(Value::String(name)), end) => {
            if let Some(end) = end {
                complaints.invalid(&end_path, end, "may not be specified when `port` is non-numeric");
            }
            complaints.each(&path.child("port"), name, port_name(name));
        }
        (Some(number), end) => {
            let number = number.as_i64().unwrap_or_default();
            complaints.each_number(&path.child("port"), number, port_number(number));
            if let Some(end) = end {
                if end < number {
                    complaints.invalid(&end_path, number, "must be greater than or equal to `port`");
                }
                complaints.each_number(&end_path, end, port_number(end));
            }
        }
        (None, Some(end)) => complaints.invalid(&end_path, end, "may not be specified when `port` is not specified"),
        (None, None) => {}
    }
}

fn validate_peer(peer: &Value, path: &Path<'_>, complaints: &mut Complaints) {
    for selector in ["podSelector", "namespaceSelector"] {
        validate_selector(peer.get(selector), &path.child(selector), complaints);
    }
    let count = ["podSelector", "namespaceSelector", "ipBlock"]
        .iter()
        .filter(|kind| peer.get(kind).is_some())
        .count();
    if let Some(block) = peer.get("ipBlock") {
        let path = path.child("ipBlock.cidr");
        match text(block, "cidr") {
            "" => complaints.required(&path, ""),
            range => validate_range(range, &path, complaints),
        }
    }
    if count == 0 {
        complaints.required(path, "must specify a peer");
    } else if count > 1 && peer.get("ipBlock").is_some() {
        complaints.forbidden(path, "may not specify both ipBlock and another peer");
    }
}

/// A range of addresses such as `10.0.0.0/8`.
fn validate_range(range: &str, path: &Path<'_>, complaints: &mut Complaints) {
    let is_range = range.split_once('/').is_some_and(|(address, length)| {
        let most = if address.contains(':') { 128 } else { 32 };
        address.parse::<IpAddr>().is_ok() && length.parse::<u8>().is_ok_and(|length| length <= most)
    });
    if !is_range {
        let detail = "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)";
        complaints.invalid(path, range, detail);
    }
}

/// The name of an address is the address.
pub(super) fn address_name(name: &str) -> Vec<String> {
    match name.parse::<IpAddr>() {
        Ok(address) if address.to_string() == name => Vec::new(),
        Ok(address) => vec![format!("must be in canonical form ({:?})", address.to_string())],
        Err(_) => vec!["must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)".to_owned()],
    }
}

pub(super) fn validate_address(
    address: &Value,
    _old: Option<&Value>,
    _target: Target<'_>,
    complaints: &mut Complaints,
) {
    let path = SPECIFICATION.child("parentRef");
    let Some(parent) = at(address, "spec.parentRef") else {
        complaints.required(&path, "");
        return;
    };
    for field in ["resource", "name"] {
        match text(parent, field) {
            "" => complaints.required(&path.child(field), ""),
            name => complaints.each(&path.child(field), name, path_segment(name, false)),
        }
    }
}

/// Ranges stay what they are; a second one may come, of the other family.
pub(super) fn validate_service_cidr(
    range: &Value,
    old: Option<&Value>,
    target: Target<'_>,
    complaints: &mut Complaints,
) {
    if target == Target::Status {
        return;
    }
    let path = SPECIFICATION.child("cidrs");
    let (ranges, before) = (
        list(range, "spec.cidrs"),
        old.map_or(&[][..], |old| list(old, "spec.cidrs")),
    );
    match (before.len(), ranges.len()) {
        (0, 0) => complaints.required(&path, "at least one CIDR required"),
        (0, 1 | 2) | (1, 2) => {}
        (0, _) => {
            let shown = serde_json::json!({"CIDRs": ranges});
            complaints.invalid(&path, shown, "may only hold up to 2 values");
            return;
        }
        (before, now) if before == now => {}
        _ => {
            let before = old.and_then(|old| at(old, "spec.cidrs"));
            complaints.unchanged(&path, at(range, "spec.cidrs"), before);
            return;
        }
    }
    for (index, (new, old)) in ranges.iter().zip(before).enumerate() {
        complaints.unchanged(&path.index(index), Some(new), Some(old));
    }
    let texts: Vec<&str> = ranges.iter().filter_map(Value::as_str).collect();
    for (index, range) in texts.iter().enumerate().skip(before.len()) {
        validate_range(range, &path.index(index), complaints);
    }
    let families: Vec<bool> = texts.iter().filter_map(|range| is_version_6(range)).collect();
    if matches!(families[..], [first, second] if first == second) {
        let detail = "may specify no more than one IP for each IP family, i.e 192.168.0.0/24 and 2001:db8::/64";
        complaints.invalid(&path, ranges.to_vec(), detail);
    }
}

/// Whether a range is one of long addresses, if it is one.
fn is_version_6(range: &str) -> Option<bool> {
    let (address, _) = range.split_once('/')?;
    address.parse::<IpAddr>().ok().map(|address| address.is_ipv6())
}
