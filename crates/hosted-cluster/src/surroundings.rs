//! The networks of the management cluster, as it tells them itself: where its API server is, and the addresses of its
//! pods and Services. Tenants must not reach any of them.

use std::net::IpAddr;

use k8s_openapi::api::{discovery::v1::EndpointSlice, networking::v1::ServiceCIDR};

use crate::network::{Network, covered, merged};

/// The namespace and the selector of the slices with the addresses of the API server.
pub(crate) const API_SERVER_NAMESPACE: &str = "default";
pub(crate) const API_SERVER_SELECTOR: &str = "kubernetes.io/service-name=kubernetes";

/// How many networks of pods a policy lists. Each node has one; where they are not neighbours, they are widened until so
/// many remain, because a policy of every cluster holds them all.
const MOST_POD_NETWORKS: usize = 64;

/// All networks that are closed to tenants: those which the management cluster tells, and those which were given.
pub(crate) fn closed<'a>(
    slices: impl IntoIterator<Item = &'a EndpointSlice>,
    ranges: impl IntoIterator<Item = &'a ServiceCIDR>,
    pod_networks: &[String],
    given: &[String],
) -> Vec<String> {
    let endpoints = slices.into_iter().flat_map(|slice| slice.endpoints.iter().flatten());
    let addresses = endpoints.flat_map(|endpoint| &endpoint.addresses);
    let api_server = addresses.filter_map(|address| address.parse::<IpAddr>().ok().map(Network::one));
    let services = ranges
        .into_iter()
        .flat_map(|range| range.spec.iter().flat_map(|spec| spec.cidrs.iter().flatten()));
    let mut all: Vec<Network> = api_server.chain(read(services)).chain(read(given)).collect();
    all.extend(covered(read(pod_networks).collect(), MOST_POD_NETWORKS));
    merged(all).iter().map(ToString::to_string).collect()
}

/// What is no network closes nothing; the server accepts none, and those that are given are checked at the start.
fn read<'a>(texts: impl IntoIterator<Item = &'a String>) -> impl Iterator<Item = Network> {
    texts.into_iter().filter_map(|text| text.parse().ok())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn slice(addresses: &[&str]) -> EndpointSlice {
        let slice = json!({"addressType": "IPv4", "endpoints": [{"addresses": addresses}]});
        hyperplane_objects::read(&slice).unwrap()
    }

    #[test]
    fn everything_that_the_cluster_tells_is_closed_in_as_few_networks_as_can_be() {
        let range: ServiceCIDR =
            hyperplane_objects::read(json!({"spec": {"cidrs": ["10.96.0.0/12", "fd00::/112"]}})).unwrap();
        let pods: Vec<String> = (0..256).map(|node| format!("10.244.{node}.0/24")).collect();
        let given = ["10.96.0.0/16".to_owned(), "203.0.113.0/24".to_owned()];
        let slices = [slice(&["192.0.2.10"]), slice(&["192.0.2.11", "example.com"])];
        assert_eq!(
            closed(&slices, [&range], &pods, &given),
            [
                "10.96.0.0/12",
                "10.244.0.0/16",
                "192.0.2.10/31",
                "203.0.113.0/24",
                "fd00::/112"
            ]
        );
        assert!(closed([], [], &[], &[]).is_empty(), "nothing is known");
    }

    #[test]
    fn pods_of_many_nodes_far_apart_do_not_make_policies_endless() {
        let pods: Vec<String> = (0..128).map(|node| format!("10.244.{}.0/24", node * 2)).collect();
        let found = closed([], [], &pods, &[]);
        assert!(found.len() <= MOST_POD_NETWORKS, "{}", found.len());
    }
}
