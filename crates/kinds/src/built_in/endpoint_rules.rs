//! What Endpoints and EndpointSlices must be.

use std::net::IpAddr;

use hyperplane_schema::names::{dns_1123_label, dns_1123_subdomain};
use serde_json::Value;

use super::service_rules::validate_address;
use crate::{
    Target,
    complaints::{Complaints, Path},
    names::port_number,
    value::{list, number, text},
};

/// How many endpoints one slice may hold.
const ENDPOINT_LIMIT: usize = 1000;
/// How many addresses one endpoint may have.
const ADDRESS_LIMIT: usize = 100;
const PROTOCOLS: [&str; 3] = ["SCTP", "TCP", "UDP"];

pub(super) fn validate_endpoints(
    endpoints: &Value,
    _old: Option<&Value>,
    _target: Target<'_>,
    complaints: &mut Complaints,
) {
    let path = Path::new("subsets");
    for (index, subset) in list(endpoints, "subsets").iter().enumerate() {
        validate_subset(subset, &path.index(index), complaints);
    }
}

fn validate_subset(subset: &Value, path: &Path<'_>, complaints: &mut Complaints) {
    if list(subset, "addresses").is_empty() && list(subset, "notReadyAddresses").is_empty() {
        complaints.required(path, "must specify `addresses` or `notReadyAddresses`");
    }
    for field in ["addresses", "notReadyAddresses"] {
        let path = path.child(field);
        for (index, address) in list(subset, field).iter().enumerate() {
            let path = path.index(index);
            let ip = text(address, "ip");
            validate_endpoint_address(ip, &path.child("ip"), complaints);
            // Upstream looks at these addresses twice.
            if ip.parse::<IpAddr>().is_err() {
                complaints.invalid(&path.child("ip"), ip, "must be a valid IP address");
            }
            let host = text(address, "hostname");
            if !host.is_empty() {
                complaints.each(&path.child("hostname"), host, dns_1123_label(host));
            }
        }
    }
    let ports = list(subset, "ports");
    let path = path.child("ports");
    for (index, port) in ports.iter().enumerate() {
        let path = path.index(index);
        match text(port, "name") {
            "" if ports.len() > 1 => complaints.required(&path.child("name"), ""),
            "" => {}
            name => complaints.each(&path.child("name"), name, dns_1123_label(name)),
        }
        let number = number(port, "port").unwrap_or_default();
        complaints.each_number(&path.child("port"), number, port_number(number));
        complaints.required_one_of(&path.child("protocol"), text(port, "protocol"), &PROTOCOLS);
    }
}

/// An address that others can reach.
fn validate_endpoint_address(address: &str, path: &Path<'_>, complaints: &mut Complaints) {
    validate_address(address, path, complaints);
    let Ok(parsed) = address.parse::<IpAddr>() else { return };
    let is_link_local = match parsed {
        IpAddr::V4(address) => address.is_link_local(),
        IpAddr::V6(address) => address.segments()[0] & 0xffc0 == 0xfe80,
    };
    if parsed.is_unspecified() {
        complaints.invalid(path, address, format!("may not be unspecified ({address})"));
    }
    if parsed.is_loopback() {
        complaints.invalid(path, address, "may not be in the loopback range (127.0.0.0/8, ::1/128)");
    }
    if is_link_local {
        complaints.invalid(
            path,
            address,
            "may not be in the link-local range (169.254.0.0/16, fe80::/10)",
        );
    }
}

pub(super) fn validate_slice(slice: &Value, old: Option<&Value>, _target: Target<'_>, complaints: &mut Complaints) {
    let kind = text(slice, "addressType");
    complaints.required_one_of(&Path::new("addressType"), kind, &["FQDN", "IPv4", "IPv6"]);
    if let Some(old) = old {
        complaints.unchanged(
            &Path::new("addressType"),
            slice.get("addressType"),
            old.get("addressType"),
        );
    }
    let ports = Path::new("ports");
    let mut names: Vec<&str> = Vec::new();
    for (index, port) in list(slice, "ports").iter().enumerate() {
        let path = ports.index(index);
        let name = text(port, "name");
        if !name.is_empty() {
            complaints.each(&path.child("name"), name, dns_1123_label(name));
        }
        if names.contains(&name) {
            complaints.duplicate(&path.child("name"), name);
        }
        names.push(name);
        complaints.required_one_of(&path.child("protocol"), text(port, "protocol"), &PROTOCOLS);
    }
    let path = Path::new("endpoints");
    let endpoints = list(slice, "endpoints");
    if endpoints.len() > ENDPOINT_LIMIT {
        let limit = i64::try_from(ENDPOINT_LIMIT).unwrap_or(i64::MAX);
        complaints.add(hyperplane_schema::FieldError::too_many(
            "endpoints",
            endpoints.len(),
            limit,
        ));
        return;
    }
    for (index, endpoint) in endpoints.iter().enumerate() {
        validate_endpoint(endpoint, kind, &path.index(index), complaints);
    }
}

fn validate_endpoint(endpoint: &Value, kind: &str, path: &Path<'_>, complaints: &mut Complaints) {
    let addresses = list(endpoint, "addresses");
    let addresses_path = path.child("addresses");
    if addresses.is_empty() {
        complaints.required(&addresses_path, "must contain at least 1 address");
    } else if addresses.len() > ADDRESS_LIMIT {
        let limit = i64::try_from(ADDRESS_LIMIT).unwrap_or(i64::MAX);
        let path = addresses_path.to_string();
        complaints.add(hyperplane_schema::FieldError::too_many(path, addresses.len(), limit));
    }
    for (index, address) in addresses.iter().filter_map(Value::as_str).enumerate() {
        let path = addresses_path.index(index);
        let is_right = match kind {
            "IPv4" => address.parse::<IpAddr>().is_ok_and(|address| address.is_ipv4()),
            "IPv6" => address.parse::<IpAddr>().is_ok_and(|address| address.is_ipv6()),
            _ => continue,
        };
        if address.parse::<IpAddr>().is_ok() && !is_right {
            complaints.invalid(&addresses_path, address, format!("must be an {kind} address"));
        }
        validate_endpoint_address(address, &path, complaints);
    }
    for (field, rule) in [
        ("nodeName", dns_1123_subdomain as fn(&str) -> Vec<String>),
        ("hostname", dns_1123_label),
    ] {
        if let Some(name) = endpoint.get(field).and_then(Value::as_str) {
            complaints.each(&path.child(field), name, rule(name));
        }
    }
}
