//! Where a pod fits: the filters and scores of upstream's scheduler over values. Pure; priority decides only who is
//! asked first, which is the caller's business.

use std::{collections::BTreeMap, fmt, sync::Arc};

use k8s_openapi::api::core::v1::{Namespace, Node, Pod};
use kube::ResourceExt;

use super::{affinity, resources, score, spread};
use crate::{pods, selector::Labels};

/// A pod and its node.
#[derive(Clone, Debug)]
pub(crate) struct Assigned {
    /// The pod.
    pub(crate) pod: Arc<Pod>,
    /// The name of its node.
    pub(crate) node: String,
}

/// What a decision depends on besides the pod.
pub(crate) struct Cluster<'a> {
    /// Every node.
    pub(crate) nodes: &'a [Arc<Node>],
    /// Every pod that has one and is not over.
    pub(crate) assigned: Vec<Assigned>,
    /// Every namespace.
    pub(crate) namespaces: Vec<Arc<Namespace>>,
}

impl Cluster<'_> {
    /// The labels of a node.
    pub(super) fn node_labels(&self, name: &str) -> Option<&Labels> {
        let node = self.nodes.iter().find(|node| node.name_any() == name)?;
        Some(node.labels())
    }

    /// The pods of a node.
    pub(super) fn on<'a>(&'a self, node: &'a str) -> impl Iterator<Item = &'a Pod> {
        let on = self.assigned.iter().filter(move |assigned| assigned.node == node);
        on.map(|assigned| assigned.pod.as_ref())
    }

    /// The labels of a namespace; none where it is not known.
    pub(super) fn namespace_labels(&self, name: &str) -> Option<&Labels> {
        let namespace = self.namespaces.iter().find(|namespace| namespace.name_any() == name)?;
        Some(namespace.labels())
    }
}

/// Why no node takes a pod: how many nodes for which reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Unplaceable {
    nodes: usize,
    reasons: BTreeMap<String, usize>,
}

impl fmt::Display for Unplaceable {
    /// In upstream's words.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.nodes == 0 {
            return formatter.write_str("no nodes available to schedule pods");
        }
        let mut reasons: Vec<String> = self
            .reasons
            .iter()
            .map(|(reason, count)| format!("{count} {reason}"))
            .collect();
        reasons.sort();
        write!(
            formatter,
            "0/{} nodes are available: {}.",
            self.nodes,
            reasons.join(", ")
        )
    }
}

/// The node for a pod, or the reasons why there is none.
pub(crate) fn place(pod: &Pod, cluster: &Cluster<'_>) -> Result<String, Unplaceable> {
    let mut reasons: BTreeMap<String, usize> = BTreeMap::new();
    let mut best: Option<(i64, &Arc<Node>)> = None;
    let spreading = spread::Spreading::new(pod, cluster);
    for node in cluster.nodes {
        let refusals = refusals(pod, node, cluster, &spreading);
        if refusals.is_empty() {
            let score = score::score(pod, node, cluster, &spreading);
            // The first by name wins among equals, so that the same world places the same way.
            if best.is_none_or(|(highest, _)| score > highest) {
                best = Some((score, node));
            }
        }
        for reason in refusals {
            *reasons.entry(reason).or_default() += 1;
        }
    }
    match best {
        Some((_, node)) => Ok(node.name_any()),
        None => Err(Unplaceable {
            nodes: cluster.nodes.len(),
            reasons,
        }),
    }
}

/// Why a node does not take a pod: what the first filter says that does not let it pass.
fn refusals(pod: &Pod, node: &Node, cluster: &Cluster<'_>, spreading: &spread::Spreading) -> Vec<String> {
    let one = |reason: &str| vec![reason.to_owned()];
    if is_unschedulable(pod, node) {
        return one("node(s) were unschedulable");
    }
    if !affinity::tolerates_node(pod, node, &["NoSchedule", "NoExecute"]) {
        return one("node(s) had untolerated taint(s)");
    }
    if !affinity::fits_node(pod, node) {
        return one("node(s) didn't match Pod's node affinity/selector");
    }
    if !has_free_ports(pod, node, cluster) {
        return one("node(s) didn't have free ports for the requested pod ports");
    }
    let missing = resources::missing(pod, node, cluster);
    if !missing.is_empty() {
        return missing;
    }
    if let Some(reason) = spreading.refusal(node) {
        return one(reason);
    }
    affinity::pod_refusal(pod, node, cluster).map_or_else(Vec::new, one)
}

fn is_unschedulable(pod: &Pod, node: &Node) -> bool {
    let is_cordoned = node.spec.as_ref().and_then(|spec| spec.unschedulable) == Some(true);
    is_cordoned && !affinity::tolerates(pod, "node.kubernetes.io/unschedulable", "", "NoSchedule")
}

fn host_ports(pod: &Pod) -> impl Iterator<Item = (i32, &str)> {
    let ports = pods::containers(pod)
        .iter()
        .flat_map(|container| container.ports.iter().flatten());
    ports.filter_map(|port| Some((port.host_port?, port.protocol.as_deref().unwrap_or("TCP"))))
}

fn has_free_ports(pod: &Pod, node: &Node, cluster: &Cluster<'_>) -> bool {
    let name = node.name_any();
    let taken: Vec<(i32, &str)> = cluster.on(&name).flat_map(host_ports).collect();
    host_ports(pod).all(|port| !taken.contains(&port))
}
