//! Gives Services their addresses and ports, and takes them back when the type of a Service needs none.

use std::net::Ipv4Addr;

use hyperplane_schema::FieldError;
use hyperplane_wire::Failure;
use serde_json::{Value, json};

use crate::{call::Call, core::Core};

const NONE: &str = "None";

/// Completes a Service that is about to be stored.
pub(super) fn complete(core: &Core, call: &Call, service: &mut Value, old: Option<&Value>) -> Result<(), Failure> {
    if !is_service(call) || !call.subresource.is_empty() || !service["spec"].is_object() {
        return Ok(());
    }
    if service["spec"]["type"] == "ExternalName" {
        release(service, old);
        return Ok(());
    }
    addresses(core, call, service, old)?;
    ports(core, call, service, old)
}

fn is_service(call: &Call) -> bool {
    call.served.resource.group.is_empty() && call.served.resource.plural == "services"
}

fn kind(service: &Value) -> &str {
    service["spec"]["type"].as_str().unwrap_or("ClusterIP")
}

fn address(service: &Value) -> &str {
    service["spec"]["clusterIP"].as_str().unwrap_or_default()
}

/// A Service that becomes a name gives back what the client did not ask for.
fn release(service: &mut Value, old: Option<&Value>) {
    let Some(old) = old.filter(|old| kind(old) != "ExternalName") else {
        return;
    };
    let Some(specification) = service["spec"].as_object_mut() else {
        return;
    };
    for field in [
        "clusterIP",
        "clusterIPs",
        "ipFamilies",
        "ipFamilyPolicy",
        "healthCheckNodePort",
    ] {
        if specification.get(field) == old["spec"].get(field) {
            specification.remove(field);
        }
    }
}

fn addresses(core: &Core, call: &Call, service: &mut Value, old: Option<&Value>) -> Result<(), Failure> {
    let old_address = old
        .filter(|old| kind(old) != "ExternalName")
        .map(address)
        .unwrap_or_default()
        .to_owned();
    if address(service).is_empty() && !old_address.is_empty() {
        for field in ["clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy"] {
            let value = old.map_or(&Value::Null, |old| &old["spec"][field]);
            if service["spec"][field].is_null() && !value.is_null() {
                service["spec"][field] = value.clone();
            }
        }
    }
    let wanted = address(service).to_owned();
    let chosen = match wanted.as_str() {
        "" => {
            let (free, reservation) = core
                .allocations
                .any_address(&core.entropy)
                .map_err(|error| Failure::internal(format!("failed to allocate a serviceIP: {error}")))?;
            call.reserve(reservation);
            free.to_string()
        }
        NONE => NONE.to_owned(),
        same if same == old_address => wanted,
        other => {
            reserve(core, call, service, other)?;
            wanted
        }
    };
    let is_dual = chosen == NONE
        && service["spec"]["selector"]
            .as_object()
            .is_none_or(serde_json::Map::is_empty);
    let specification = &mut service["spec"];
    specification["clusterIP"] = json!(chosen);
    if specification["clusterIPs"].as_array().is_none_or(Vec::is_empty) {
        specification["clusterIPs"] = json!([chosen]);
    }
    if specification["ipFamilyPolicy"].is_null() {
        specification["ipFamilyPolicy"] = json!(if is_dual { "RequireDualStack" } else { "SingleStack" });
    }
    if specification["ipFamilies"].as_array().is_none_or(Vec::is_empty) {
        specification["ipFamilies"] = if is_dual {
            json!(["IPv4", "IPv6"])
        } else {
            json!(["IPv4"])
        };
    }
    Ok(())
}

fn reserve(core: &Core, call: &Call, service: &Value, text: &str) -> Result<(), Failure> {
    // What is no address is refused by the rules of the kind.
    let Ok(address) = text.parse::<Ipv4Addr>() else {
        return Ok(());
    };
    match core.allocations.address(address) {
        Ok(reservation) => {
            call.reserve(reservation);
            Ok(())
        }
        Err(error) => {
            let detail = format!("failed to allocate IP {address}: {error}");
            let complaint = FieldError::invalid("spec.clusterIPs", json!([text]), detail);
            Err(Core::invalid(call, service, &[complaint]))
        }
    }
}

fn ports(core: &Core, call: &Call, service: &mut Value, old: Option<&Value>) -> Result<(), Failure> {
    let needs = match kind(service) {
        "NodePort" => true,
        "LoadBalancer" => service["spec"]["allocateLoadBalancerNodePorts"] != false,
        _ => false,
    };
    let held: Vec<u64> = old.map(node_ports).unwrap_or_default();
    let had = old.is_some_and(|old| matches!(kind(old), "NodePort" | "LoadBalancer"));
    let mut complaints = Vec::new();
    let count = service["spec"]["ports"].as_array().map_or(0, Vec::len);
    for index in 0..count {
        let port = service["spec"]["ports"][index]["nodePort"].as_u64().unwrap_or_default();
        if kind(service) == "ClusterIP" && had && held.contains(&port) {
            if let Some(fields) = service["spec"]["ports"][index].as_object_mut() {
                fields.remove("nodePort");
            }
        } else if port == 0 && needs {
            let carried = old.and_then(|old| carried_port(old, &service["spec"]["ports"][index]));
            let chosen = carried.map_or_else(|| any_port(core, call), Ok)?;
            service["spec"]["ports"][index]["nodePort"] = json!(chosen);
        } else if port != 0 && !held.contains(&port) && kind(service) != "ClusterIP" {
            match u16::try_from(port).map(|port| core.allocations.port(port)) {
                Ok(Ok(reservation)) => call.reserve(reservation),
                Ok(Err(error)) => {
                    let field = format!("spec.ports[{index}].nodePort");
                    complaints.push(FieldError::invalid(field, port, error.to_string()));
                }
                Err(_) => {}
            }
        }
    }
    if complaints.is_empty() {
        Ok(())
    } else {
        Err(Core::invalid(call, service, &complaints))
    }
}

fn any_port(core: &Core, call: &Call) -> Result<u64, Failure> {
    let allocated = core.allocations.any_port(&core.entropy);
    let (free, reservation) =
        allocated.map_err(|error| Failure::internal(format!("failed to allocate a nodePort: {error}")))?;
    call.reserve(reservation);
    Ok(u64::from(free))
}

fn node_ports(service: &Value) -> Vec<u64> {
    let ports = service["spec"]["ports"].as_array().into_iter().flatten();
    ports.filter_map(|port| port["nodePort"].as_u64()).collect()
}

/// The port of the node that the same port of the Service had.
fn carried_port(old: &Value, port: &Value) -> Option<u64> {
    let ports = old["spec"]["ports"].as_array().into_iter().flatten();
    let mut same = ports.filter(|known| known["port"] == port["port"] && known["protocol"] == port["protocol"]);
    same.find_map(|known| known["nodePort"].as_u64())
}
