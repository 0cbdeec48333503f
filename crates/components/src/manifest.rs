//! The objects that components are made of, by kind. The set is closed on purpose: whoever applies them watches exactly
//! these kinds.

use k8s_openapi::api::{
    apps::v1::{Deployment, StatefulSet},
    batch::v1::{CronJob, Job},
    core::v1::{ConfigMap, Secret, Service, ServiceAccount},
    policy::v1::PodDisruptionBudget,
    rbac::v1::{Role, RoleBinding},
};

/// An object of a component other than its workload.
#[derive(Clone, Debug, PartialEq)]
pub enum Manifest {
    /// A ConfigMap.
    ConfigMap(Box<ConfigMap>),
    /// A Secret.
    Secret(Box<Secret>),
    /// A Service.
    Service(Box<Service>),
    /// A ServiceAccount.
    ServiceAccount(Box<ServiceAccount>),
    /// A Role.
    Role(Box<Role>),
    /// A RoleBinding.
    RoleBinding(Box<RoleBinding>),
    /// A PodDisruptionBudget.
    PodDisruptionBudget(Box<PodDisruptionBudget>),
}

/// The workload of a component.
#[derive(Clone, Debug, PartialEq)]
pub enum Workload {
    /// A Deployment.
    Deployment(Box<Deployment>),
    /// A StatefulSet.
    StatefulSet(Box<StatefulSet>),
    /// A Job.
    Job(Box<Job>),
    /// A CronJob.
    CronJob(Box<CronJob>),
}

/// An object by its kind and name, in the namespace of the control plane.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ObjectName {
    /// The API group; empty for the core group.
    pub group: &'static str,
    /// The kind.
    pub kind: &'static str,
    /// The name.
    pub name: String,
}
