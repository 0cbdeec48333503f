//! Machines of the management cluster as far as control planes care: which of them take pods of a control plane, in how
//! many zones those are, and which networks pods have there. Knows nothing of what runs on them.

use std::collections::BTreeSet;

use hyperplane_api::{constants::labels, hypershift::hosted_cluster::HostedCluster};

use hyperplane_objects::view_of_kind;
use k8s_openapi::{
    api::core::v1::{Node, Taint, Toleration},
    apimachinery::pkg::apis::meta::v1::ObjectMeta,
};
use serde::{Deserialize, Serialize};

use crate::names;

/// Taints that say how a node is at the moment. A control plane keeps what it was rendered with for longer than that.
const MOMENTARY: &str = "node.kubernetes.io/";
/// The effect of a taint that only asks.
const PREFERENCE: &str = "PreferNoSchedule";

/// A node without what it reports of itself, which is most of it, and changes all the time.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(default, rename_all = "camelCase")]
pub(crate) struct PlainNode {
    pub(crate) metadata: ObjectMeta,
    pub(crate) spec: PlainNodeSpec,
}

/// What is wanted of a node.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(default, rename_all = "camelCase")]
pub(crate) struct PlainNodeSpec {
    pub(crate) unschedulable: bool,
    pub(crate) taints: Vec<Taint>,
    #[serde(rename = "podCIDRs")]
    pub(crate) pod_networks: Vec<String>,
}

view_of_kind!(PlainNode, Node);

/// Which nodes the pods of a control plane ask for, and which taints they bear.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Wishes<'a> {
    namespace: &'a str,
    cluster: Option<&'a HostedCluster>,
}

impl<'a> Wishes<'a> {
    /// Those of a cluster whose control plane is in this namespace.
    pub(crate) const fn of(cluster: &'a HostedCluster, namespace: &'a str) -> Self {
        Self {
            namespace,
            cluster: Some(cluster),
        }
    }

    /// Whether a user has chosen nodes, so that what holds for all control planes does not hold for this one.
    pub(crate) fn are_special(&self) -> bool {
        let spec = self.cluster.map(|cluster| &cluster.spec);
        spec.is_some_and(|spec| !spec.node_selector.is_empty() || !spec.tolerations.is_empty())
    }

    fn select(&self, node: &PlainNode) -> bool {
        let mut wanted = self.cluster.iter().flat_map(|cluster| &cluster.spec.node_selector);
        let labels = node.metadata.labels.as_ref();
        wanted.all(|(key, value)| labels.and_then(|labels| labels.get(key)) == Some(value))
    }

    fn bear(&self, taint: &Taint) -> bool {
        let value = taint.value.as_deref().unwrap_or_default();
        let is_for_control_planes = taint.key == labels::CONTROL_PLANE.as_str() && value == "true";
        let is_for_this = taint.key == labels::CLUSTER.as_str() && !value.is_empty() && value == self.namespace;
        let is_own = taint.effect == "NoSchedule" && (is_for_control_planes || is_for_this);
        let mut tolerations = self.cluster.iter().flat_map(|cluster| &cluster.spec.tolerations);
        is_own || tolerations.any(|toleration| tolerates(toleration, taint))
    }
}

impl PlainNode {
    /// Whether pods of a control plane can be put there.
    pub(crate) fn is_usable(&self, wishes: &Wishes<'_>) -> bool {
        let is_momentary = |taint: &Taint| taint.key.starts_with(MOMENTARY) || taint.effect == PREFERENCE;
        let mut taints = self.spec.taints.iter().filter(|taint| !is_momentary(taint));
        !self.spec.unschedulable && wishes.select(self) && taints.all(|taint| wishes.bear(taint))
    }

    /// Its zone; empty where it has none.
    pub(crate) fn zone(&self) -> &str {
        let labels = self.metadata.labels.as_ref();
        labels
            .and_then(|labels| labels.get(labels::ZONE.as_str()))
            .map_or("", String::as_str)
    }

    /// For which control planes alone it is, by their namespaces.
    pub(crate) fn reserved_for(&self) -> Vec<String> {
        let is_reserved = |taint: &&Taint| taint.key == labels::CLUSTER.as_str();
        let taints = self.spec.taints.iter().filter(is_reserved);
        taints.filter_map(|taint| taint.value.clone()).collect()
    }
}

/// How many zones these are. Nodes that name none are in one zone together; no nodes at all are none, which says that
/// nothing is known.
pub(crate) fn count<'a>(zones: impl IntoIterator<Item = &'a str>) -> usize {
    let zones: BTreeSet<&str> = zones.into_iter().collect();
    let named = zones.iter().filter(|zone| !zone.is_empty()).count();
    named.max(usize::from(!zones.is_empty()))
}

