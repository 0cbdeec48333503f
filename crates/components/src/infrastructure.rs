//! How a control plane is reached from outside: which Services publish it, and where clients find them.
//!
//! Strategy Route is served by our own router, which tells connections apart by the host name that the client asks for;
//! no Route is written. Strategy None means inside of the management cluster only.

mod names;
mod observed;
mod services;
#[cfg(test)]
mod tests;

use hyperplane_api::{
    constants::{
        annotations,
        objects::{components, ports, services as service_names},
    },
    hypershift::{
        hosted_control_plane::HostedControlPlane,
        services::{PublishedService, PublishingStrategyType, ServicePublishingStrategy},
    },
};

pub(crate) use self::names::route_hostname;
pub use self::{names::api_server_hostname, observed::observe, services::published_services};

/// A host and a port.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Endpoint {
    /// A host name or an address.
    pub host: String,
    /// The port.
    pub port: u16,
}

/// Where the parts of a control plane are reached from outside; what is not known yet is absent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Infrastructure {
    /// The API server.
    pub api_server: Option<Endpoint>,
    /// Konnectivity, by agents.
    pub konnectivity: Option<Endpoint>,
    /// The ignition server, by machines.
    pub ignition: Option<Endpoint>,
    /// What is missing and who has to give it, in sentences. Empty means that the infrastructure is ready.
    pub missing: Vec<String>,
}

/// An endpoint that can be published.
#[derive(Debug)]
pub(crate) struct Publishable {
    /// What the spec calls it.
    pub service: PublishedService,
    /// The Service.
    pub name: &'static str,
    /// The component whose pods are behind it.
    pub component: &'static str,
    /// The name of its port.
    pub port_name: &'static str,
    /// The port of the Service.
    pub port: u16,
    /// The port of the pods.
    pub target_port: u16,
}

/// All endpoints that can be published.
pub(crate) const PUBLISHABLE: &[Publishable] = &[
    Publishable {
        service: PublishedService::ApiServer,
        name: service_names::API_SERVER,
        component: components::API_SERVER,
        port_name: "client",
        port: ports::API_SERVER,
        target_port: ports::API_SERVER,
    },
    Publishable {
        service: PublishedService::Konnectivity,
        name: service_names::KONNECTIVITY,
        component: components::API_SERVER,
        port_name: "agent",
        port: ports::KONNECTIVITY,
        target_port: ports::KONNECTIVITY,
    },
    Publishable {
        service: PublishedService::Ignition,
        name: service_names::IGNITION,
        component: components::IGNITION_SERVER,
        port_name: "https",
        port: 443,
        target_port: ports::IGNITION_SERVER,
    },
];

/// The port under which everything is found behind the router.
pub(crate) const ROUTER_PORT: u16 = 443;

/// How an endpoint is published; none where the spec does not say.
pub(crate) fn strategy<'a>(
    control_plane: &'a HostedControlPlane,
    service: &PublishedService,
) -> Option<&'a ServicePublishingStrategy> {
    let mut all = control_plane.spec.services.iter();
    let found = all.find(|one| one.service == *service)?;
    Some(&found.service_publishing_strategy)
}

/// Whether the control plane has something behind the endpoint at all.
pub(crate) fn is_served(control_plane: &HostedControlPlane, service: &PublishedService) -> bool {
    *service != PublishedService::Ignition || !annotations::DISABLE_IGNITION_SERVER.is_true(control_plane)
}

/// The endpoints that the router leads to.
pub(crate) fn routed(control_plane: &HostedControlPlane) -> impl Iterator<Item = &'static Publishable> {
    PUBLISHABLE.iter().filter(|one| {
        let strategy = strategy(control_plane, &one.service);
        let is_route = strategy.is_some_and(|strategy| strategy.strategy_type == PublishingStrategyType::Route);
        is_route && is_served(control_plane, &one.service)
    })
}
