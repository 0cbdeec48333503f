//! Where pods find the API server: the Service `kubernetes` leads to the advertised address, which every node sends on
//! to the control plane. The API server itself does not know it, so its own reconciler is off.

use std::net::IpAddr;

use k8s_openapi::api::{core::v1::Endpoints, discovery::v1::EndpointSlice};
use serde_json::json;

use super::{Incomplete, Set, Wanted, access::object};

const NAME: &str = "kubernetes";
/// Where the advertised address is by default, by address family.
const DEFAULT_ADDRESS: &str = "172.20.0.1";
const DEFAULT_ADDRESS_V6: &str = "fd00::1";
const DEFAULT_PORT: i32 = 6443;

pub(super) fn add(wanted: &Wanted<'_>, set: &mut Set) -> Result<(), Incomplete> {
    let (address, port) = advertised(wanted)?;
    let ports = json!([{"name": "https", "port": port, "protocol": "TCP"}]);
    set.add::<Endpoints>(object(&json!({
        "metadata": {
            "name": NAME, "namespace": "default", "labels": {"endpointslice.kubernetes.io/skip-mirror": "true"},
        },
        "subsets": [{"addresses": [{"ip": address}], "ports": ports}],
    })));
    set.add::<EndpointSlice>(object(&json!({
        "metadata": {"name": NAME, "namespace": "default", "labels": {"kubernetes.io/service-name": NAME}},
        "addressType": if address.is_ipv4() { "IPv4" } else { "IPv6" },
        "endpoints": [{"addresses": [address], "conditions": {"ready": true}}],
        "ports": ports,
    })));
    Ok(())
}

fn advertised(wanted: &Wanted<'_>) -> Result<(IpAddr, i32), Incomplete> {
    let networking = wanted.networking();
    let settings = networking.api_server.clone().unwrap_or_default();
    let services = networking.service_network.first();
    let is_v6 = services.is_some_and(|network| network.cidr.as_str().contains(':'));
    let default = if is_v6 { DEFAULT_ADDRESS_V6 } else { DEFAULT_ADDRESS };
    let text = settings.advertise_address.unwrap_or_else(|| default.to_owned());
    let address = text.parse().map_err(|_| Incomplete::Address(text))?;
    Ok((address, settings.port.unwrap_or(DEFAULT_PORT)))
}