/// The zones of a cluster with nodes chosen by its user.
pub(crate) fn zones_of<'a>(nodes: impl IntoIterator<Item = &'a PlainNode>, cluster: &HostedCluster) -> usize {
    let namespace = names::namespace_of(cluster);
    let wishes = Wishes::of(cluster, &namespace);
    let usable = nodes.into_iter().filter(|node| node.is_usable(&wishes));
    count(usable.map(PlainNode::zone))
}

/// As the scheduler has it.
fn tolerates(toleration: &Toleration, taint: &Taint) -> bool {
    let given = |text: &Option<String>| text.clone().filter(|text| !text.is_empty());
    let is_effect = given(&toleration.effect).is_none_or(|effect| effect == taint.effect);
    let is_key = given(&toleration.key).is_none_or(|key| key == taint.key);
    let is_value = match toleration.operator.as_deref() {
        Some("Exists") => true,
        // An empty key goes with Exists only.
        _ => given(&toleration.key).is_some() && given(&toleration.value) == given(&taint.value),
    };
    is_effect && is_key && is_value
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::testing::cluster;

    fn node(zone: Option<&str>, change: &Value) -> PlainNode {
        let labels = zone.map(|zone| json!({labels::ZONE.as_str(): zone, "role": "hosting"}));
        let node = json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "a", "labels": labels},
            "spec": change, "status": {"conditions": [{"type": "Ready", "status": "True"}]}});
        hyperplane_objects::read(&node).unwrap()
    }

    fn tainted(key: &str, value: &str, effect: &str) -> Value {
        json!({"taints": [{"key": key, "value": value, "effect": effect}]})
    }

    #[test]
    fn nodes_without_a_zone_are_one_zone_and_no_nodes_are_none() {
        for (zones, expected) in [
            (&[][..], 0),
            (&[""], 1),
            (&["", ""], 1),
            (&["a"], 1),
            (&["", "a"], 1),
            (&["a", "b", "a"], 2),
        ] {
            assert_eq!(count(zones.iter().copied()), expected, "{zones:?}");
        }
    }

    #[test]
    fn only_nodes_count_that_take_pods_of_the_control_plane() {
        let plain = json!({});
        let selecting = json!({"spec": {"nodeSelector": {"role": "hosting"}}});
        let elsewhere = json!({"spec": {"nodeSelector": {"role": "other"}}});
        let bearing = json!({"spec": {"tolerations": [{"key": "team", "operator": "Exists"}]}});
        let exact = json!({"spec": {"tolerations": [{"key": "team", "value": "a", "effect": "NoSchedule"}]}});
        let everything = json!({"spec": {"tolerations": [{"operator": "Exists"}]}});
        let team = tainted("team", "a", "NoSchedule");
        let master = tainted("node-role.kubernetes.io/control-plane", "", "NoSchedule");
        for (spec, wishes, expected) in [
            (json!({}), &plain, true),
            (json!({"unschedulable": true}), &plain, false),
            (json!({"unschedulable": true}), &everything, false),
            (master.clone(), &plain, false),
            (master, &everything, true),
            (tainted("team", "a", "PreferNoSchedule"), &plain, true),
            (tainted("node.kubernetes.io/not-ready", "", "NoExecute"), &plain, true),
            (team.clone(), &plain, false),
            (team.clone(), &bearing, true),
            (team, &exact, true),
            (tainted("team", "b", "NoSchedule"), &exact, false),
            (tainted("team", "a", "NoExecute"), &exact, false),
            (
                tainted(labels::CONTROL_PLANE.as_str(), "true", "NoSchedule"),
                &plain,
                true,
            ),
            (
                tainted(labels::CONTROL_PLANE.as_str(), "true", "NoExecute"),
                &plain,
                false,
            ),
            (
                tainted(labels::CLUSTER.as_str(), "clusters-blue", "NoSchedule"),
                &plain,
                true,
            ),
            (
                tainted(labels::CLUSTER.as_str(), "clusters-red", "NoSchedule"),
                &plain,
                false,
            ),
            (json!({}), &selecting, true),
            (json!({}), &elsewhere, false),
        ] {
            let cluster = cluster(wishes);
            let found = zones_of([&node(Some("a"), &spec)], &cluster);
            assert_eq!(found == 1, expected, "{spec} {wishes}");
        }
    }

    #[test]
    fn what_is_reserved_is_found_by_its_control_plane() {
        let reserved = node(None, &tainted(labels::CLUSTER.as_str(), "clusters-blue", "NoSchedule"));
        assert_eq!(reserved.reserved_for(), ["clusters-blue"]);
        assert!(!reserved.is_usable(&Wishes::default()), "nobody else can use it");
    }
}
