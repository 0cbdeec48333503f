//! The controllers of Kubernetes, for a hosted cluster.

use hyperplane_api::{
    constants::{annotations, objects::components},
    hypershift::networking::{AllocateNodeCidrs, ClusterNetworking},
};
use k8s_openapi::api::core::v1::Container;

use crate::{
    component::{Asset, Component, Sidecar, Traits, WorkloadKind, asset},
    configuration::{feature_gates, tls},
    flags,
    inputs::Inputs,
    manifest::Workload,
};

const NAME: &str = components::CONTROLLER_MANAGER;

const ASSETS: &[Asset] = &[
    asset!("kube-controller-manager/service.yaml"),
    asset!("kube-controller-manager/service-monitor.yaml"),
    asset!("kube-controller-manager/deployment.yaml"),
];

pub(super) const COMPONENT: Component = Component {
    traits: Traits {
        is_spread: true,
        ..Traits::ORDINARY
    },
    sidecars: &[Sidecar::AvailabilityProber(&[])],
    adapt,
    ..Component::new(NAME, WorkloadKind::Deployment, ASSETS)
};

/// Length of the network of a node where the spec does not say, by address family.
const HOST_PREFIX: i32 = 23;
const HOST_PREFIX_V6: i32 = 64;

fn adapt(inputs: &Inputs<'_>, workload: &mut Workload) {
    let Some(container) = workload.container_mut(NAME) else {
        return;
    };
    tls::set(inputs, container);
    feature_gates::set(inputs, container);
    let networking = inputs.networking();
    let is_allocated = networking.allocate_node_cidrs == Some(AllocateNodeCidrs::Enabled);
    flags::set(container, "allocate-node-cidrs", is_allocated.to_string());
    if is_allocated {
        node_networks(&networking, container);
    }
    if inputs.is_listed(annotations::DISABLE_PROFILING, NAME) {
        flags::set(container, "profiling", "false");
    }
}

/// Where nodes get the networks of their pods from.
fn node_networks(networking: &ClusterNetworking, container: &mut Container) {
    let pods: Vec<&str> = networking
        .cluster_network
        .iter()
        .map(|entry| entry.cidr.as_str())
        .collect();
    let services: Vec<&str> = networking
        .service_network
        .iter()
        .map(|entry| entry.cidr.as_str())
        .collect();
    flags::set(container, "cluster-cidr", pods.join(","));
    flags::set(container, "service-cluster-ip-range", services.join(","));
    let is_dual = networking.cluster_network.len() > 1;
    for entry in &networking.cluster_network {
        let is_v6 = entry.cidr.as_str().contains(':');
        let default = if is_v6 { HOST_PREFIX_V6 } else { HOST_PREFIX };
        let prefix = entry.host_prefix.unwrap_or(default).to_string();
        let flag = match (is_dual, is_v6) {
            (false, _) => "node-cidr-mask-size",
            (true, false) => "node-cidr-mask-size-ipv4",
            (true, true) => "node-cidr-mask-size-ipv6",
        };
        flags::set(container, flag, prefix);
    }
}
