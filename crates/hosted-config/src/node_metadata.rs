//! Labels and taints of a pool, from the Machine to its Node: once, when the Node is new. Pure.
//!
//! Until then a Node has a taint with which it registered, so no pod lands on one that is not labelled and tainted as its
//! pool says. One write takes the taint off and puts everything else on.
//!
//! Afterwards they are their users'. A mark on the Node tells that it was done, so a label that somebody took away stays
//! away, and a pool whose labels change leaves the nodes alone that it has.

use std::collections::BTreeMap;

use hyperplane_api::{
    cluster_api::machine::Machine,
    constants::{annotations, labels, ours},
};
use k8s_openapi::api::core::v1::{Node, Taint};
use kube::{Resource, ResourceExt as _};
use serde_json::{Value, json};
use thiserror::Error;

/// What the mark says.
const MARKED: &str = "true";

/// Why a Node cannot be given what its Machine says.
#[derive(Debug, Error)]
pub(crate) enum NodeMetadataError {
    /// The taints are not a list of taints.
    #[error("annotation {} is not a list of taints", annotations::TAINTS.as_str())]
    Taints(#[source] serde_json::Error),
}

/// The name of the Node of a machine, once it has one. A machine that goes takes its Node along, which is left alone.
pub(crate) fn node_of(machine: &Machine) -> Option<&str> {
    let reference = machine.status.as_ref()?.node_ref.as_ref()?;
    let is_staying = machine.meta().deletion_timestamp.is_none();
    is_staying.then(|| reference.name.as_str())
}

/// What a Node lacks, as a merge patch for exactly the Node that was read; none where it is marked already, or where it is
/// not the Node of the machine.
pub(crate) fn missing(machine: &Machine, node: &Node) -> Result<Option<Value>, NodeMetadataError> {
    if is_marked(node) || !is_node_of(machine, node) {
        return Ok(None);
    }
    let mut patch = json!({"metadata": {
        // A Node that was replaced or changed meanwhile is looked at again.
        "uid": node.metadata.uid,
        "resourceVersion": node.metadata.resource_version,
        "annotations": {(annotations::LABELS_SYNCED.as_str()): MARKED},
    }});
    let wanted = labels_of(machine);
    if !wanted.is_empty() {
        patch["metadata"]["labels"] = json!(wanted);
    }
    let present = node.spec.as_ref().and_then(|spec| spec.taints.as_deref());
    let present = present.unwrap_or_default();
    let taints = merged(present, taints_of(machine)?);
    if taints != present {
        patch["spec"] = json!({"taints": taints});
    }
    Ok(Some(patch))
}

/// Whether a Node has what its pool gives, whatever became of it since.
pub(crate) fn is_marked(node: &impl Resource) -> bool {
    node.annotations().contains_key(annotations::LABELS_SYNCED.as_str())
}

/// Nodes come and go under the same names; the identity at the provider tells them apart.
fn is_node_of(machine: &Machine, node: &Node) -> bool {
    let of_node = node.spec.as_ref().and_then(|spec| spec.provider_id.as_deref());
    node_of(machine) == node.metadata.name.as_deref() && machine.spec.provider_id.as_deref() == of_node
}

/// Those that users give, and the name of the pool.
fn labels_of(machine: &Machine) -> BTreeMap<&str, &str> {
    let all = machine.labels().iter();
    let given = all.filter_map(|(key, value)| Some((labels::MANAGED_NODE_LABEL.rest_of(key)?, value.as_str())));
    let pool = labels::NODE_POOL.as_str();
    let of_pool = machine.labels().get(pool).map(|name| (pool, name.as_str()));
    given.chain(of_pool).collect()
}

fn taints_of(machine: &Machine) -> Result<Vec<Taint>, NodeMetadataError> {
    annotations::TAINTS.of(machine).map_or_else(
        || Ok(Vec::new()),
        |text| serde_json::from_str(text).map_err(NodeMetadataError::Taints),
    )
}

/// Taints that are there stay, but the one that kept pods away until now, and unless the pool has one of the same key and
/// effect: those are what tells taints apart.
fn merged(present: &[Taint], wanted: Vec<Taint>) -> Vec<Taint> {
    let is_same = |one: &Taint, other: &Taint| one.key == other.key && one.effect == other.effect;
    let mut taints = present.to_vec();
    taints.retain(|taint| taint.key != ours::UNINITIALIZED_TAINT && !wanted.iter().any(|other| is_same(taint, other)));
    taints.extend(wanted);
    taints
}

#[cfg(test)]
mod tests {
    use super::*;

    const SYNCED: &str = "hypershift.openshift.io/labelsSynced";

