//! Where pods find the API server: the Service `kubernetes` leads to the advertised address, which every node sends on
//! to the control plane. The API server itself does not know it, so its own reconciler is off.

use std::net::IpAddr;

use hyperplane_api::constants::objects::ports;
use k8s_openapi::api::{core::v1::Endpoints, discovery::v1::EndpointSlice};
use serde_json::json;

use super::{Incomplete, Set, Wanted, access::object};

const NAME: &str = "kubernetes";

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
    let text = networking.advertised_address();
    let address = text.parse().map_err(|_| Incomplete::Address(text.to_owned()))?;
    let port = networking.api_server.as_ref().and_then(|server| server.port);
    Ok((address, port.unwrap_or(ports::API_SERVER.into())))
}
