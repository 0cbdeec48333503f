//! The objects that components are made of, by kind. The set is closed on purpose: whoever applies them watches exactly
//! these kinds.

use std::fmt;

use hyperplane_api::hypershift::control_plane_component::ComponentResource;
use k8s_openapi::{
    api::{
        apps::v1::{Deployment, StatefulSet},
        batch::v1::{CronJob, Job},
        core::v1::{ConfigMap, Container, PodSpec, PodTemplateSpec, Secret, Service, ServiceAccount},
        policy::v1::PodDisruptionBudget,
        rbac::v1::{Role, RoleBinding},
    },
    apimachinery::pkg::apis::meta::v1::ObjectMeta,
};
use kube::Resource as _;
use serde::{Serialize, Serializer};

use crate::{
    component::WorkloadKind,
    monitors::{self, PodMonitor, ServiceMonitor},
};

/// An object of a component other than its workload.
#[derive(Clone, PartialEq)]
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
    /// A ServiceMonitor; only where the management cluster serves monitors.
    ServiceMonitor(Box<ServiceMonitor>),
    /// A PodMonitor; only where the management cluster serves monitors.
    PodMonitor(Box<PodMonitor>),
}

macro_rules! each {
    ($self:ident, $object:ident => $body:expr) => {
        match $self {
            Self::ConfigMap($object) => $body,
            Self::Secret($object) => $body,
            Self::Service($object) => $body,
            Self::ServiceAccount($object) => $body,
            Self::Role($object) => $body,
            Self::RoleBinding($object) => $body,
            Self::PodDisruptionBudget($object) => $body,
            Self::ServiceMonitor($object) => $body,
            Self::PodMonitor($object) => $body,
        }
    };
}

impl Manifest {
    /// Its metadata.
    pub fn meta(&self) -> &ObjectMeta {
        each!(self, object => object.meta())
    }

    /// Its metadata, to be changed.
    pub fn meta_mut(&mut self) -> &mut ObjectMeta {
        each!(self, object => object.meta_mut())
    }

    /// Its kind and name.
    pub fn object_name(&self) -> ObjectName {
        let (group, kind) = match self {
            Self::ConfigMap(_) => ("", "ConfigMap"),
            Self::Secret(_) => ("", "Secret"),
            Self::Service(_) => ("", "Service"),
            Self::ServiceAccount(_) => ("", "ServiceAccount"),
            Self::Role(_) => ("rbac.authorization.k8s.io", "Role"),
            Self::RoleBinding(_) => ("rbac.authorization.k8s.io", "RoleBinding"),
            Self::PodDisruptionBudget(_) => ("policy", "PodDisruptionBudget"),
            Self::ServiceMonitor(_) => (monitors::GROUP, "ServiceMonitor"),
            Self::PodMonitor(_) => (monitors::GROUP, "PodMonitor"),
        };
        ObjectName::new(group, kind, self.meta())
    }

    /// Whether the management cluster may not know its kind.
    pub fn is_monitor(&self) -> bool {
        matches!(self, Self::ServiceMonitor(_) | Self::PodMonitor(_))
    }
}

/// Kind and name only: a Secret may be inside, and is not for logs.
impl fmt::Debug for Manifest {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.object_name();
        write!(formatter, "{} {}", name.kind, name.name)
    }
}

/// Written as the object that it is.
impl Serialize for Manifest {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        each!(self, object => object.serialize(serializer))
    }
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

impl Workload {
    /// Its metadata.
    pub fn meta(&self) -> &ObjectMeta {
        match self {
            Self::Deployment(object) => &object.metadata,
            Self::StatefulSet(object) => &object.metadata,
            Self::Job(object) => &object.metadata,
            Self::CronJob(object) => &object.metadata,
        }
    }

    /// Its metadata, to be changed.
    pub fn meta_mut(&mut self) -> &mut ObjectMeta {
        match self {
            Self::Deployment(object) => &mut object.metadata,
            Self::StatefulSet(object) => &mut object.metadata,
            Self::Job(object) => &mut object.metadata,
            Self::CronJob(object) => &mut object.metadata,
        }
    }

    /// Its kind.
    pub fn kind(&self) -> WorkloadKind {
        match self {
            Self::Deployment(_) => WorkloadKind::Deployment,
            Self::StatefulSet(_) => WorkloadKind::StatefulSet,
            Self::Job(_) => WorkloadKind::Job,
            Self::CronJob(_) => WorkloadKind::CronJob,
        }
    }

