//! Whether a node has room: requests of pods against what the node has to give. Pure.

use k8s_openapi::api::core::v1::{Container, Node, Pod};
use kube::ResourceExt;

use super::cluster::Cluster;
use crate::{
    pods,
    quantity::{self, Amounts},
};

/// How many pods a node takes that says nothing; the kubelet's default.
const PODS: i128 = 110;

/// What a pod asks for: all containers together, or what its most demanding init container needs beside the sidecars
/// that run by then.
pub(crate) fn requests(pod: &Pod) -> Amounts {
    let mut sum = Amounts::new();
    for container in pods::containers(pod) {
        quantity::add(&mut sum, &of_container(container));
    }
    let (mut sidecars, mut peak) = (Amounts::new(), Amounts::new());
    for container in pods::init_containers(pod) {
        let mut now = of_container(container);
        if pods::is_sidecar(container) {
            quantity::add(&mut sidecars, &now);
            now = sidecars.clone();
        } else {
            quantity::add(&mut now, &sidecars);
        }
        quantity::maximum(&mut peak, &now);
    }
    quantity::add(&mut sum, &sidecars);
    quantity::maximum(&mut sum, &peak);
    let overhead = pods::spec(pod).and_then(|spec| spec.overhead.as_ref());
    quantity::add(&mut sum, &quantity::amounts(overhead));
    sum
}

fn of_container(container: &Container) -> Amounts {
    let requests = container
        .resources
        .as_ref()
        .and_then(|resources| resources.requests.as_ref());
    quantity::amounts(requests)
}

/// What a node has to give.
pub(crate) fn allocatable(node: &Node) -> Amounts {
    let status = node.status.as_ref();
    quantity::amounts(status.and_then(|status| status.allocatable.as_ref().or(status.capacity.as_ref())))
}

/// Everything that a node has too little of, in upstream's words.
pub(super) fn missing(requests: &Amounts, node: &Node, cluster: &Cluster) -> Vec<String> {
    let name = node.name_any();
    let (allocatable, used) = (allocatable(node), cluster.used(&name));
    let mut missing = Vec::new();
    let most = allocatable.get("pods").map_or(PODS, |amount| amount / 1_000);
    let count = i128::try_from(cluster.on(&name).len()).unwrap_or(i128::MAX);
    if count >= most {
        missing.push("Too many pods".to_owned());
    }
    for (resource, wanted) in requests {
        let get = |amounts: &Amounts| amounts.get(resource).copied().unwrap_or_default();
        if *wanted > 0 && *wanted > get(&allocatable) - used.map(get).unwrap_or_default() {
            missing.push(format!("Insufficient {resource}"));
        }
    }
    missing
}
