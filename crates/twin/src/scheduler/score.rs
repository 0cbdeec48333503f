//! Which of the nodes that fit is the best: wishes first, then even use. Pure. Weights are in the proportions of
//! upstream's plugins; the exact numbers are ours.

use k8s_openapi::api::core::v1::{Node, Pod, WeightedPodAffinityTerm};
use kube::ResourceExt;

use super::{
    affinity::{is_beside, means, term_selects, tolerates_node},
    place::Cluster,
    resources,
    spread::Spreading,
};
use crate::pods;

/// What a taint costs that a pod had better stay away from.
const AVOIDED: i64 = 300;
/// What each pod in a domain costs from which a constraint would like to spread.
const CROWDED: i64 = 40;
/// What each sibling on the same node, or in the same zone, costs, where nobody said anything.
const SIBLING: i64 = 20;
const SIBLING_IN_ZONE: i64 = 10;
/// What an empty node is worth more than a full one.
const EMPTY: i128 = 100;
/// What wishes of affinity count, as against the use of a node.
const WISH: i64 = 2;
const ZONE: &str = "topology.kubernetes.io/zone";

/// The worth of a node for a pod.
pub(super) fn score(pod: &Pod, node: &Node, cluster: &Cluster<'_>, spreading: &Spreading) -> i64 {
    let taints = if tolerates_node(pod, node, &["PreferNoSchedule"]) {
        0
    } else {
        AVOIDED
    };
    WISH * (node_wishes(pod, node) + pod_wishes(pod, node, cluster)) + room(pod, node, cluster)
        - taints
        - CROWDED * spreading.crowd(node)
        - siblings(pod, node, cluster)
}

fn node_wishes(pod: &Pod, node: &Node) -> i64 {
    let affinity = pods::spec(pod)
        .and_then(|spec| spec.affinity.as_ref())
        .and_then(|affinity| affinity.node_affinity.as_ref());
    let wishes = affinity.and_then(|affinity| affinity.preferred_during_scheduling_ignored_during_execution.as_deref());
    let wishes = wishes.unwrap_or_default().iter();
    wishes
        .filter(|wish| term_selects(&wish.preference, node))
        .map(|wish| i64::from(wish.weight))
        .sum()
}

fn pod_wishes(pod: &Pod, node: &Node, cluster: &Cluster<'_>) -> i64 {
    let Some(affinity) = pods::spec(pod).and_then(|spec| spec.affinity.as_ref()) else {
        return 0;
    };
    let sum = |wishes: Option<&[WeightedPodAffinityTerm]>| -> i64 {
        let wishes = wishes.unwrap_or_default().iter();
        wishes
            .map(|wish| {
                let term = &wish.pod_affinity_term;
                let near = cluster.assigned.iter().filter(|other| {
                    means(term, pod, &other.pod, cluster) && is_beside(&term.topology_key, node, &other.node, cluster)
                });
                i64::from(wish.weight) * i64::try_from(near.count()).unwrap_or(i64::MAX)
            })
            .sum()
    };
    let near = affinity.pod_affinity.as_ref();
    let far = affinity.pod_anti_affinity.as_ref();
    sum(near.and_then(|terms| terms.preferred_during_scheduling_ignored_during_execution.as_deref()))
        - sum(far.and_then(|terms| terms.preferred_during_scheduling_ignored_during_execution.as_deref()))
}

/// How empty a node would be, in hundredths, over processors and memory.
fn room(pod: &Pod, node: &Node, cluster: &Cluster<'_>) -> i64 {
    let (allocatable, requests) = (resources::allocatable(node), resources::requests(pod));
    let used = resources::used(&node.name_any(), cluster);
    let share = |resource: &str| {
        let get = |amounts: &crate::quantity::Amounts| amounts.get(resource).copied().unwrap_or_default();
        let all = get(&allocatable);
        if all == 0 {
            return 0;
        }
        (all - get(&used) - get(&requests)).max(0) * EMPTY / all
    };
    i64::try_from(i128::midpoint(share("cpu"), share("memory"))).unwrap_or_default()
}

/// What it costs to be near other pods of the same controller.
fn siblings(pod: &Pod, node: &Node, cluster: &Cluster<'_>) -> i64 {
    let Some(owner) = pods::controller(pod).map(|owner| owner.uid.as_str()) else {
        return 0;
    };
    let name = node.name_any();
    let others = cluster
        .assigned
        .iter()
        .filter(|other| pods::is_controlled_by(other.pod.as_ref(), Some(owner)));
    others
        .map(|other| {
            if other.node == name {
                SIBLING
            } else if is_beside(ZONE, node, &other.node, cluster) {
                SIBLING_IN_ZONE
            } else {
                0
            }
        })
        .sum()
}
