//! What holds for every control plane: closed to others, open to itself, to its clients, and to those who measure.

use hyperplane_api::constants::objects::{components, ports};
use k8s_openapi::api::networking::v1::NetworkPolicy;

use super::{
    Blueprint,
    parts::{all, component, egress, from, from_anywhere, ingress, namespaces, pods, to, to_dns},
};

/// The port of a router that is not ours, for clients without TLS.
const PLAIN_ROUTER: i32 = 8080;

pub(super) fn policies(blueprint: &Blueprint<'_>) -> Vec<NetworkPolicy> {
    let networks = &blueprint.settings.networks;
    let mut policies = vec![
        // All others open something; this one alone would keep everybody out.
        ingress(blueprint, "default-deny", all(), Vec::new()),
        ingress(blueprint, "same-namespace", all(), vec![from(vec![pods(all())])]),
        ingress(
            blueprint,
            "kas",
            component(components::API_SERVER),
            vec![from_anywhere(&api_server_ports(blueprint))],
        ),
        ingress(
            blueprint,
            "openshift-monitoring",
            all(),
            vec![from(networks.monitoring.iter().map(namespaces).collect())],
        ),
        ingress(
            blueprint,
            "private-router",
            component(components::ROUTER),
            vec![from_anywhere(&[PLAIN_ROUTER, ports::ROUTER.into()])],
        ),
        router_egress(blueprint),
    ];
    policies.extend(networks.ingress.as_ref().map(|labels| {
        ingress(
            blueprint,
            "openshift-ingress",
            all(),
            vec![from(vec![namespaces(labels)])],
        )
    }));
    policies
}

fn api_server_ports(blueprint: &Blueprint<'_>) -> Vec<i32> {
    let own = i32::from(ports::API_SERVER);
    let networking = blueprint.cluster.spec.networking.api_server.as_ref();
    let further = networking
        .and_then(|networking| networking.port)
        .filter(|port| *port != own);
    [Some(own), further].into_iter().flatten().collect()
}

/// The router answers to the whole world, and so reaches nothing but what it leads to.
fn router_egress(blueprint: &Blueprint<'_>) -> NetworkPolicy {
    let mut rules = vec![to(vec![pods(all())])];
    rules.extend(to_dns(blueprint));
    egress(blueprint, "private-router-egress", component(components::ROUTER), rules)
}
