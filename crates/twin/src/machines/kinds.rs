//! The kinds of Cluster API as far as an infrastructure provider looks at them: metadata, and plain JSON for the rest. The
//! twin stands beside any provider's definitions, so it knows no more of them than the contract.

use std::{borrow::Cow, fmt::Debug, marker::PhantomData};

use hyperplane_objects::Kind;
use k8s_openapi::{
    NamespaceResourceScope,
    apimachinery::pkg::apis::meta::v1::{ObjectMeta, OwnerReference},
};
use kube::Resource;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The group of Cluster API itself.
const CLUSTER_API: &str = "cluster.x-k8s.io";

/// What tells one kind of infrastructure machine from another.
pub(crate) trait Provided: Clone + Debug + Send + Sync + 'static {
    /// The kind.
    const KIND: &'static str;
    /// Its group.
    const GROUP: &'static str;
    /// Its version.
    const VERSION: &'static str;
    /// Its plural, which is also what the controller is called.
    const PLURAL: &'static str;
    /// How identities of its machines begin.
    const SCHEME: &'static str;
    /// Whether the provider tells nodes who they are. Where it does not, their configuration has to.
    const NAMES_NODES: bool;
}

/// Virtual machines on KubeVirt.
#[derive(Clone, Debug)]
pub(crate) struct Kubevirt;

impl Provided for Kubevirt {
    const KIND: &'static str = "KubevirtMachine";
    const GROUP: &'static str = "infrastructure.cluster.x-k8s.io";
    const VERSION: &'static str = "v1alpha1";
    const PLURAL: &'static str = "kubevirtmachines";
    const SCHEME: &'static str = "kubevirt";
    const NAMES_NODES: bool = false;
}

/// Hosts with an agent.
#[derive(Clone, Debug)]
pub(crate) struct Agent;

impl Provided for Agent {
    const KIND: &'static str = "AgentMachine";
    const GROUP: &'static str = "capi-provider.agent-install.openshift.io";
    const VERSION: &'static str = "v1beta1";
    const PLURAL: &'static str = "agentmachines";
    const SCHEME: &'static str = "agent";
    const NAMES_NODES: bool = true;
}

/// An infrastructure machine.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(bound = "")]
pub(crate) struct InfrastructureMachine<K> {
    /// Who it is.
    #[serde(default)]
    pub(crate) metadata: ObjectMeta,
    /// What is wanted.
    #[serde(default)]
    pub(crate) spec: Value,
    /// What is told of it.
    #[serde(default)]
    pub(crate) status: Value,
    #[serde(skip)]
    kind: PhantomData<K>,
}

impl<K: Provided> Kind for InfrastructureMachine<K> {
    fn from_json(json: &Value) -> serde_json::Result<Self> {
        hyperplane_objects::read(json)
    }

    fn to_json(&self) -> serde_json::Result<Value> {
        hyperplane_objects::write(self)
    }
}

impl<K: Provided> Resource for InfrastructureMachine<K> {
    type DynamicType = ();
    type Scope = NamespaceResourceScope;

    fn kind((): &()) -> Cow<'_, str> {
        K::KIND.into()
    }

    fn group((): &()) -> Cow<'_, str> {
        K::GROUP.into()
    }

    fn version((): &()) -> Cow<'_, str> {
        K::VERSION.into()
    }

    fn plural((): &()) -> Cow<'_, str> {
        K::PLURAL.into()
    }

    fn meta(&self) -> &ObjectMeta {
        &self.metadata
    }

    fn meta_mut(&mut self) -> &mut ObjectMeta {
        &mut self.metadata
    }
}

/// A Machine.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct Machine {
    /// Who it is.
    #[serde(default)]
    pub(crate) metadata: ObjectMeta,
    /// What is wanted.
    #[serde(default)]
    pub(crate) spec: Value,
}

impl Machine {
    /// The Secret with the data that it boots with.
    pub(crate) fn data_secret(&self) -> Option<&str> {
        self.spec["bootstrap"]["dataSecretName"].as_str()
    }

    /// The version that it is to have, as kubelets write it.
    pub(crate) fn version(&self) -> Option<String> {
        let version = self.spec["version"].as_str().filter(|version| !version.is_empty())?;
        Some(format!("v{}", version.trim_start_matches('v')))
    }
}

hyperplane_objects::kind!(Machine);

impl Resource for Machine {
    type DynamicType = ();
    type Scope = NamespaceResourceScope;

    fn kind((): &()) -> Cow<'_, str> {
        "Machine".into()
    }

    fn group((): &()) -> Cow<'_, str> {
        CLUSTER_API.into()
    }

    fn version((): &()) -> Cow<'_, str> {
        "v1beta2".into()
    }

    fn plural((): &()) -> Cow<'_, str> {
        "machines".into()
    }

    fn meta(&self) -> &ObjectMeta {
        &self.metadata
    }

    fn meta_mut(&mut self) -> &mut ObjectMeta {
        &mut self.metadata
    }
}

/// The Machine that an infrastructure machine stands for, once somebody has said so.
pub(crate) fn machine_of<K: Provided>(object: &InfrastructureMachine<K>) -> Option<&OwnerReference> {
    let mut owners = object.metadata.owner_references.iter().flatten();
    owners.find(|owner| {
        let group = owner.api_version.split_once('/').map(|(group, _)| group);
        owner.kind == "Machine" && group == Some(CLUSTER_API)
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn machines_are_found_by_the_reference_to_their_owner() {
        let object = |owner: Value| -> InfrastructureMachine<Kubevirt> {
            hyperplane_objects::read(json!({"metadata": {"name": "a", "ownerReferences": [owner]}})).unwrap()
        };
        let owner = |group: &str, kind: &str| json!({"apiVersion": group, "kind": kind, "name": "m", "uid": "1"});
        assert!(machine_of(&object(owner("cluster.x-k8s.io/v1beta2", "Machine"))).is_some());
        assert!(machine_of(&object(owner("cluster.x-k8s.io/v1beta1", "Machine"))).is_some());
        assert!(machine_of(&object(owner("cluster.x-k8s.io/v1beta2", "MachineSet"))).is_none());
        assert!(machine_of(&object(owner("machine.openshift.io/v1beta1", "Machine"))).is_none());
    }

    #[test]
    fn versions_are_written_as_kubelets_write_them() {
        for (given, expected) in [
            (json!("1.35.2"), Some("v1.35.2")),
            (json!("v1.35.2"), Some("v1.35.2")),
            (json!(""), None),
            (json!(null), None),
        ] {
            let machine: Machine = hyperplane_objects::read(json!({"spec": {"version": given}})).unwrap();
            assert_eq!(machine.version().as_deref(), expected);
        }
    }
}
