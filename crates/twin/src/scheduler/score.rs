//! Which of the nodes that fit is the best: wishes first, then even use. Pure. Weights are in the proportions of
//! upstream's plugins; the exact numbers are ours.

use k8s_openapi::api::core::v1::{Node, Pod};
use kube::ResourceExt;

use super::{
    affinity::{affinity, term_selects, tolerates_node},
    place::Surroundings,
    resources,
};
use crate::quantity::Amounts;

/// What a taint costs that a pod had better stay away from.
const AVOIDED: i64 = 300;
/// What each pod in a domain costs from which a constraint would like to spread.
const CROWDED: i64 = 40;
/// What an empty node is worth more than a full one.
const EMPTY: i128 = 100;
/// What wishes of affinity count, as against the use of a node.
const WISH: i64 = 2;

/// The worth of a node for a pod.
pub(super) fn score(pod: &Pod, node: &Node, around: &Surroundings<'_>) -> i64 {
    let taints = if tolerates_node(pod, node, &["PreferNoSchedule"]) {
        0
    } else {
        AVOIDED
    };
    WISH * (node_wishes(pod, node) + around.company.fulfilment(node)) + room(node, around)
        - taints
        - CROWDED * around.spreading.crowd(node)
        - around.company.cost(node)
}

fn node_wishes(pod: &Pod, node: &Node) -> i64 {
    let affinity = affinity(pod).and_then(|affinity| affinity.node_affinity.as_ref());
    let wishes = affinity.and_then(|affinity| affinity.preferred_during_scheduling_ignored_during_execution.as_deref());
    let wishes = wishes.unwrap_or_default().iter();
    wishes
        .filter(|wish| term_selects(&wish.preference, node))
        .map(|wish| i64::from(wish.weight))
        .sum()
}

/// How empty a node would be, in hundredths, over processors and memory.
fn room(node: &Node, around: &Surroundings<'_>) -> i64 {
    let allocatable = resources::allocatable(node);
    let used = around.cluster.used(&node.name_any());
    let share = |resource: &str| {
        let get = |amounts: &Amounts| amounts.get(resource).copied().unwrap_or_default();
        let all = get(&allocatable);
        if all == 0 {
            return 0;
        }
        (all - used.map(get).unwrap_or_default() - get(&around.requests)).max(0) * EMPTY / all
    };
    i64::try_from(i128::midpoint(share("cpu"), share("memory"))).unwrap_or_default()
}
