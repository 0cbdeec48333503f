//! What is known of the nodes of one hosted cluster at one moment. Pure; a Node is read only as far as machines care.

use std::collections::BTreeMap;

use hyperplane_api::constants::ours;

use hyperplane_objects::view_of_kind;
use k8s_openapi::{
    api::core::v1::{AttachedVolume, Node, NodeCondition, NodeSystemInfo, Taint},
    apimachinery::pkg::apis::meta::v1::ObjectMeta,
};
use serde::{Deserialize, Serialize};

/// A Node without images, addresses, capacities and owners of fields, which are most of it.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
#[serde(default, rename_all = "camelCase")]
pub(crate) struct NodeView {
    pub(crate) metadata: ObjectMeta,
    pub(crate) spec: NodeViewSpec,
    pub(crate) status: NodeViewStatus,
}

/// What is wanted of a node.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
#[serde(default, rename_all = "camelCase")]
pub(crate) struct NodeViewSpec {
    #[serde(rename = "providerID")]
    pub(crate) provider_id: Option<String>,
    pub(crate) unschedulable: Option<bool>,
    pub(crate) taints: Option<Vec<Taint>>,
}

/// What a node reports.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
#[serde(default, rename_all = "camelCase")]
pub(crate) struct NodeViewStatus {
    pub(crate) conditions: Option<Vec<NodeCondition>>,
    pub(crate) node_info: Option<NodeSystemInfo>,
    pub(crate) volumes_attached: Option<Vec<AttachedVolume>>,
}

view_of_kind!(NodeView, Node);

impl NodeView {
    /// Its name.
    pub(crate) fn name(&self) -> &str {
        self.metadata.name.as_deref().unwrap_or_default()
    }

    /// The condition of a type.
    pub(crate) fn condition(&self, type_: &str) -> Option<&NodeCondition> {
        let mut conditions = self.status.conditions.iter().flatten();
        conditions.find(|condition| condition.type_ == type_)
    }

    /// Whether it says that it is ready, and takes the pods that are meant for it.
    pub(crate) fn is_ready(&self) -> bool {
        let says = self
            .condition("Ready")
            .is_some_and(|condition| condition.status == "True");
        says && !self.is_uninitialized()
    }

    /// Whether it still has the taint that it registered with, which goes when it has its labels and taints: until then it
    /// is given no pods, and stands for no other node.
    pub(crate) fn is_uninitialized(&self) -> bool {
        let mut taints = self.spec.taints.iter().flatten();
        taints.any(|taint| taint.key == ours::UNINITIALIZED_TAINT)
    }

    /// Whether its kubelet has fallen silent: the node controller of Kubernetes then writes Unknown.
    pub(crate) fn is_unreachable(&self) -> bool {
        self.condition("Ready")
            .is_some_and(|condition| condition.status == "Unknown")
    }

    /// An annotation.
    pub(crate) fn annotation(&self, key: &str) -> Option<&str> {
        let annotations = self.metadata.annotations.as_ref()?;
        annotations.get(key).map(String::as_str)
    }
}

/// What a provider's identity leads to.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Found<'a> {
    /// No node has it.
    None,
    /// One node has it.
    One(&'a NodeView),
    /// Several claim it, by name: nobody can tell which of them is the machine.
    Several(Vec<&'a str>),
}

/// The nodes of one hosted cluster.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct NodeList {
    nodes: Vec<NodeView>,
    /// Positions by the identity at the provider.
    by_provider_id: BTreeMap<String, Vec<usize>>,
    /// Positions of those that we cordoned, by the Machine for which.
    by_cordon: BTreeMap<String, Vec<usize>>,
}

