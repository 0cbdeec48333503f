//! Service.

use jiff::Timestamp;
use serde_json::Value;

use super::service_rules::{carry_over_service, create_service, service_warnings, validate};
use crate::{
    Verb,
    cells::{NONE, balancer_addresses, labels, name, object_age, or},
    row::{AGE, NAME, NAMESPACED, Row, STATUS, SubresourceRow},
    value::{at, list, number, text},
};

pub(super) const ROWS: &[Row] = &[Row {
    plural: "services",
    singular: "service",
    kind: "Service",
    returns_deleted: true,
    type_name: "core.Service",
    short_names: &["svc"],
    categories: &["all"],
    subresources: &[
        SubresourceRow {
            name: "proxy",
            kind: "ServiceProxyOptions",
            verbs: &[Verb::Create, Verb::Delete, Verb::Get, Verb::Patch, Verb::Update],
            ..STATUS
        },
        STATUS,
    ],
    columns: &[
        NAME,
        ("Type", "string", 0),
        ("Cluster-IP", "string", 0),
        ("External-IP", "string", 0),
        ("Port(s)", "string", 0),
        AGE,
        ("Selector", "string", 1),
    ],
    cells,
    fields: &[
        ("spec.clusterIP", &["spec.clusterIP"], ""),
        ("spec.type", &["spec.type"], ""),
    ],
    creates_on_update: true,
    name: hyperplane_schema::names::dns_1123_label,
    create: create_service,
    update: carry_over_service,
    validate,
    warnings: service_warnings,
    ..NAMESPACED
}];

fn cells(service: &Value, now: Timestamp) -> Vec<Value> {
    let internal = list(service, "spec.clusterIPs")
        .first()
        .and_then(Value::as_str)
        .unwrap_or(NONE);
    vec![
        name(service),
        Value::from(text(service, "spec.type")),
        Value::from(internal),
        Value::from(external(service)),
        Value::from(or(&ports(service), NONE)),
        object_age(service, now),
        Value::from(labels(at(service, "spec.selector"))),
    ]
}

fn external(service: &Value) -> String {
    let mut addresses: Vec<&str> = list(service, "spec.externalIPs")
        .iter()
        .filter_map(Value::as_str)
        .collect();
    match text(service, "spec.type") {
        "ClusterIP" | "NodePort" => or(&addresses.join(","), NONE).to_owned(),
        "LoadBalancer" => {
            let mut all = balancer_addresses(service);
            all.append(&mut addresses);
            or(&all.join(","), "<pending>").to_owned()
        }
        "ExternalName" => text(service, "spec.externalName").to_owned(),
        _ => "<unknown>".to_owned(),
    }
}

fn ports(service: &Value) -> String {
    let port = |port: &Value| {
        let (number, node_port) = (
            crate::cells::count(port, "port"),
            number(port, "nodePort").unwrap_or_default(),
        );
        let protocol = text(port, "protocol");
        if node_port > 0 {
            format!("{number}:{node_port}/{protocol}")
        } else {
            format!("{number}/{protocol}")
        }
    };
    list(service, "spec.ports")
        .iter()
        .map(port)
        .collect::<Vec<_>>()
        .join(",")
}
