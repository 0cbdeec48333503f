//! Everything that one run looks at, read before anything is written.

use std::sync::Arc;

use hyperplane_api::{
    cluster_api::{cluster::Cluster, common::ContractVersionedObjectReference},
    constants::conditions::hosted_control_plane as types,
    hypershift::{
        endpoint::ApiEndpoint,
        hosted_control_plane::{HostedControlPlane, HostedControlPlaneStatus},
    },
    infrastructure::{InfrastructureStatus, agent_cluster::AgentCluster, kubevirt_cluster::KubevirtCluster},
};
use hyperplane_objects::Kind;
use hyperplane_runtime::{NamespaceStore, Store};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use kube::ResourceExt as _;

use super::Clusters;
use crate::{counts::is_deleting, pause::pause};

/// A cluster, and what it refers to.
pub(super) struct Seen {
    pub(super) cluster: Arc<Cluster>,
    pub(super) infrastructure: Referred<Infrastructure>,
    pub(super) control_plane: Referred<ControlPlane>,
    /// What is left of its workers; counted only if it goes.
    pub(super) remaining: Remaining,
    /// Why it is left alone, where it is.
    pub(super) pause: Option<&'static str>,
}

impl Seen {
    /// Whether the cluster is being deleted.
    pub(super) fn is_leaving(&self) -> bool {
        is_deleting(&self.cluster.metadata)
    }
}

/// What a reference leads to.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Referred<T> {
    /// Nothing, for a reason in words.
    Missing(String),
    /// An object.
    Present(T),
}

impl<T> Referred<T> {
    pub(super) const fn get(&self) -> Option<&T> {
        match self {
            Self::Missing(_) => None,
            Self::Present(object) => Some(object),
        }
    }
}

/// What is read of the infrastructure of a cluster, whoever provides it.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Infrastructure {
    pub(super) is_provisioned: bool,
    pub(super) endpoint: Option<ApiEndpoint>,
}

impl Infrastructure {
    /// Contract v1beta2 is read first and v1beta1 where a provider still speaks that.
    pub(super) fn new(status: Option<&InfrastructureStatus>, endpoint: Option<&ApiEndpoint>) -> Self {
        let is_provisioned = |status: &InfrastructureStatus| {
            let initialization = status.initialization.as_ref();
            let provisioned = initialization.and_then(|initialization| initialization.provisioned);
            provisioned.unwrap_or(status.ready)
        };
        Self {
            is_provisioned: status.is_some_and(is_provisioned),
            endpoint: endpoint.cloned(),
        }
    }
}

/// What is read of a control plane.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct ControlPlane {
    pub(super) has_served: bool,
    /// What it says of itself as a whole.
    pub(super) available: Option<Condition>,
    pub(super) endpoint: Option<ApiEndpoint>,
}

impl ControlPlane {
    /// Only contract v1beta2 is read, which the definition of the kind names. The word of v1beta1 for having served is true
    /// from the beginning, because in HyperShift machines do not wait for that.
    pub(super) fn new(status: Option<&HostedControlPlaneStatus>) -> Self {
        let Some(status) = status else {
            return Self::default();
        };
        let initialization = status.initialization.as_ref();
        let initialized = initialization.and_then(|initialization| initialization.control_plane_initialized);
        let mut conditions = status.conditions.iter();
        Self {
            has_served: initialized == Some(true),
            available: conditions
                .find(|condition| condition.type_ == types::AVAILABLE.as_str())
                .cloned(),
            endpoint: status.control_plane_endpoint.clone(),
        }
    }
}

/// How much is left of the workers of a cluster.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Remaining {
    pub(super) deployments: usize,
    pub(super) sets: usize,
    pub(super) machines: usize,
}

impl Remaining {
    pub(super) fn is_empty(self) -> bool {
        self == Self::default()
    }
}

pub(super) fn look(stores: &Clusters, cluster: Arc<Cluster>) -> Seen {
    let namespace = cluster.namespace().unwrap_or_default();
    let is_paused = cluster.spec.paused == Some(true);
    Seen {
        infrastructure: infrastructure(stores, &cluster, &namespace),
        control_plane: control_plane(stores, &cluster, &namespace),
        remaining: if is_deleting(&cluster.metadata) {
            remaining(stores, &cluster.name_any(), &namespace)
        } else {
            Remaining::default()
        },
        pause: pause(cluster.as_ref(), None).or(is_paused.then_some("its spec says so")),
        cluster,
    }
}

fn infrastructure(stores: &Clusters, cluster: &Cluster, namespace: &str) -> Referred<Infrastructure> {
    let Some(reference) = &cluster.spec.infrastructure_ref else {
        return Referred::Missing("spec.infrastructureRef is not set".to_owned());
    };
    let kubevirt = |object: &KubevirtCluster| {
        let endpoint = object.spec.control_plane_endpoint.as_ref();
        Infrastructure::new(object.status.as_ref(), endpoint)
    };
    let agent = |object: &AgentCluster| {
        let endpoint = object.spec.control_plane_endpoint.as_ref();
        Infrastructure::new(object.status.as_ref(), endpoint)
    };
    if let Some(store) = stores.kubevirt.as_ref().filter(|_| is::<KubevirtCluster>(reference)) {
        find(store, reference, namespace, kubevirt)
    } else if let Some(store) = stores.agents.as_ref().filter(|_| is::<AgentCluster>(reference)) {
        find(store, reference, namespace, agent)
    } else {
        unserved(reference)
    }
}

fn control_plane(stores: &Clusters, cluster: &Cluster, namespace: &str) -> Referred<ControlPlane> {
    let Some(reference) = &cluster.spec.control_plane_ref else {
        return Referred::Missing("spec.controlPlaneRef is not set".to_owned());
    };
    if !is::<HostedControlPlane>(reference) {
        return unserved(reference);
    }
    find(&stores.control_planes, reference, namespace, |object| {
        ControlPlane::new(object.status.as_ref())
    })
}

fn find<K: Kind, T>(
    store: &Store<K>,
    reference: &ContractVersionedObjectReference,
    namespace: &str,
    read: impl Fn(&K) -> T,
) -> Referred<T> {
    match store.namespace(namespace).get(reference.name.as_str()) {
        Some(found) => Referred::Present(read(&found)),
        None => missing(reference),
    }
}

fn is<K: Kind>(reference: &ContractVersionedObjectReference) -> bool {
    reference.api_group.as_str() == K::group(&()) && reference.kind.as_str() == K::kind(&())
}

fn missing<T>(reference: &ContractVersionedObjectReference) -> Referred<T> {
    Referred::Missing(format!("{} {} does not exist", reference.kind, reference.name))
}

fn unserved<T>(reference: &ContractVersionedObjectReference) -> Referred<T> {
    Referred::Missing(format!(
        "{}.{} is of no provider that this manager serves",
        reference.kind, reference.api_group
    ))
}

fn remaining(stores: &Clusters, name: &str, namespace: &str) -> Remaining {
    Remaining {
        deployments: count(&stores.deployments.namespace(namespace), |found| {
            found.spec.cluster_name == name
        }),
        sets: count(&stores.sets.namespace(namespace), |found| {
            found.spec.cluster_name == name
        }),
        machines: count(&stores.machines.namespace(namespace), |found| {
            found.spec.cluster_name == name
        }),
    }
}

fn count<K: Kind>(store: &NamespaceStore<K>, is_meant: impl Fn(&K) -> bool) -> usize {
    store.all().iter().filter(|found| is_meant(found)).count()
}
