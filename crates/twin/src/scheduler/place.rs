//! Where a pod fits: the filters and scores of upstream's scheduler over values. Pure; priority decides only who is
//! asked first, which is the caller's business.

use std::{collections::BTreeMap, fmt, sync::Arc};

use k8s_openapi::api::core::v1::{Node, Pod};
use kube::ResourceExt;

use super::{affinity, cluster::Cluster, company::Company, resources, score, spread::Spreading};
use crate::{pods, quantity::Amounts};

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

/// What all nodes are judged by for one pod.
pub(super) struct Surroundings<'a> {
    /// Everything that is there.
    pub(super) cluster: &'a Cluster,
    /// Its constraints of spreading.
    pub(super) spreading: Spreading,
    /// Its company.
    pub(super) company: Company,
    /// What it asks for.
    pub(super) requests: Amounts,
}

/// The node for a pod, or the reasons why there is none.
pub(crate) fn place(pod: &Pod, cluster: &Cluster) -> Result<String, Unplaceable> {
    let mut reasons: BTreeMap<String, usize> = BTreeMap::new();
    let mut best: Option<(i64, &Arc<Node>)> = None;
    let surroundings = Surroundings {
        cluster,
        spreading: Spreading::new(pod, cluster),
        company: Company::new(pod, cluster),
        requests: resources::requests(pod),
    };
    for node in cluster.nodes() {
        let refusals = refusals(pod, node, &surroundings);
        if refusals.is_empty() {
            let score = score::score(pod, node, &surroundings);
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
            nodes: cluster.nodes().len(),
            reasons,
        }),
    }
}

/// Why a node does not take a pod: what the first filter says that does not let it pass.
fn refusals(pod: &Pod, node: &Node, around: &Surroundings<'_>) -> Vec<String> {
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
    if !has_free_ports(pod, node, around.cluster) {
        return one("node(s) didn't have free ports for the requested pod ports");
    }
    let missing = resources::missing(&around.requests, node, around.cluster);
    if !missing.is_empty() {
        return missing;
    }
    if let Some(reason) = around.spreading.refusal(node) {
        return one(reason);
    }
    around.company.refusal(node).map_or_else(Vec::new, one)
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

fn has_free_ports(pod: &Pod, node: &Node, cluster: &Cluster) -> bool {
    let name = node.name_any();
    host_ports(pod).all(|port| !cluster.on(&name).flat_map(host_ports).any(|taken| taken == port))
}