impl NodeList {
    /// A list of these.
    pub(crate) fn new(mut nodes: Vec<NodeView>) -> Self {
        let mut by_provider_id = BTreeMap::<String, Vec<usize>>::new();
        let mut by_cordon = BTreeMap::<String, Vec<usize>>::new();
        for (position, node) in nodes.iter_mut().enumerate() {
            node.metadata.managed_fields = None;
            let id = node.spec.provider_id.clone().filter(|id| !id.is_empty());
            if let Some(id) = id {
                by_provider_id.entry(id).or_default().push(position);
            }
            if let Some(machine) = node.annotation(ours::CORDONED_FOR.as_str()) {
                by_cordon.entry(machine.to_owned()).or_default().push(position);
            }
        }
        Self {
            nodes,
            by_provider_id,
            by_cordon,
        }
    }

    /// The node with an identity. Where several claim it, the one that was `known` before is believed.
    pub(crate) fn find(&self, provider_id: &str, known: Option<&str>) -> Found<'_> {
        let positions = self.by_provider_id.get(provider_id).into_iter().flatten();
        let claiming: Vec<&NodeView> = positions.filter_map(|position| self.nodes.get(*position)).collect();
        let believed = claiming.iter().find(|node| known == Some(node.name()));
        match (claiming.as_slice(), believed) {
            ([], _) => Found::None,
            ([node], _) | (_, Some(node)) => Found::One(node),
            _ => Found::Several(claiming.iter().copied().map(NodeView::name).collect()),
        }
    }

    /// The names of those that we cordoned for a Machine.
    pub(crate) fn cordoned_for(&self, machine: &str) -> Vec<&str> {
        let positions = self.by_cordon.get(machine).into_iter().flatten();
        let nodes = positions.filter_map(|position| self.nodes.get(*position));
        nodes.map(NodeView::name).collect()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn node(name: &str, provider_id: &str) -> NodeView {
        hyperplane_objects::read(json!({
            "apiVersion": "v1", "kind": "Node",
            "metadata": {"name": name, "managedFields": [{"manager": "kubelet"}]},
            "spec": {"providerID": provider_id, "podCIDR": "10.0.0.0/24"},
            "status": {"images": [{"names": ["a"]}], "conditions": [{"type": "Ready", "status": "Unknown"}]},
        }))
        .unwrap()
    }

    #[test]
    fn nodes_are_found_by_the_identity_at_their_provider() {
        let list = NodeList::new(vec![
            node("a", "x://1"),
            node("b", "x://2"),
            node("c", "x://2"),
            node("d", ""),
        ]);
        assert!(matches!(list.find("x://1", None), Found::One(found) if found.name() == "a"));
        assert_eq!(list.find("x://2", None), Found::Several(vec!["b", "c"]));
        assert!(matches!(list.find("x://2", Some("c")), Found::One(found) if found.name() == "c"));
        assert_eq!(list.find("x://2", Some("a")), Found::Several(vec!["b", "c"]));
        assert_eq!(list.find("", None), Found::None, "no identity is nobody's");
        assert_eq!(list.find("x://3", Some("a")), Found::None);
        assert!(list.nodes.iter().all(|node| node.metadata.managed_fields.is_none()));
    }

    #[test]
    fn cordoned_nodes_are_found_by_the_machine_that_went() {
        let mut closed = node("b", "x://2");
        let mark = (ours::CORDONED_FOR.as_str().to_owned(), "m".to_owned());
        closed.metadata.annotations = Some(BTreeMap::from([mark]));
        let list = NodeList::new(vec![node("a", "x://1"), closed]);
        assert_eq!(list.cordoned_for("m"), ["b"]);
        assert!(list.cordoned_for("a").is_empty());
    }

    #[test]
    fn silence_is_not_the_same_as_not_ready() {
        let mut silent = node("a", "x://1");
        assert!(silent.is_unreachable() && !silent.is_ready());
        silent.status.conditions = None;
        assert!(!silent.is_unreachable() && !silent.is_ready());
        let bare: NodeView = hyperplane_objects::read(json!({"metadata": {"name": "a"}})).unwrap();
        assert_eq!(bare.spec, NodeViewSpec::default());
    }
}
