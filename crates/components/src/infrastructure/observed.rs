//! Where a control plane is reached, by what is asked for and what the live Services have got.

use hyperplane_api::{
    constants::objects,
    hypershift::{
        hosted_control_plane::HostedControlPlane,
        services::{PublishedService, PublishingStrategyType},
    },
};
use k8s_openapi::api::core::v1::Service;

use super::{Endpoint, Infrastructure, PUBLISHABLE, Publishable, ROUTER_PORT, is_served, names, strategy};
use crate::inputs::Management;

/// Where the control plane is reached, by what is asked for and what the live Services have got.
pub fn observe(control_plane: &HostedControlPlane, management: &Management, services: &[&Service]) -> Infrastructure {
    let mut infrastructure = Infrastructure::default();
    let world = World {
        control_plane,
        management,
        services,
    };
    for publishable in PUBLISHABLE.iter().filter(|one| is_served(control_plane, &one.service)) {
        let endpoint = match world.endpoint(publishable) {
            Ok(endpoint) => Some(endpoint),
            Err(missing) => {
                infrastructure.missing.push(missing);
                None
            }
        };
        match publishable.service {
            PublishedService::ApiServer => infrastructure.api_server = endpoint,
            PublishedService::Konnectivity => infrastructure.konnectivity = endpoint,
            _ => infrastructure.ignition = endpoint,
        }
    }
    infrastructure
}

struct World<'a> {
    control_plane: &'a HostedControlPlane,
    management: &'a Management,
    services: &'a [&'a Service],
}

impl World<'_> {
    /// Where an endpoint is found, or what is missing.
    fn endpoint(&self, publishable: &Publishable) -> Result<Endpoint, String> {
        let service = publishable.service.as_str();
        let Some(strategy) = strategy(self.control_plane, &publishable.service) else {
            return Err(format!(
                "spec.services has no entry for {service}: add one that says how it is published"
            ));
        };
        let at = |host: String, port: u16| Ok(Endpoint { host, port });
        match &strategy.strategy_type {
            PublishingStrategyType::LoadBalancer => {
                // The name that the user gave leads nowhere before the load balancer is there.
                let address = self.balancer(publishable.name)?;
                let given = names::given(strategy).map(str::to_owned);
                at(given.unwrap_or(address), publishable.port)
            }
            PublishingStrategyType::NodePort => {
                let address = strategy.node_port.as_ref().map(|port| port.address.as_str());
                let address = address.filter(|address| !address.is_empty()).ok_or_else(|| {
                    format!(
                        "{service} is published by NodePort without nodePort.address: give the address of the nodes"
                    )
                })?;
                at(address.to_owned(), self.node_port(publishable.name)?)
            }
            PublishingStrategyType::Route => {
                let hostname = names::route_hostname(self.control_plane, self.management, publishable);
                let hostname = hostname.ok_or_else(|| {
                    format!(
                        "{service} is published by Route without route.hostname, and the management cluster has no \
                         ingress domain: give a host name"
                    )
                })?;
                self.balancer(objects::services::ROUTER)?;
                at(hostname, ROUTER_PORT)
            }
            PublishingStrategyType::None => {
                self.service(publishable.name)?;
                let namespace = self.control_plane.metadata.namespace.as_deref().unwrap_or_default();
                at(format!("{}.{namespace}.svc", publishable.name), publishable.port)
            }
            other => Err(format!(
                "{service} cannot be published by {other}: choose LoadBalancer, NodePort, Route or None"
            )),
        }
    }

    fn service(&self, name: &str) -> Result<&Service, String> {
        let mut services = self.services.iter();
        let found = services.find(|service| service.metadata.name.as_deref() == Some(name));
        found
            .copied()
            .ok_or_else(|| format!("Service {name} does not exist yet"))
    }

    /// The address of the load balancer in front of a Service.
    fn balancer(&self, name: &str) -> Result<String, String> {
        let service = self.service(name)?;
        let status = service.status.as_ref().and_then(|status| status.load_balancer.as_ref());
        let ingress = status.and_then(|status| status.ingress.as_ref()?.first());
        let address = ingress.and_then(|ingress| ingress.hostname.clone().or_else(|| ingress.ip.clone()));
        address
            .filter(|address| !address.is_empty())
            .ok_or_else(|| format!("the load balancer of Service {name} has no address yet"))
    }

    /// The port on the nodes that leads to a Service.
    fn node_port(&self, name: &str) -> Result<u16, String> {
        let service = self.service(name)?;
        let ports = service.spec.as_ref().and_then(|spec| spec.ports.as_ref());
        let port = ports.and_then(|ports| ports.first()?.node_port);
        port.and_then(|port| u16::try_from(port).ok())
            .filter(|port| *port > 0)
            .ok_or_else(|| format!("Service {name} has no port on the nodes yet"))
    }
}
