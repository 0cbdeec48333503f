//! Spreading over domains: zones, hosts, or whatever label a constraint names. Pure.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::{Node, Pod, TopologySpreadConstraint};
use kube::ResourceExt;

use super::{
    affinity::{agrees, fits_node, selects_pod, tolerates_node},
    cluster::Cluster,
};
use crate::pods;

/// The constraints of one pod, counted once for all nodes.
pub(super) struct Spreading {
    counted: Vec<Counted>,
}

struct Counted {
    key: String,
    most: i64,
    is_required: bool,
    /// Whether the pod itself would count.
    own: i64,
    /// Pods that count, by domain; every domain of an eligible node is there.
    domains: BTreeMap<String, i64>,
    least: i64,
}

impl Spreading {
    pub(super) fn new(pod: &Pod, cluster: &Cluster) -> Self {
        let constraints = pods::spec(pod).and_then(|spec| spec.topology_spread_constraints.as_deref());
        let constraints = constraints.unwrap_or_default();
        // A node counts only if it has all the keys.
        let has_keys = |node: &Node| {
            constraints
                .iter()
                .all(|constraint| node.labels().contains_key(&constraint.topology_key))
        };
        let counted = constraints
            .iter()
            .map(|constraint| Counted::new(constraint, pod, cluster, &has_keys));
        Self {
            counted: counted.collect(),
        }
    }

    /// Why a node would make a required constraint untrue.
    pub(super) fn refusal(&self, node: &Node) -> Option<&'static str> {
        let mut required = self.counted.iter().filter(|counted| counted.is_required);
        required.find_map(|counted| {
            let Some(domain) = node.labels().get(&counted.key) else {
                return Some("node(s) didn't match pod topology spread constraints (missing required label)");
            };
            let there = counted.domains.get(domain).copied().unwrap_or_default();
            (there + counted.own - counted.least > counted.most)
                .then_some("node(s) didn't match pod topology spread constraints")
        })
    }

    /// How crowded a node's domains are, by the constraints that are only wished for.
    pub(super) fn crowd(&self, node: &Node) -> i64 {
        let wished = self.counted.iter().filter(|counted| !counted.is_required);
        wished
            .filter_map(|counted| counted.domains.get(node.labels().get(&counted.key)?).copied())
            .sum()
    }
}

impl Counted {
    fn new(
        constraint: &TopologySpreadConstraint,
        pod: &Pod,
        cluster: &Cluster,
        has_keys: &impl Fn(&Node) -> bool,
    ) -> Self {
        let honours_nodes = constraint.node_affinity_policy.as_deref() != Some("Ignore");
        let honours_taints = constraint.node_taints_policy.as_deref() == Some("Honor");
        let eligible = cluster.nodes().iter().filter(|node| {
            has_keys(node)
                && (!honours_nodes || fits_node(pod, node))
                && (!honours_taints || tolerates_node(pod, node, &["NoSchedule", "NoExecute"]))
        });
        let keys = constraint.match_label_keys.as_deref().unwrap_or_default();
        let counts = |other: &Pod| {
            !pods::is_terminating(other)
                && selects_pod(constraint.label_selector.as_ref(), other)
                && agrees(keys, pod, other)
        };
        let placed = eligible.filter_map(|node| Some((node.name_any(), node.labels().get(&constraint.topology_key)?)));
        let placed: BTreeMap<String, &String> = placed.collect();
        let mut domains: BTreeMap<String, i64> = placed.values().map(|domain| ((*domain).clone(), 0)).collect();
        let siblings = cluster.inside(&pod.namespace().unwrap_or_default());
        for other in siblings.filter(|other| counts(&other.pod)) {
            if let Some(domain) = placed.get(&other.node) {
                *domains.entry((*domain).clone()).or_default() += 1;
            }
        }
        let wanted = usize::try_from(constraint.min_domains.unwrap_or(1)).unwrap_or_default();
        let has_enough = domains.len() >= wanted;
        let least = domains
            .values()
            .min()
            .copied()
            .filter(|_| has_enough)
            .unwrap_or_default();
        Self {
            key: constraint.topology_key.clone(),
            most: i64::from(constraint.max_skew),
            is_required: constraint.when_unsatisfiable == "DoNotSchedule",
            own: i64::from(counts(pod)),
            domains,
            least,
        }
    }
}
