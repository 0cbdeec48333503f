//! Endpoints that are published by a port on nodes or by a load balancer of their own: both bring clients from anywhere
//! straight to the pods. What is published by Route comes through the router, which is one of the same namespace.

use hyperplane_api::{
    constants::objects::{components, ports},
    hypershift::services::{PublishedService, PublishingStrategyType},
};
use k8s_openapi::api::networking::v1::NetworkPolicy;

use super::{
    Blueprint,
    parts::{component, from_anywhere, ingress},
};

/// One opening: for which endpoint, to the pods of which component, at which port, under which name.
struct Opening {
    service: PublishedService,
    component: &'static str,
    port: u16,
    name: &'static str,
}

const fn opening(service: PublishedService, component: &'static str, port: u16, name: &'static str) -> Opening {
    Opening {
        service,
        component,
        port,
        name,
    }
}

const OPENINGS: &[Opening] = &[
    opening(
        PublishedService::OAuthServer,
        components::OAUTH_SERVER,
        ports::OAUTH_SERVER,
        "oauth",
    ),
    opening(
        PublishedService::Ignition,
        components::IGNITION_SERVER,
        ports::IGNITION_SERVER,
        "ignition",
    ),
    opening(
        PublishedService::Ignition,
        components::IGNITION_PROXY,
        ports::IGNITION_PROXY,
        "ignition-proxy",
    ),
    opening(
        PublishedService::Konnectivity,
        components::KONNECTIVITY_SERVER,
        ports::KONNECTIVITY,
        "konnectivity",
    ),
    // The server of the tunnel runs beside the API server, in its pods.
    opening(
        PublishedService::Konnectivity,
        components::API_SERVER,
        ports::KONNECTIVITY,
        "konnectivity-kas",
    ),
];

pub(super) fn policies(blueprint: &Blueprint<'_>) -> Vec<NetworkPolicy> {
    let mut policies = Vec::new();
    for opening in OPENINGS {
        let services = &blueprint.cluster.spec.services;
        let entry = services.iter().find(|entry| entry.service == opening.service);
        let strategy = entry.map(|entry| &entry.service_publishing_strategy.strategy_type);
        let prefix = match strategy {
            Some(PublishingStrategyType::NodePort) => "nodeport",
            Some(PublishingStrategyType::LoadBalancer) => "loadbalancer",
            _ => continue,
        };
        policies.push(ingress(
            blueprint,
            &format!("{prefix}-{}", opening.name),
            component(opening.component),
            vec![from_anywhere(&[opening.port.into()])],
        ));
    }
    policies
}
