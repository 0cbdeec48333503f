//! Ingress, IngressClass, NetworkPolicy, IPAddress, ServiceCIDR.

use jiff::Timestamp;
use serde_json::Value;

use super::network_rules::{
    address_name, ingress_warnings, validate_address, validate_ingress, validate_ingress_class,
    validate_network_policy, validate_service_cidr,
};
use crate::{
    cells::{NONE, balancer_addresses, name, object_age, or, selector, shortened},
    row::{AGE, CLUSTER, Generation, NAME, NAMESPACED, Row, STATUS},
    value::{at, list, text},
};

pub(super) const ROWS: &[Row] = &[INGRESS_CLASS, INGRESS, ADDRESS, NETWORK_POLICY, SERVICE_CIDR];

const GROUP: &str = "networking.k8s.io";

const INGRESS_CLASS: Row = Row {
    group: GROUP,
    plural: "ingressclasses",
    singular: "ingressclass",
    kind: "IngressClass",
    type_name: "networking.IngressClass",
    columns: &[NAME, ("Controller", "string", 0), ("Parameters", "string", 0), AGE],
    cells: class_cells,
    generation: Generation::Specification,
    validate: validate_ingress_class,
    ..CLUSTER
};

const INGRESS: Row = Row {
    group: GROUP,
    plural: "ingresses",
    singular: "ingress",
    kind: "Ingress",
    type_name: "networking.Ingress",
    short_names: &["ing"],
    subresources: &[STATUS],
    columns: &[
        NAME,
        ("Class", "string", 0),
        ("Hosts", "string", 0),
        ("Address", "string", 0),
        ("Ports", "string", 0),
        AGE,
    ],
    cells: ingress_cells,
    generation: Generation::Specification,
    validate: validate_ingress,
    warnings: ingress_warnings,
    ..NAMESPACED
};

const ADDRESS: Row = Row {
    group: GROUP,
    plural: "ipaddresses",
    singular: "ipaddress",
    kind: "IPAddress",
    type_name: "networking.IPAddress",
    short_names: &["ip"],
    columns: &[NAME, ("ParentRef", "string", 0)],
    cells: address_cells,
    name: address_name,
    validate: validate_address,
    ..CLUSTER
};

const NETWORK_POLICY: Row = Row {
    group: GROUP,
    plural: "networkpolicies",
    singular: "networkpolicy",
    kind: "NetworkPolicy",
    type_name: "networking.NetworkPolicy",
    short_names: &["netpol"],
    columns: &[NAME, ("Pod-Selector", "string", 0), AGE],
    cells: |object, now| {
        vec![
            name(object),
            Value::from(selector(at(object, "spec.podSelector"))),
            object_age(object, now),
        ]
    },
    generation: Generation::Specification,
    validate: validate_network_policy,
    ..NAMESPACED
};

const SERVICE_CIDR: Row = Row {
    group: GROUP,
    plural: "servicecidrs",
    singular: "servicecidr",
    kind: "ServiceCIDR",
    type_name: "networking.ServiceCIDR",
    subresources: &[STATUS],
    columns: &[NAME, ("CIDRs", "string", 0), AGE],
    cells: |object, now| {
        let ranges: Vec<&str> = list(object, "spec.cidrs").iter().filter_map(Value::as_str).collect();
        vec![name(object), Value::from(ranges.join(",")), object_age(object, now)]
    },
    validate: validate_service_cidr,
    ..CLUSTER
};

const DEFAULT_CLASS: &str = "ingressclass.kubernetes.io/is-default-class";

fn class_cells(class: &Value, now: Timestamp) -> Vec<Value> {
    let is_default = at(class, "metadata.annotations").and_then(|annotations| annotations.get(DEFAULT_CLASS));
    let suffix = if is_default.is_some_and(|value| value == "true") {
        " (default)"
    } else {
        ""
    };
    let parameters = at(class, "spec.parameters").map_or_else(
        || NONE.to_owned(),
        |parameters| {
            let group = text(parameters, "apiGroup");
            let dot = if parameters.get("apiGroup").is_some() { "." } else { "" };
            format!("{}{dot}{group}/{}", text(parameters, "kind"), text(parameters, "name"))
        },
    );
    vec![
        Value::from(format!("{}{suffix}", text(class, "metadata.name"))),
        Value::from(text(class, "spec.controller")),
        Value::from(parameters),
        object_age(class, now),
    ]
}

fn ingress_cells(ingress: &Value, now: Timestamp) -> Vec<Value> {
    let has_tls = !list(ingress, "spec.tls").is_empty();
    vec![
        name(ingress),
        Value::from(
            at(ingress, "spec.ingressClassName")
                .and_then(Value::as_str)
                .unwrap_or(NONE),
        ),
        Value::from(hosts(ingress)),
        Value::from(balancer_addresses(ingress).join(",")),
        Value::from(if has_tls { "80, 443" } else { "80" }),
        object_age(ingress, now),
    ]
}

fn hosts(ingress: &Value) -> String {
    let hosts: Vec<String> = list(ingress, "spec.rules")
        .iter()
        .map(|rule| text(rule, "host").to_owned())
        .filter(|host| !host.is_empty())
        .collect();
    if hosts.is_empty() {
        "*".to_owned()
    } else {
        shortened(&hosts)
    }
}

/// Upstream adds the age, for which it has no column.
fn address_cells(address: &Value, now: Timestamp) -> Vec<Value> {
    let parent = at(address, "spec.parentRef").map_or_else(
        || NONE.to_owned(),
        |parent| {
            let part = |field| text(parent, field);
            let resource = [part("resource"), part("group")].map(str::to_lowercase);
            let resource = resource
                .iter()
                .map(String::as_str)
                .filter(|part| !part.is_empty())
                .collect::<Vec<_>>()
                .join(".");
            let namespace = or(part("namespace"), "");
            let parts = [resource.as_str(), namespace, part("name")];
            parts
                .into_iter()
                .filter(|part| !part.is_empty())
                .collect::<Vec<_>>()
                .join("/")
        },
    );
    vec![name(address), Value::from(parent), object_age(address, now)]
}
