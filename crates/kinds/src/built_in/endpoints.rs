//! Endpoints and EndpointSlice.

use jiff::Timestamp;
use serde_json::Value;

use super::endpoint_rules::{validate_endpoints, validate_slice};
use crate::{
    cells::{name, object_age, shortened},
    row::{AGE, Generation, NAME, NAMESPACED, Row},
    value::{list, number, text},
};

pub(super) const ENDPOINTS: &[Row] = &[Row {
    plural: "endpoints",
    singular: "endpoints",
    kind: "Endpoints",
    type_name: "core.Endpoints",
    short_names: &["ep"],
    columns: &[NAME, ("Endpoints", "string", 0), AGE],
    cells: endpoints_cells,
    creates_on_update: true,
    deprecation: "v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice",
    validate: validate_endpoints,
    ..NAMESPACED
}];

pub(super) const SLICES: &[Row] = &[Row {
    group: "discovery.k8s.io",
    plural: "endpointslices",
    singular: "endpointslice",
    kind: "EndpointSlice",
    type_name: "discovery.EndpointSlice",
    columns: &[
        NAME,
        ("AddressType", "string", 0),
        ("Ports", "string", 0),
        ("Endpoints", "string", 0),
        AGE,
    ],
    cells: slice_cells,
    generation: Generation::Specification,
    validate: validate_slice,
    ..NAMESPACED
}];

fn endpoints_cells(endpoints: &Value, now: Timestamp) -> Vec<Value> {
    let mut addresses = Vec::new();
    for subset in list(endpoints, "subsets") {
        let hosts = || list(subset, "addresses").iter().map(|address| text(address, "ip"));
        let ports = list(subset, "ports");
        if ports.is_empty() {
            addresses.extend(hosts().map(ToOwned::to_owned));
        }
        for port in ports {
            let port = number(port, "port").unwrap_or_default();
            addresses.extend(hosts().map(|host| with_port(host, port)));
        }
    }
    vec![
        name(endpoints),
        Value::from(shortened(&addresses)),
        object_age(endpoints, now),
    ]
}

fn with_port(host: &str, port: i64) -> String {
    if host.contains(':') {
        format!("[{host}]:{port}")
    } else {
        format!("{host}:{port}")
    }
}

fn slice_cells(slice: &Value, now: Timestamp) -> Vec<Value> {
    let port = |port: &Value| match number(port, "port") {
        Some(number) => number.to_string(),
        None => port.get("name").and_then(Value::as_str).unwrap_or("*").to_owned(),
    };
    let ports: Vec<String> = list(slice, "ports").iter().map(port).collect();
    let addresses: Vec<String> = list(slice, "endpoints")
        .iter()
        .flat_map(|endpoint| list(endpoint, "addresses"))
        .filter_map(|address| address.as_str().map(ToOwned::to_owned))
        .collect();
    vec![
        name(slice),
        Value::from(text(slice, "addressType")),
        Value::from(shortened_or_unset(&ports)),
        Value::from(shortened_or_unset(&addresses)),
        object_age(slice, now),
    ]
}

fn shortened_or_unset(entries: &[String]) -> String {
    if entries.is_empty() {
        crate::cells::UNSET.to_owned()
    } else {
        shortened(entries)
    }
}
