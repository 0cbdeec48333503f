//! Everything that is known of one machine when a run begins. Plain data; where it comes from is next door.

use std::sync::Arc;

use hyperplane_api::cluster_api::{cluster::Cluster, machine::Machine};
use jiff::Timestamp;
use k8s_openapi::{api::core::v1::AttachedVolume, apimachinery::pkg::apis::meta::v1::Condition};

use super::infrastructure::{InfrastructureKind, InstanceFacts};
use crate::{
    nodes::{NoAnswer, NodeView},
    pause::pause,
};

/// The instance behind a machine.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Infrastructure {
    /// Of a kind that this manager does not serve, in words.
    Unserved(String),
    /// Not there.
    Missing,
    /// There.
    Present(InfrastructureKind, Box<InstanceFacts>),
}

/// The Node behind a machine.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum NodeFacts {
    /// Nobody knows yet by which identity to look for it.
    Unidentified,
    /// The hosted cluster does not answer.
    Unseen(NoAnswer),
    /// Several nodes claim the identity, by name.
    Contested(Vec<String>),
    /// No node has the identity.
    Missing,
    /// This one.
    Present(Box<NodeView>),
}

/// What is known of a machine.
#[derive(Clone, Debug)]
pub(crate) struct Facts {
    /// The Machine as the cache has it.
    pub(crate) machine: Arc<Machine>,
    /// The Cluster that it belongs to.
    pub(crate) cluster: Option<Arc<Cluster>>,
    /// Whether there is a control plane beside it that stays.
    pub(crate) has_control_plane: bool,
    /// Its instance.
    pub(crate) infrastructure: Infrastructure,
    /// Its Node.
    pub(crate) node: NodeFacts,
    /// Whether it is of the newest revision of its owner; none if nobody can tell.
    pub(crate) is_up_to_date: Option<bool>,
    /// The time of the run.
    pub(crate) now: Timestamp,
}

impl Facts {
    /// Whether everybody is to leave the machine alone.
    pub(crate) fn is_paused(&self) -> bool {
        pause(self.machine.as_ref(), self.cluster.as_deref()).is_some()
    }

    /// Whether the whole cluster goes: then nobody needs its nodes to be emptied, and soon nobody answers. A Cluster that
    /// is not there does not say that: somebody may have deleted it by hand, and it is made again.
    pub(crate) fn is_cluster_leaving(&self) -> bool {
        match &self.cluster {
            Some(cluster) => cluster.metadata.deletion_timestamp.is_some(),
            None => !self.has_control_plane,
        }
    }

    /// The identity at the provider, as far as anybody knows it.
    pub(crate) fn provider_id(&self) -> Option<&str> {
        match &self.infrastructure {
            Infrastructure::Present(_, instance) if instance.provider_id().is_some() => instance.provider_id(),
            _ => self.machine.spec.provider_id.as_deref(),
        }
    }

    /// The name of the Node that the machine became, once it has.
    pub(crate) fn known_node(&self) -> Option<&str> {
        known_node(&self.machine)
    }

    /// The conditions that the Machine has now.
    pub(crate) fn conditions(&self) -> &[Condition] {
        let status = self.machine.status.as_ref();
        status.map(|status| status.conditions.as_slice()).unwrap_or_default()
    }

    /// The same, as if just these volumes were on the node.
    pub(crate) fn with_volumes(&self, names: &[String]) -> Self {
        let mut facts = self.clone();
        if let NodeFacts::Present(node) = &mut facts.node {
            let volume = |name: &String| AttachedVolume {
                name: name.clone(),
                ..AttachedVolume::default()
            };
            node.status.volumes_attached = Some(names.iter().map(volume).collect());
        }
        facts
    }

    /// The name of the Machine.
    pub(crate) fn name(&self) -> &str {
        self.machine.metadata.name.as_deref().unwrap_or_default()
    }
}

/// The name of the Node that a machine became, once it has.
pub(crate) fn known_node(machine: &Machine) -> Option<&str> {
    let node = machine.status.as_ref()?.node_ref.as_ref()?;
    Some(node.name.as_str())
}

#[cfg(test)]
pub(crate) mod testing {
    //! Facts for tests: a machine whose node is ready, changed where a test says so.

    use serde_json::{Value, json};

    use super::*;

    /// Merges a change into a value, as a merge patch does.
    pub(crate) fn merge(value: &mut Value, change: &Value) {
        let Some(change) = change.as_object() else {
            *value = change.clone();
            return;
        };
        if !value.is_object() {
            *value = json!({});
        }
        for (field, change) in change {
            match (value.as_object_mut(), change) {
                (Some(object), Value::Null) => drop(object.remove(field)),
                (Some(object), change) => merge(object.entry(field).or_insert(Value::Null), change),
                (None, _) => {}
            }
        }
    }

