//! The Services that publish a control plane.

use std::collections::BTreeMap;

use hyperplane_api::{
    constants::{annotations, labels, objects, ours},
    hypershift::{
        hosted_control_plane::HostedControlPlane,
        services::{PublishedService, PublishingStrategyType},
    },
};
use k8s_openapi::{
    api::core::v1::{Service, ServicePort, ServiceSpec},
    apimachinery::pkg::{apis::meta::v1::ObjectMeta, util::intstr::IntOrString},
};
use kube::Resource as _;

use super::{PUBLISHABLE, Publishable, ROUTER_PORT, names::given, routed, strategy};
use crate::{defaults::POD_OWNER, inputs::Management};

/// The Services that publish a control plane.
pub fn published_services(control_plane: &HostedControlPlane, management: &Management) -> Vec<Service> {
    let _ = management;
    let served = PUBLISHABLE
        .iter()
        .filter(|one| super::is_served(control_plane, &one.service));
    let mut services: Vec<Service> = served.map(|one| published(control_plane, one)).collect();
    services.extend(router(control_plane));
    services
}

fn published(control_plane: &HostedControlPlane, publishable: &Publishable) -> Service {
    let strategy = strategy(control_plane, &publishable.service);
    let kind = strategy.map(|strategy| &strategy.strategy_type);
    let mut port = port(publishable.port_name, publishable.port, publishable.target_port);
    let mut spec = spec(publishable.component);
    let mut hostname = None;
    match kind {
        Some(PublishingStrategyType::LoadBalancer) => {
            spec.type_ = Some("LoadBalancer".to_owned());
            hostname = strategy.and_then(given);
            if publishable.service == PublishedService::ApiServer {
                spec.load_balancer_source_ranges = allowed_sources(control_plane);
            }
        }
        Some(PublishingStrategyType::NodePort) => {
            spec.type_ = Some("NodePort".to_owned());
            let wanted = strategy.and_then(|strategy| strategy.node_port.as_ref()?.port);
            port.node_port = wanted.filter(|wanted| *wanted > 0);
        }
        _ => {}
    }
    spec.ports = Some(vec![port]);
    // Agents connect while the API server beside the tunnel's end still starts: it may need nodes to become ready.
    spec.publish_not_ready_addresses = (publishable.service == PublishedService::Konnectivity).then_some(true);
    service(
        control_plane,
        publishable.name,
        publishable.component,
        spec,
        hostname.map(str::to_owned),
    )
}

/// The one Service in front of everything that is published by host name.
fn router(control_plane: &HostedControlPlane) -> Option<Service> {
    let routed: Vec<&Publishable> = routed(control_plane).collect();
    if routed.is_empty() {
        return None;
    }
    let hostnames = routed
        .iter()
        .filter_map(|one| given(strategy(control_plane, &one.service)?));
    let hostnames: Vec<&str> = hostnames.collect();
    let mut spec = spec(objects::services::ROUTER);
    spec.type_ = Some("LoadBalancer".to_owned());
    spec.ports = Some(vec![port("https", ROUTER_PORT, objects::ports::ROUTER)]);
    let hostnames = (!hostnames.is_empty()).then(|| hostnames.join(","));
    let name = objects::services::ROUTER;
    Some(service(control_plane, name, name, spec, hostnames))
}

/// The networks from which the API server may be reached; none means from everywhere.
fn allowed_sources(control_plane: &HostedControlPlane) -> Option<Vec<String>> {
    let networking = control_plane.spec.networking.as_ref()?;
    let blocks = &networking.api_server.as_ref()?.allowed_cidr_blocks;
    let blocks: Vec<String> = blocks.iter().map(ToString::to_string).collect();
    (!blocks.is_empty()).then_some(blocks)
}

fn spec(component: &str) -> ServiceSpec {
    ServiceSpec {
        type_: Some("ClusterIP".to_owned()),
        selector: Some(BTreeMap::from([("app".to_owned(), component.to_owned())])),
        ..ServiceSpec::default()
    }
}

fn port(name: &str, port: u16, target: u16) -> ServicePort {
    ServicePort {
        name: Some(name.to_owned()),
        port: i32::from(port),
        target_port: Some(IntOrString::Int(i32::from(target))),
        protocol: Some("TCP".to_owned()),
        ..ServicePort::default()
    }
}

fn service(
    control_plane: &HostedControlPlane,
    name: &str,
    component: &str,
    spec: ServiceSpec,
    hostnames: Option<String>,
) -> Service {
    let mut of_service = BTreeMap::new();
    if let Some(cluster) = annotations::CLUSTER.of(control_plane) {
        of_service.insert(annotations::CLUSTER.as_str().to_owned(), cluster.to_owned());
    }
    if let Some(hostnames) = hostnames {
        of_service.insert(annotations::EXTERNAL_DNS_HOSTNAME.as_str().to_owned(), hostnames);
    }
    let mut own = BTreeMap::from([
        (ours::MANAGED_BY.as_str(), ours::MANAGED_BY_US),
        (labels::MANAGED_BY.as_str(), POD_OWNER),
        (labels::CONTROL_PLANE_COMPONENT.as_str(), component),
    ]);
    own.insert("app", component);
    Service {
        metadata: ObjectMeta {
            name: Some(name.to_owned()),
            namespace: control_plane.metadata.namespace.clone(),
            owner_references: control_plane.controller_owner_ref(&()).map(|owner| vec![owner]),
            labels: Some(
                own.into_iter()
                    .map(|(key, value)| (key.to_owned(), value.to_owned()))
                    .collect(),
            ),
            annotations: (!of_service.is_empty()).then_some(of_service),
            ..ObjectMeta::default()
        },
        spec: Some(spec),
        ..Service::default()
    }
}
