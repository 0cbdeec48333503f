//! What placement depends on besides the pod, with the ways in which it is looked up. Plain data; decides nothing.

use std::{collections::BTreeMap, sync::Arc};

use k8s_openapi::api::core::v1::{Namespace, Node, Pod};
use kube::ResourceExt;

use super::{affinity, resources};
use crate::{
    quantity::{self, Amounts},
    selector::Labels,
};

/// A pod and its node.
#[derive(Clone, Debug)]
pub(crate) struct Assigned {
    /// The pod.
    pub(crate) pod: Arc<Pod>,
    /// The name of its node.
    pub(crate) node: String,
}

/// Nodes, the pods on them, and namespaces. Lookups do not grow with the number of pods elsewhere.
#[derive(Default)]
pub(crate) struct Cluster {
    nodes: Vec<Arc<Node>>,
    namespaces: BTreeMap<String, Arc<Namespace>>,
    assigned: Vec<Assigned>,
    /// Positions of nodes by name.
    places: BTreeMap<String, usize>,
    /// Positions of pods by node, by namespace, and of those that keep others away.
    by_node: BTreeMap<String, Vec<usize>>,
    by_namespace: BTreeMap<String, Vec<usize>>,
    averse: Vec<usize>,
    /// What the pods of a node ask for together.
    used: BTreeMap<String, Amounts>,
}

impl Cluster {
    /// A cluster without pods.
    pub(crate) fn new(nodes: Vec<Arc<Node>>, namespaces: Vec<Arc<Namespace>>) -> Self {
        let places = nodes.iter().enumerate().map(|(place, node)| (node.name_any(), place));
        Self {
            places: places.collect(),
            namespaces: namespaces
                .into_iter()
                .map(|namespace| (namespace.name_any(), namespace))
                .collect(),
            nodes,
            ..Self::default()
        }
    }

    /// Puts a pod that is not over on its node, whether that is known or not.
    pub(crate) fn add(&mut self, assigned: Assigned) {
        let (pod, node, position) = (&assigned.pod, &assigned.node, self.assigned.len());
        self.by_node.entry(node.clone()).or_default().push(position);
        let namespace = pod.namespace().unwrap_or_default();
        self.by_namespace.entry(namespace).or_default().push(position);
        if !affinity::required_terms(pod, true).is_empty() {
            self.averse.push(position);
        }
        let used = self.used.entry(node.clone()).or_default();
        quantity::add(used, &resources::requests(pod));
        self.assigned.push(assigned);
    }

    /// Every node, in order.
    pub(super) fn nodes(&self) -> &[Arc<Node>] {
        &self.nodes
    }

    /// The labels of a node.
    pub(super) fn node_labels(&self, name: &str) -> Option<&Labels> {
        let node = self.nodes.get(*self.places.get(name)?)?;
        Some(node.labels())
    }

    /// The labels of a namespace; none where it is not known.
    pub(super) fn namespace_labels(&self, name: &str) -> Option<&Labels> {
        self.namespaces.get(name).map(|namespace| namespace.labels())
    }

    /// Every pod that has a node.
    pub(super) fn assigned(&self) -> impl Iterator<Item = &Assigned> {
        self.assigned.iter()
    }

    /// The pods of a node.
    pub(super) fn on(&self, node: &str) -> impl ExactSizeIterator<Item = &Pod> + use<'_> {
        let positions = self.by_node.get(node).map(Vec::as_slice).unwrap_or_default();
        positions.iter().map(|position| self.assigned[*position].pod.as_ref())
    }

    /// The pods of a namespace that have a node.
    pub(super) fn inside(&self, namespace: &str) -> impl Iterator<Item = &Assigned> + use<'_> {
        let positions = self.by_namespace.get(namespace).map(Vec::as_slice).unwrap_or_default();
        positions.iter().map(|position| &self.assigned[*position])
    }

    /// The pods that keep some others away from where they are.
    pub(super) fn averse(&self) -> impl Iterator<Item = &Assigned> {
        self.averse.iter().map(|position| &self.assigned[*position])
    }

    /// What the pods of a node ask for together.
    pub(super) fn used(&self, node: &str) -> Option<&Amounts> {
        self.used.get(node)
    }
}