    fn machine(labels: &Value, taints: Option<&str>) -> Machine {
        hyperplane_objects::read(json!({
            "metadata": {"name": "pool-1", "labels": labels, "annotations": taints.map(|taints| json!({
                "hypershift.openshift.io/nodePoolTaints": taints}))},
            "spec": {
                "clusterName": "blue-abcde", "bootstrap": {"dataSecretName": "user-data"}, "providerID": "kubevirt://pool-1",
                "infrastructureRef": {"apiGroup": "infrastructure.cluster.x-k8s.io", "kind": "KubevirtMachine", "name": "pool-1"},
            },
            "status": {"nodeRef": {"name": "pool-1"}},
        }))
        .unwrap()
    }

    fn node(annotations: &Value, taints: &Value) -> Node {
        hyperplane_objects::read(json!({
            "metadata": {"name": "pool-1", "uid": "1-2-3", "resourceVersion": "7", "annotations": annotations},
            "spec": {"providerID": "kubevirt://pool-1", "taints": taints},
        }))
        .unwrap()
    }

    fn usual() -> Machine {
        let labels = json!({
            "managed.hypershift.openshift.io.example.com/tier": "web", "managed.hypershift.openshift.io.size": "",
            "cluster.x-k8s.io/cluster-name": "blue-abcde", "hypershift.openshift.io/nodePool": "pool",
        });
        machine(
            &labels,
            Some(r#"[{"key": "dedicated", "value": "web", "effect": "NoSchedule"}]"#),
        )
    }

    #[test]
    fn a_new_node_gets_labels_and_taints_and_keeps_what_it_has() {
        let present = json!([
            {"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"},
            {"key": "hyperplane.dev/uninitialized", "effect": "NoSchedule"},
            {"key": "dedicated", "value": "old", "effect": "NoSchedule"},
            {"key": "dedicated", "value": "old", "effect": "NoExecute"},
        ]);
        let patch = missing(&usual(), &node(&json!({"foreign": "yes"}), &present)).unwrap();
        let expected = json!({
            "metadata": {
                "uid": "1-2-3", "resourceVersion": "7", "annotations": {SYNCED: "true"},
                "labels": {"example.com/tier": "web", "size": "", "hypershift.openshift.io/nodePool": "pool"},
            },
            "spec": {"taints": [
                {"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"},
                {"key": "dedicated", "value": "old", "effect": "NoExecute"},
                {"key": "dedicated", "value": "web", "effect": "NoSchedule"},
            ]},
        });
        assert_eq!(patch, Some(expected));
    }

    #[test]
    fn a_node_is_changed_once() {
        let marked = node(&json!({SYNCED: "true"}), &json!([]));
        assert_eq!(missing(&usual(), &marked).unwrap(), None);
        let empty = node(&json!({SYNCED: ""}), &json!([]));
        assert_eq!(missing(&usual(), &empty).unwrap(), None, "whatever the mark says");
    }

    #[test]
    fn a_node_of_a_pool_without_labels_is_marked_too_so_that_later_ones_do_not_reach_it() {
        let patch = missing(&machine(&json!({}), None), &node(&json!({}), &json!([])));
        let metadata = json!({"uid": "1-2-3", "resourceVersion": "7", "annotations": {SYNCED: "true"}});
        assert_eq!(patch.unwrap(), Some(json!({"metadata": metadata})));
    }

    #[test]
    fn a_node_of_a_pool_without_taints_takes_pods_once_it_is_marked() {
        let closed = json!([{"key": "hyperplane.dev/uninitialized", "effect": "NoSchedule"}]);
        let patch = missing(&machine(&json!({}), None), &node(&json!({}), &closed))
            .unwrap()
            .unwrap();
        assert_eq!(patch["metadata"]["annotations"][SYNCED], "true");
        assert_eq!(patch["spec"], json!({"taints": []}));
    }

    #[test]
    fn only_the_node_of_the_machine_is_meant() {
        let mut other = node(&json!({}), &json!([]));
        other.spec.as_mut().unwrap().provider_id = Some("kubevirt://pool-2".to_owned());
        assert_eq!(missing(&usual(), &other).unwrap(), None);
        let mut unborn = usual();
        unborn.status = None;
        assert_eq!(node_of(&unborn), None);
        let mut going = usual();
        going.metadata.deletion_timestamp = hyperplane_objects::read(json!("2027-01-15T08:00:00Z")).unwrap();
        assert_eq!(node_of(&going), None);
        assert_eq!(missing(&going, &node(&json!({}), &json!([]))).unwrap(), None);
    }

    #[test]
    fn taints_that_nobody_can_read_leave_the_node_as_it_is() {
        let broken = machine(&json!({}), Some("dedicated=web:NoSchedule"));
        let error = missing(&broken, &node(&json!({}), &json!([]))).unwrap_err();
        assert!(error.to_string().contains("nodePoolTaints"), "{error}");
    }
}
