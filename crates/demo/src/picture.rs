//! Everything of one cluster that a story looks at, at one moment, as JSON. It does not know how it was obtained.

use std::collections::BTreeSet;

use hyperplane_api::constants::{annotations, ours};
use serde_json::Value;

use crate::{
    json::{self, Objects, annotation, is_leaving, list, text},
    plan::{Plan, PoolPlan},
};

/// One moment.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Picture {
    /// The HostedCluster; null where there is none.
    pub(crate) cluster: Value,
    /// The NodePools of its namespace.
    pub(crate) pools: Objects,
    /// The ControlPlaneComponents of its control plane.
    pub(crate) components: Objects,
    /// The Machines of its control plane.
    pub(crate) machines: Objects,
    /// The Nodes of the hosted cluster; none as long as nobody could ask for them.
    pub(crate) nodes: Option<Objects>,
    /// The version that the hosted API server gives itself, where it was asked.
    pub(crate) api_version: Option<String>,
    /// The namespace of the control plane; null where there is none, or nobody looked.
    pub(crate) namespace: Value,
}

impl Picture {
    /// The NodePool of a pool; null where there is none.
    pub(crate) fn pool(&self, pool: &PoolPlan) -> &Value {
        self.pools.get(&pool.name).unwrap_or(&Value::Null)
    }

    /// The Machines of a pool.
    pub(crate) fn machines_of(&self, plan: &Plan, pool: &PoolPlan) -> Vec<&Value> {
        let title = pool_title(plan, pool);
        self.machines
            .values()
            .filter(|machine| pool_of(machine) == title)
            .collect()
    }

    /// The Nodes that Machines of a pool say they became.
    pub(crate) fn nodes_of(&self, plan: &Plan, pool: &PoolPlan) -> Vec<&Value> {
        let machines = self.machines_of(plan, pool);
        let names: BTreeSet<&str> = machines.into_iter().map(node_of).collect();
        let nodes = self.nodes.iter().flatten();
        nodes
            .filter(|(name, _)| names.contains(name.as_str()))
            .map(|(_, node)| node)
            .collect()
    }
}

/// A pool as objects that belong to it name it.
pub(crate) fn pool_title(plan: &Plan, pool: &PoolPlan) -> String {
    format!("{}/{}", plan.namespace, pool.name)
}

/// The pool that a Machine names.
pub(crate) fn pool_of(machine: &Value) -> &str {
    annotation(machine, annotations::NODE_POOL.as_str())
}

/// The Node that a Machine says it became; empty where it is none yet.
pub(crate) fn node_of(machine: &Value) -> &str {
    text(machine, "/status/nodeRef/name")
}

/// The version of a Node's kubelet, without a letter in front.
pub(crate) fn version_of(node: &Value) -> &str {
    text(node, "/status/nodeInfo/kubeletVersion").trim_start_matches('v')
}

/// Whether a Node is ready and takes pods.
pub(crate) fn serves(node: &Value) -> bool {
    let taints = list(node, "/spec/taints");
    json::holds(node, "Ready")
        && node["spec"]["unschedulable"] != true
        && !is_leaving(node)
        && taints.iter().all(|taint| taint["key"] != ours::UNINITIALIZED_TAINT)
}

/// Whether a ControlPlaneComponent serves in a version with all of its replicas.
pub(crate) fn has_version(component: &Value, version: &str) -> bool {
    json::holds(component, "Available")
        && json::holds(component, "RolloutComplete")
        && text(component, "/status/version") == version
}

/// The uids of objects.
pub(crate) fn uids<'a>(objects: impl IntoIterator<Item = &'a Value>) -> BTreeSet<String> {
    objects.into_iter().map(|object| json::uid(object).to_owned()).collect()
}

#[cfg(test)]
pub(crate) mod tests {
    use serde_json::json;

    use super::*;
    use crate::json::by_name;

    /// A Node that is ready and takes pods.
    pub(crate) fn node(name: &str, uid: &str, version: &str) -> Value {
        json!({
            "metadata": {"name": name, "uid": uid},
            "spec": {"providerID": format!("kubevirt://{name}")},
            "status": {
                "conditions": [{"type": "Ready", "status": "True"}],
                "nodeInfo": {"kubeletVersion": format!("v{version}")},
            },
        })
    }

    /// A Machine that became the Node of its name.
    pub(crate) fn machine(name: &str, uid: &str, pool: &str, version: &str) -> Value {
        json!({
            "metadata": {"name": name, "uid": uid, "generation": 1, "annotations": {
                "hypershift.openshift.io/nodePool": format!("clusters/{pool}")}},
            "spec": {"version": format!("v{version}"), "providerID": format!("kubevirt://{name}")},
            "status": {"nodeRef": {"name": name}, "conditions": [{"type": "Available", "status": "True"}]},
        })
    }

    /// Machines with their Nodes, by name, uid, pool and version.
    pub(crate) fn picture(machines: &[(&str, &str, &str, &str)]) -> Picture {
        let nodes = machines.iter().map(|(name, uid, _, version)| node(name, uid, version));
        let machines = machines
            .iter()
            .map(|(name, uid, pool, version)| machine(name, &format!("of-{uid}"), pool, version));
        Picture {
            nodes: Some(by_name(nodes.collect())),
            machines: by_name(machines.collect()),
            ..Picture::default()
        }
    }

    #[test]
    fn nodes_belong_to_the_pool_of_their_machine() {
        let plan = Plan::new("demo").unwrap();
        let picture = picture(&[("a", "1", "demo-web", "1.35.8"), ("b", "2", "demo-batch", "1.35.8")]);
        assert_eq!(
            uids(picture.nodes_of(&plan, &plan.web)),
            BTreeSet::from(["1".to_owned()])
        );
        assert_eq!(
            uids(picture.machines_of(&plan, &plan.batch)),
            BTreeSet::from(["of-2".to_owned()])
        );
        let unseen = Picture { nodes: None, ..picture };
        assert!(unseen.nodes_of(&plan, &plan.web).is_empty());
    }

    #[test]
    fn a_node_serves_when_it_is_ready_and_open() {
        let whole = node("a", "1", "1.35.8");
        assert!(serves(&whole));
        let spoil = |pointer: &str, value: Value| {
            let mut node = whole.clone();
            *node.pointer_mut(pointer).unwrap() = value;
            node
        };
        assert!(!serves(&spoil("/status/conditions/0/status", json!("Unknown"))));
        assert!(!serves(&spoil("/spec", json!({"unschedulable": true}))));
        assert!(!serves(&spoil(
            "/spec",
            json!({"taints": [{"key": "hyperplane.dev/uninitialized", "effect": "NoSchedule"}]})
        )));
        assert!(serves(&spoil(
            "/spec",
            json!({"taints": [{"key": "a", "effect": "NoSchedule"}]})
        )));
    }
}
