//! The pods that are there, as far as they matter to one that is placed: counted once for all nodes. Pure.

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use k8s_openapi::api::core::v1::{Node, Pod, PodAffinityTerm, WeightedPodAffinityTerm};
use kube::ResourceExt;

use super::{
    affinity::{affinity, means, required_terms},
    cluster::{Assigned, Cluster},
};
use crate::{nodes::ZONE, pods};

/// What each sibling on the same node, or in the same zone, costs, where nobody said anything.
const SIBLING: i64 = 20;
const SIBLING_IN_ZONE: i64 = 10;

/// Company for one pod.
pub(super) struct Company {
    /// Whom it must be near, and whether it may be the first of them.
    wanted: Vec<Domains>,
    is_first: bool,
    /// Whom it must not be near.
    avoided: Vec<Domains>,
    /// Labels of nodes with their values near which somebody does not want it.
    unwelcome: BTreeSet<(String, String)>,
    /// Whom it would like to be near, or not.
    wishes: Vec<(i64, Domains)>,
    /// Pods of the same controller, by node and by zone.
    siblings: BTreeMap<String, i64>,
    siblings_in_zone: Domains,
}

/// Pods by the value that a label of their nodes has.
struct Domains {
    key: String,
    counts: BTreeMap<String, i64>,
}

impl Domains {
    /// Nodes without the label are nowhere.
    fn new<'a>(key: &str, pods: impl Iterator<Item = &'a Assigned>, cluster: &Cluster) -> Self {
        let mut counts = BTreeMap::new();
        for assigned in pods {
            let labels = cluster.node_labels(&assigned.node);
            if let Some(value) = labels.and_then(|labels| labels.get(key)) {
                *counts.entry(value.clone()).or_default() += 1;
            }
        }
        Self {
            key: key.to_owned(),
            counts,
        }
    }

    /// Those that a term of a pod means.
    fn meant(term: &PodAffinityTerm, pod: &Pod, cluster: &Cluster) -> Self {
        let meant = candidates(term, pod, cluster).filter(|other| means(term, pod, &other.pod, cluster));
        Self::new(&term.topology_key, meant, cluster)
    }

    /// How many are where a node is.
    fn beside(&self, node: &Node) -> i64 {
        let value = node.labels().get(&self.key);
        value
            .and_then(|value| self.counts.get(value))
            .copied()
            .unwrap_or_default()
    }
}

/// Whom a term can mean at all: without a word about namespaces, those of the pod's own.
fn candidates<'a>(
    term: &PodAffinityTerm,
    pod: &Pod,
    cluster: &'a Cluster,
) -> Box<dyn Iterator<Item = &'a Assigned> + 'a> {
    let is_own = term.namespaces.as_ref().is_none_or(Vec::is_empty) && term.namespace_selector.is_none();
    if is_own {
        Box::new(cluster.inside(&pod.namespace().unwrap_or_default()))
    } else {
        Box::new(cluster.assigned())
    }
}

impl Company {
    pub(super) fn new(pod: &Pod, cluster: &Cluster) -> Self {
        let near = required_terms(pod, false);
        let is_meant =
            |term: &PodAffinityTerm| candidates(term, pod, cluster).any(|other| means(term, pod, &other.pod, cluster));
        let all = |terms: &[PodAffinityTerm]| -> Vec<Domains> {
            terms.iter().map(|term| Domains::meant(term, pod, cluster)).collect()
        };
        let siblings: Vec<&Assigned> = siblings(pod, cluster);
        let mut by_node = BTreeMap::new();
        for sibling in &siblings {
            *by_node.entry(sibling.node.clone()).or_default() += 1;
        }
        Self {
            wanted: all(near),
            is_first: !near.iter().any(is_meant) && near.iter().all(|term| means(term, pod, pod, cluster)),
            avoided: all(required_terms(pod, true)),
            unwelcome: unwelcome(pod, cluster),
            wishes: wishes(pod, cluster),
            siblings: by_node,
            siblings_in_zone: Domains::new(ZONE, siblings.into_iter(), cluster),
        }
    }

    /// Why pods that are there keep the pod from a node.
    pub(super) fn refusal(&self, node: &Node) -> Option<&'static str> {
        // The first of a group that only refers to itself goes anywhere.
        let may_begin = |domains: &Domains| self.is_first && node.labels().contains_key(&domains.key);
        let is_near = |domains: &Domains| domains.beside(node) > 0 || may_begin(domains);
        if !self.wanted.iter().all(is_near) {
            return Some("node(s) didn't match pod affinity rules");
        }
        if self.avoided.iter().any(|domains| domains.beside(node) > 0) {
            return Some("node(s) didn't match pod anti-affinity rules");
        }
        let is_unwelcome = self
            .unwelcome
            .iter()
            .any(|(key, value)| node.labels().get(key) == Some(value));
        is_unwelcome.then_some("node(s) didn't satisfy existing pods anti-affinity rules")
    }

    /// How much of what the pod wishes a node fulfils.
    pub(super) fn fulfilment(&self, node: &Node) -> i64 {
        let wishes = self.wishes.iter();
        wishes.map(|(weight, domains)| weight * domains.beside(node)).sum()
    }

    /// What it costs to be near other pods of the same controller.
    pub(super) fn cost(&self, node: &Node) -> i64 {
        let here = self.siblings.get(&node.name_any()).copied().unwrap_or_default();
        // Those on the node are in its zone, too, if it has one.
        let in_zone = self.siblings_in_zone.beside(node);
        SIBLING * here + SIBLING_IN_ZONE * (in_zone - here).max(0)
    }
}

fn siblings<'a>(pod: &Pod, cluster: &'a Cluster) -> Vec<&'a Assigned> {
    let Some(owner) = pods::controller(pod).map(|owner| owner.uid.as_str()) else {
        return Vec::new();
    };
    let inside = cluster.inside(&pod.namespace().unwrap_or_default());
    inside
        .filter(|other| pods::is_controlled_by(other.pod.as_ref(), Some(owner)))
        .collect()
}

fn unwelcome(pod: &Pod, cluster: &Cluster) -> BTreeSet<(String, String)> {
    let mut unwelcome = BTreeSet::new();
    for other in cluster.averse() {
        let terms = required_terms(&other.pod, true).iter();
        for term in terms.filter(|term| means(term, &other.pod, pod, cluster)) {
            let labels = cluster.node_labels(&other.node);
            if let Some(value) = labels.and_then(|labels| labels.get(&term.topology_key)) {
                unwelcome.insert((term.topology_key.clone(), value.clone()));
            }
        }
    }
    unwelcome
}

fn wishes(pod: &Pod, cluster: &Cluster) -> Vec<(i64, Domains)> {
    let Some(affinity) = affinity(pod) else {
        return Vec::new();
    };
    let near = affinity.pod_affinity.as_ref();
    let near = near.and_then(|terms| terms.preferred_during_scheduling_ignored_during_execution.as_deref());
    let far = affinity.pod_anti_affinity.as_ref();
    let far = far.and_then(|terms| terms.preferred_during_scheduling_ignored_during_execution.as_deref());
    let weighed = |terms: Option<&[WeightedPodAffinityTerm]>, sign: i64| -> Vec<(i64, Domains)> {
        let terms = terms.unwrap_or_default().iter();
        let weighed = terms.map(|wish| {
            let domains = Domains::meant(&wish.pod_affinity_term, pod, cluster);
            (sign * i64::from(wish.weight), domains)
        });
        weighed.collect()
    };
    let mut wishes = weighed(near, 1);
    wishes.extend(weighed(far, -1));
    wishes
}
