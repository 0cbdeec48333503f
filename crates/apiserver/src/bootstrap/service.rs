//! The Service under which pods find the server, where it leads, and the addresses that Services have. Pure.

use std::net::{Ipv4Addr, SocketAddr};

use serde_json::{Value, json};

use super::Repair;
use crate::allocation::ServiceRange;

/// The name of the Service and of everything that belongs to it.
pub(super) const NAME: &str = "kubernetes";
/// The port of the Service.
const PORT: u16 = 443;
const PORT_NAME: &str = "https";

/// The Service, and its endpoints where pods can reach the server: nobody else reaches what listens on loopback, and
/// upstream has no endpoints there either.
pub(super) fn objects(address: &str, first: Ipv4Addr) -> Vec<(&'static str, &'static str, Value)> {
    let Ok(address) = address.parse::<SocketAddr>() else {
        return Vec::new();
    };
    let mut objects = vec![("", "services", service(address, first))];
    if !address.ip().is_loopback() && !address.ip().is_unspecified() {
        objects.push(("", "endpoints", endpoints(address)));
        objects.push(("discovery.k8s.io", "endpointslices", slice(address)));
    }
    objects
}

fn service(address: SocketAddr, first: Ipv4Addr) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Service",
        "metadata": {
            "name": NAME, "namespace": "default",
            "labels": {"component": "apiserver", "provider": "kubernetes"},
        },
        "spec": {
            "type": "ClusterIP",
            "clusterIP": first.to_string(),
            "ports": [{"name": PORT_NAME, "port": PORT, "protocol": "TCP", "targetPort": address.port()}],
        },
    })
}

fn endpoints(address: SocketAddr) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Endpoints",
        "metadata": {
            "name": NAME, "namespace": "default",
            // There is a slice of its own.
            "labels": {"endpointslice.kubernetes.io/skip-mirror": "true"},
        },
        "subsets": [{
            "addresses": [{"ip": address.ip().to_string()}],
            "ports": [{"name": PORT_NAME, "port": address.port(), "protocol": "TCP"}],
        }],
    })
}

fn slice(address: SocketAddr) -> Value {
    let family = if address.is_ipv4() { "IPv4" } else { "IPv6" };
    json!({
        "apiVersion": "discovery.k8s.io/v1", "kind": "EndpointSlice",
        "metadata": {
            "name": NAME, "namespace": "default",
            "labels": {"kubernetes.io/service-name": NAME},
        },
        "addressType": family,
        "endpoints": [{"addresses": [address.ip().to_string()], "conditions": {"ready": true}}],
        "ports": [{"name": PORT_NAME, "port": address.port(), "protocol": "TCP"}],
    })
}

/// The addresses that Services have, for whoever has to know them.
pub(super) fn range(range: ServiceRange) -> Value {
    json!({
        "apiVersion": "networking.k8s.io/v1", "kind": "ServiceCIDR",
        "metadata": {"name": NAME},
        "spec": {"cidrs": [range.to_string()]},
    })
}

/// Compares a range with that which addresses are drawn from. Upstream draws them from the object, so there it stays;
/// here it must not tell of another range. What a range is cannot be changed, but others may have joined it.
pub(super) fn repair_range(expected: &Value, found: &Value) -> Repair {
    let cidrs = |range: &Value| range["spec"]["cidrs"].as_array().cloned().unwrap_or_default();
    let found = cidrs(found);
    if cidrs(expected).iter().all(|cidr| found.contains(cidr)) {
        Repair::Keep
    } else {
        Repair::Replace
    }
}

/// Says of a range that it is in use, once.
pub(super) fn ready(found: &Value, now: &str) -> Repair {
    let conditions = found["status"]["conditions"].as_array();
    let mut conditions = conditions.cloned().unwrap_or_default();
    if conditions.iter().any(|condition| condition["type"] == "Ready") {
        return Repair::Keep;
    }
    conditions.push(json!({
        "type": "Ready", "status": "True", "lastTransitionTime": now,
        "reason": "", "message": "Kubernetes default Service CIDR is ready",
    }));
    let mut ready = found.clone();
    ready["status"]["conditions"] = Value::Array(conditions);
    Repair::Change(ready)
}

/// What says where the server is. A server that listens elsewhere than before is found there after its start.
const PLACES: [&str; 4] = ["/spec/ports", "/subsets", "/endpoints", "/ports"];

/// Compares an object with what it has to be.
pub(super) fn repair(expected: &Value, found: &Value) -> Repair {
    let mut repaired = found.clone();
    for place in PLACES {
        if let (Some(is), Some(to)) = (repaired.pointer_mut(place), expected.pointer(place)) {
            is.clone_from(to);
        }
    }
    if repaired == *found {
        Repair::Keep
    } else {
        Repair::Change(repaired)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plurals(address: &str) -> Vec<&'static str> {
        let objects = objects(address, Ipv4Addr::new(10, 96, 0, 1)).into_iter();
        objects.map(|(_, plural, _)| plural).collect()
    }

    #[test]
    fn endpoints_are_where_pods_can_reach() {
        assert_eq!(plurals("127.0.0.1:6443"), ["services"]);
        assert_eq!(plurals("0.0.0.0:6443"), ["services"]);
        assert_eq!(plurals("192.0.2.1:6443"), ["services", "endpoints", "endpointslices"]);
        assert_eq!(plurals("[2001:db8::1]:6443").len(), 3);
        assert_eq!(plurals("somewhere:6443"), [""; 0]);
    }

    #[test]
    fn a_server_that_moves_is_found_again() {
        let before = service("127.0.0.1:6443".parse().unwrap(), Ipv4Addr::new(10, 96, 0, 1));
        let mut found = before.clone();
        found["spec"]["sessionAffinity"] = json!("None");
        assert_eq!(repair(&before, &found), Repair::Keep);
        let after = service("127.0.0.1:7443".parse().unwrap(), Ipv4Addr::new(10, 96, 0, 1));
        let Repair::Change(repaired) = repair(&after, &found) else {
            panic!("the port is another");
        };
        assert_eq!(repaired["spec"]["ports"][0]["targetPort"], 7443);
        assert_eq!(repaired["spec"]["sessionAffinity"], "None");
    }

    #[test]
    fn a_range_is_that_which_addresses_are_drawn_from() {
        let expected = range("10.96.0.0/16".parse().unwrap());
        assert_eq!(repair_range(&expected, &expected), Repair::Keep);
        let dual = json!({"spec": {"cidrs": ["10.96.0.0/16", "fd00::/112"]}});
        assert_eq!(repair_range(&expected, &dual), Repair::Keep);
        let other = range("10.97.0.0/16".parse().unwrap());
        assert_eq!(repair_range(&expected, &other), Repair::Replace);
    }

    #[test]
    fn a_range_becomes_ready_once() {
        let Repair::Change(told) = ready(&range(ServiceRange::default()), "2026-01-02T03:04:05Z") else {
            panic!("it is not ready yet");
        };
        assert_eq!(told["status"]["conditions"][0]["status"], "True");
        assert_eq!(ready(&told, "2026-01-02T03:04:06Z"), Repair::Keep);
    }
}
