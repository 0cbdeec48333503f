//! What Cluster API gets of a platform: an object that stands for the infrastructure, and a provider that makes machines.

use std::collections::BTreeMap;

use hyperplane_api::{
    cluster_api::common::ContractVersionedObjectReference,
    constants::annotations,
    infrastructure::{InfrastructureStatus, agent_cluster::AgentCluster, kubevirt_cluster::KubevirtCluster},
};
use k8s_openapi::{api::rbac::v1::PolicyRule, apimachinery::pkg::apis::meta::v1::ObjectMeta};
use kube::Resource;

use crate::Facts;

/// The object that stands for the infrastructure of a cluster.
#[derive(Clone, Debug, PartialEq)]
pub enum Infrastructure {
    /// The platform has none, and so no Cluster either.
    None,
    /// It cannot be written before this has happened.
    Waiting(String),
    /// This is it.
    Object(InfrastructureObject),
}

/// An infrastructure object, by kind. The set is closed on purpose: whoever writes them watches exactly these kinds.
#[derive(Clone, Debug, PartialEq)]
pub enum InfrastructureObject {
    /// On KubeVirt.
    KubeVirt(Box<KubevirtCluster>),
    /// With agents.
    Agent(Box<AgentCluster>),
}

impl InfrastructureObject {
    /// How a Cluster refers to it.
    pub fn reference(&self) -> ContractVersionedObjectReference {
        match self {
            Self::KubeVirt(object) => reference_to(object.as_ref()),
            Self::Agent(object) => reference_to(object.as_ref()),
        }
    }
}

fn reference_to<K: Resource<DynamicType = ()>>(object: &K) -> ContractVersionedObjectReference {
    use hyperplane_api::cluster_api::common::{ApiGroup, KindName, ObjectName};
    ContractVersionedObjectReference {
        api_group: ApiGroup::stored(K::group(&())),
        kind: KindName::stored(K::kind(&())),
        name: ObjectName::stored(object.meta().name.clone().unwrap_or_default()),
    }
}

/// The metadata of an infrastructure object: no provider makes what all machines share, because the manager does.
pub(crate) fn metadata(facts: &Facts<'_>, name: &str) -> ObjectMeta {
    ObjectMeta {
        name: Some(name.to_owned()),
        namespace: Some(facts.namespace.to_owned()),
        annotations: Some(BTreeMap::from([(
            annotations::MANAGED_BY.as_str().to_owned(),
            "external".to_owned(),
        )])),
        ..ObjectMeta::default()
    }
}

/// The status of an infrastructure object: it is ready as soon as it exists. The providers of today follow contract
/// v1beta1, which knows nothing but this.
pub(crate) fn ready() -> InfrastructureStatus {
    InfrastructureStatus {
        ready: true,
        initialization: None,
    }
}

/// A program that makes machines, and what is set for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Provider {
    /// The component of the release that it is.
    pub component: &'static str,
    /// The processor time that it asks for.
    pub cpu: &'static str,
    /// The memory that it asks for.
    pub memory: &'static str,
}

/// Where rules hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// In the namespace of the control plane.
    ControlPlane,
    /// In a namespace of the user.
    Namespace(String),
}

/// What a provider may do somewhere.
#[derive(Clone, Debug, PartialEq)]
pub struct ProviderRules {
    /// Where.
    pub place: Place,
    /// What.
    pub rules: Vec<PolicyRule>,
}

/// A rule in the words of RBAC.
pub(crate) fn allow(group: &str, resources: &[&str], verbs: &[&str]) -> PolicyRule {
    let owned = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<String>>();
    PolicyRule {
        api_groups: Some(vec![group.to_owned()]),
        resources: Some(owned(resources)),
        verbs: owned(verbs),
        ..PolicyRule::default()
    }
}