    /// Its kind and name.
    pub fn object_name(&self) -> ObjectName {
        let (group, kind) = match self {
            Self::Deployment(_) => ("apps", "Deployment"),
            Self::StatefulSet(_) => ("apps", "StatefulSet"),
            Self::Job(_) => ("batch", "Job"),
            Self::CronJob(_) => ("batch", "CronJob"),
        };
        ObjectName::new(group, kind, self.meta())
    }

    /// What its pods are made from; none where it has no spec.
    pub fn template(&self) -> Option<&PodTemplateSpec> {
        match self {
            Self::Deployment(object) => object.spec.as_ref().map(|spec| &spec.template),
            Self::StatefulSet(object) => object.spec.as_ref().map(|spec| &spec.template),
            Self::Job(object) => object.spec.as_ref().map(|spec| &spec.template),
            Self::CronJob(object) => object.spec.job_template.spec.as_ref().map(|spec| &spec.template),
        }
    }

    /// What its pods are made from, to be changed.
    pub fn template_mut(&mut self) -> &mut PodTemplateSpec {
        match self {
            Self::Deployment(object) => &mut object.spec.get_or_insert_default().template,
            Self::StatefulSet(object) => &mut object.spec.get_or_insert_default().template,
            Self::Job(object) => &mut object.spec.get_or_insert_default().template,
            Self::CronJob(object) => {
                let job = &mut object.spec.job_template;
                &mut job.spec.get_or_insert_default().template
            }
        }
    }

    /// The spec of its pods; none where it has none.
    pub fn pod(&self) -> Option<&PodSpec> {
        self.template()?.spec.as_ref()
    }

    /// The spec of its pods, to be changed.
    pub fn pod_mut(&mut self) -> &mut PodSpec {
        self.template_mut().spec.get_or_insert_default()
    }

    /// All containers of its pods, those that run before the others first.
    pub fn containers(&self) -> impl Iterator<Item = &Container> {
        let pod = self.pod();
        let first = pod.and_then(|pod| pod.init_containers.as_deref()).unwrap_or_default();
        let others = pod.map(|pod| pod.containers.as_slice()).unwrap_or_default();
        first.iter().chain(others)
    }

    /// All containers of its pods, to be changed.
    pub fn containers_mut(&mut self) -> impl Iterator<Item = &mut Container> {
        let pod = self.pod_mut();
        pod.init_containers.iter_mut().flatten().chain(&mut pod.containers)
    }

    /// A container by name, to be changed.
    pub fn container_mut(&mut self, name: &str) -> Option<&mut Container> {
        self.containers_mut().find(|container| container.name == name)
    }
}

/// Written as the object that it is.
impl Serialize for Workload {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Deployment(object) => object.serialize(serializer),
            Self::StatefulSet(object) => object.serialize(serializer),
            Self::Job(object) => object.serialize(serializer),
            Self::CronJob(object) => object.serialize(serializer),
        }
    }
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

/// Every kind that components write, with its group.
const KINDS: &[(&str, &str)] = &[
    ("", "ConfigMap"),
    ("", "Secret"),
    ("", "Service"),
    ("", "ServiceAccount"),
    ("rbac.authorization.k8s.io", "Role"),
    ("rbac.authorization.k8s.io", "RoleBinding"),
    ("policy", "PodDisruptionBudget"),
    (monitors::GROUP, "ServiceMonitor"),
    (monitors::GROUP, "PodMonitor"),
    ("apps", "Deployment"),
    ("apps", "StatefulSet"),
    ("batch", "Job"),
    ("batch", "CronJob"),
];

impl ObjectName {
    /// A name as a report has it, if its kind is one that components write.
    pub(crate) fn of_report(resource: &ComponentResource) -> Option<Self> {
        let (group, kind) = KINDS
            .iter()
            .find(|(group, kind)| *group == resource.group && *kind == resource.kind)?;
        Some(Self {
            group,
            kind,
            name: resource.name.clone(),
        })
    }

    fn new(group: &'static str, kind: &'static str, meta: &ObjectMeta) -> Self {
        Self {
            group,
            kind,
            name: meta.name.clone().unwrap_or_default(),
        }
    }
}
