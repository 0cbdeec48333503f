//! Selectors, taints, and the affinities between pods and nodes and between pods. Pure.

use std::collections::BTreeMap;

use k8s_openapi::{
    api::core::v1::{Affinity, Node, NodeSelector, NodeSelectorTerm, Pod, PodAffinityTerm, Toleration},
    apimachinery::pkg::apis::meta::v1::LabelSelector,
};
use kube::ResourceExt;

use super::cluster::Cluster;
use crate::{
    pods,
    selector::{self, Labels},
};

/// Whether a pod tolerates a taint.
pub(crate) fn tolerates(pod: &Pod, key: &str, value: &str, effect: &str) -> bool {
    toleration(pod, key, value, effect).is_some()
}

/// The first toleration of a pod that goes with a taint.
pub(crate) fn toleration<'a>(pod: &'a Pod, key: &str, value: &str, effect: &str) -> Option<&'a Toleration> {
    let tolerations = pods::spec(pod)?.tolerations.as_deref().unwrap_or_default();
    tolerations.iter().find(|toleration| {
        let its_key = toleration.key.as_deref().unwrap_or_default();
        let its_effect = toleration.effect.as_deref().unwrap_or_default();
        let exists = toleration.operator.as_deref() == Some("Exists");
        (its_effect.is_empty() || its_effect == effect)
            && ((its_key.is_empty() && exists) || its_key == key)
            && (exists || toleration.value.as_deref().unwrap_or_default() == value)
    })
}

/// Whether a pod tolerates every taint of a node that has one of these effects.
pub(crate) fn tolerates_node(pod: &Pod, node: &Node, effects: &[&str]) -> bool {
    let taints = node
        .spec
        .as_ref()
        .and_then(|spec| spec.taints.as_deref())
        .unwrap_or_default();
    taints
        .iter()
        .filter(|taint| effects.contains(&taint.effect.as_str()))
        .all(|taint| {
            tolerates(
                pod,
                &taint.key,
                taint.value.as_deref().unwrap_or_default(),
                &taint.effect,
            )
        })
}

/// Whether a pod may be on a node by its node selector and its required node affinity.
pub(crate) fn fits_node(pod: &Pod, node: &Node) -> bool {
    let Some(spec) = pods::spec(pod) else { return true };
    let wanted = spec.node_selector.clone().unwrap_or_default();
    let required = affinity(pod)
        .and_then(|affinity| affinity.node_affinity.as_ref())
        .and_then(|affinity| affinity.required_during_scheduling_ignored_during_execution.as_ref());
    selector::contains(node.labels(), &wanted) && required.is_none_or(|required| selects(required, node))
}

/// What a pod says of affinities.
pub(super) fn affinity(pod: &Pod) -> Option<&Affinity> {
    pods::spec(pod)?.affinity.as_ref()
}

fn selects(required: &NodeSelector, node: &Node) -> bool {
    required.node_selector_terms.iter().any(|term| term_selects(term, node))
}

/// Whether one term selects a node; an empty term selects none.
pub(super) fn term_selects(term: &NodeSelectorTerm, node: &Node) -> bool {
    let expressions = term.match_expressions.as_deref().unwrap_or_default();
    let fields = term.match_fields.as_deref().unwrap_or_default();
    let own = BTreeMap::from([("metadata.name".to_owned(), node.name_any())]);
    !(expressions.is_empty() && fields.is_empty())
        && expressions
            .iter()
            .all(|requirement| selector::node_satisfies(requirement, node.labels()))
        && fields
            .iter()
            .all(|requirement| selector::node_satisfies(requirement, &own))
}

/// Terms of affinity between pods.
pub(super) fn required_terms(pod: &Pod, is_anti: bool) -> &[PodAffinityTerm] {
    let Some(affinity) = affinity(pod) else { return &[] };
    let terms = if is_anti {
        affinity
            .pod_anti_affinity
            .as_ref()
            .and_then(|affinity| affinity.required_during_scheduling_ignored_during_execution.as_ref())
    } else {
        affinity
            .pod_affinity
            .as_ref()
            .and_then(|affinity| affinity.required_during_scheduling_ignored_during_execution.as_ref())
    };
    terms.map(Vec::as_slice).unwrap_or_default()
}

/// Whether a term of one pod means another.
pub(super) fn means(term: &PodAffinityTerm, of: &Pod, other: &Pod, cluster: &Cluster) -> bool {
    let own = of.metadata.namespace.as_deref().unwrap_or_default();
    let its = other.metadata.namespace.as_deref().unwrap_or_default();
    let listed = term.namespaces.as_deref().unwrap_or_default();
    let by_selector = term.namespace_selector.as_ref().is_some_and(|selector| {
        let empty = Labels::new();
        selector::matches(selector, cluster.namespace_labels(its).unwrap_or(&empty))
    });
    let is_in_namespace = if listed.is_empty() && term.namespace_selector.is_none() {
        own == its
    } else {
        listed.iter().any(|listed| listed == its) || by_selector
    };
    let keys = term.match_label_keys.as_deref().unwrap_or_default();
    let unlike = term.mismatch_label_keys.as_deref().unwrap_or_default();
    is_in_namespace
        && selector::matches_some(term.label_selector.as_ref(), other.labels())
        && agrees(keys, of, other)
        && unlike
            .iter()
            .filter(|key| of.labels().contains_key(*key))
            .all(|key| of.labels().get(key) != other.labels().get(key))
}

/// Whether two pods have the same values of these labels, as far as the first one has them.
pub(super) fn agrees(keys: &[String], of: &Pod, other: &Pod) -> bool {
    keys.iter()
        .filter(|key| of.labels().contains_key(*key))
        .all(|key| of.labels().get(key) == other.labels().get(key))
}

/// A selector that matches what another one does not need to name: absent selects nothing.
pub(super) fn selects_pod(selector: Option<&LabelSelector>, pod: &Pod) -> bool {
    selector::matches_some(selector, pod.labels())
}