    /// The time of all tests.
    pub(crate) const NOW: Timestamp = Timestamp::constant(1_800_000_000, 0);

    pub(crate) fn machine(change: &Value) -> Machine {
        let mut machine = json!({
            "apiVersion": "cluster.x-k8s.io/v1beta2", "kind": "Machine",
            "metadata": {"name": "m-1", "namespace": "cp", "uid": "machine-uid", "generation": 3,
                "creationTimestamp": (NOW - jiff::SignedDuration::from_hours(1)).to_string()},
            "spec": {
                "clusterName": "c", "bootstrap": {"dataSecretName": "user-data"}, "providerID": "kubevirt://m-1",
                "infrastructureRef": {
                    "apiGroup": "infrastructure.cluster.x-k8s.io", "kind": "KubevirtMachine", "name": "m-1"},
            },
            "status": {"nodeRef": {"name": "m-1"}},
        });
        merge(&mut machine, change);
        hyperplane_objects::read(&machine).unwrap()
    }

    pub(crate) fn instance(change: &Value) -> Infrastructure {
        let mut parts = json!({
            "metadata": {"name": "m-1", "namespace": "cp", "uid": "instance-uid",
                "labels": {"cluster.x-k8s.io/cluster-name": "c"},
                "ownerReferences": [{"apiVersion": "cluster.x-k8s.io/v1beta2", "kind": "Machine", "name": "m-1",
                    "uid": "machine-uid", "controller": true}]},
            "spec": {"providerID": "kubevirt://m-1"},
            "status": {"initialization": {"provisioned": true},
                "addresses": [{"type": "InternalIP", "address": "10.0.0.1"}]},
        });
        merge(&mut parts, change);
        let part = |name: &str| parts.get(name).cloned().unwrap_or_else(|| json!({}));
        let facts = InstanceFacts {
            metadata: hyperplane_objects::read(part("metadata")).unwrap(),
            spec: hyperplane_objects::read(part("spec")).unwrap(),
            status: hyperplane_objects::read(part("status")).unwrap(),
        };
        Infrastructure::Present(InfrastructureKind::Kubevirt, Box::new(facts))
    }

    pub(crate) fn node(change: &Value) -> NodeFacts {
        let mut node = json!({
            "metadata": {"name": "m-1", "uid": "node-uid", "annotations": {
                "cluster.x-k8s.io/cluster-name": "c", "cluster.x-k8s.io/cluster-namespace": "cp",
                "cluster.x-k8s.io/machine": "m-1"}},
            "spec": {"providerID": "kubevirt://m-1"},
            "status": {"conditions": [
                {"type": "Ready", "status": "True"}, {"type": "MemoryPressure", "status": "False"},
                {"type": "DiskPressure", "status": "False"}, {"type": "PIDPressure", "status": "False"}]},
        });
        merge(&mut node, change);
        NodeFacts::Present(Box::new(hyperplane_objects::read(&node).unwrap()))
    }

    pub(crate) fn cluster(change: &Value) -> Cluster {
        let mut cluster = json!({
            "apiVersion": "cluster.x-k8s.io/v1beta2", "kind": "Cluster",
            "metadata": {"name": "c", "namespace": "cp"}, "spec": {"paused": false},
        });
        merge(&mut cluster, change);
        hyperplane_objects::read(&cluster).unwrap()
    }

    /// A machine at rest, with these changes to the Machine itself.
    pub(crate) fn facts(change: &Value) -> Facts {
        Facts {
            machine: Arc::new(machine(change)),
            cluster: Some(Arc::new(cluster(&json!({})))),
            has_control_plane: true,
            infrastructure: instance(&json!({})),
            node: node(&json!({})),
            is_up_to_date: Some(true),
            now: NOW,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{testing::*, *};

    #[test]
    fn the_provider_is_believed_before_the_copy() {
        let mut known = facts(&json!({"spec": {"providerID": "kubevirt://old"}}));
        assert_eq!(known.provider_id(), Some("kubevirt://m-1"));
        known.infrastructure = Infrastructure::Missing;
        assert_eq!(known.provider_id(), Some("kubevirt://old"));
    }

    #[test]
    fn a_cluster_leaves_if_it_goes_or_is_gone_with_its_control_plane() {
        let mut known = facts(&json!({}));
        assert!(!known.is_cluster_leaving());
        let going = json!({"metadata": {"deletionTimestamp": "2026-01-01T00:00:00Z"}});
        known.cluster = Some(Arc::new(cluster(&going)));
        assert!(known.is_cluster_leaving());
        known.cluster = None;
        assert!(!known.is_cluster_leaving(), "somebody deleted the object by hand");
        known.has_control_plane = false;
        assert!(known.is_cluster_leaving());
    }
}
