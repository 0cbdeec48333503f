//! The objects that components are made of, by kind. The set is closed on purpose: whoever applies them watches exactly
//! these kinds.

use std::{fmt, sync::Arc};

use hyperplane_api::{constants::groups, hypershift::control_plane_component::ComponentResource};
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
        let kind = match self {
            Self::ConfigMap(_) => ObjectKind::ConfigMap,
            Self::Secret(_) => ObjectKind::Secret,
            Self::Service(_) => ObjectKind::Service,
            Self::ServiceAccount(_) => ObjectKind::ServiceAccount,
            Self::Role(_) => ObjectKind::Role,
            Self::RoleBinding(_) => ObjectKind::RoleBinding,
            Self::PodDisruptionBudget(_) => ObjectKind::PodDisruptionBudget,
            Self::ServiceMonitor(_) => ObjectKind::ServiceMonitor,
            Self::PodMonitor(_) => ObjectKind::PodMonitor,
        };
        ObjectName::new(kind, self.meta())
    }

    /// Whether the management cluster may not know its kind.
    pub fn is_monitor(&self) -> bool {
        self.object_name().kind.is_monitor()
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

/// The workload of a component. Shared, because live ones are those of caches; whoever changes one changes a copy.
#[derive(Clone, Debug, PartialEq)]
pub enum Workload {
    /// A Deployment.
    Deployment(Arc<Deployment>),
    /// A StatefulSet.
    StatefulSet(Arc<StatefulSet>),
    /// A Job.
    Job(Arc<Job>),
    /// A CronJob.
    CronJob(Arc<CronJob>),
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
            Self::Deployment(object) => &mut Arc::make_mut(object).metadata,
            Self::StatefulSet(object) => &mut Arc::make_mut(object).metadata,
            Self::Job(object) => &mut Arc::make_mut(object).metadata,
            Self::CronJob(object) => &mut Arc::make_mut(object).metadata,
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
        let kind = match self {
            Self::Deployment(_) => ObjectKind::Deployment,
            Self::StatefulSet(_) => ObjectKind::StatefulSet,
            Self::Job(_) => ObjectKind::Job,
            Self::CronJob(_) => ObjectKind::CronJob,
        };
        ObjectName::new(kind, self.meta())
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
            Self::Deployment(object) => &mut Arc::make_mut(object).spec.get_or_insert_default().template,
            Self::StatefulSet(object) => &mut Arc::make_mut(object).spec.get_or_insert_default().template,
            Self::Job(object) => &mut Arc::make_mut(object).spec.get_or_insert_default().template,
            Self::CronJob(object) => {
                let job = &mut Arc::make_mut(object).spec.job_template;
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
    /// The kind.
    pub kind: ObjectKind,
    /// The name.
    pub name: String,
}

/// The kinds that components are made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[allow(missing_docs, reason = "they are named as Kubernetes names them")]
pub enum ObjectKind {
    ConfigMap,
    Secret,
    Service,
    ServiceAccount,
    Role,
    RoleBinding,
    PodDisruptionBudget,
    ServiceMonitor,
    PodMonitor,
    Deployment,
    StatefulSet,
    Job,
    CronJob,
}

impl ObjectKind {
    const ALL: [Self; 13] = [
        Self::ConfigMap,
        Self::Secret,
        Self::Service,
        Self::ServiceAccount,
        Self::Role,
        Self::RoleBinding,
        Self::PodDisruptionBudget,
        Self::ServiceMonitor,
        Self::PodMonitor,
        Self::Deployment,
        Self::StatefulSet,
        Self::Job,
        Self::CronJob,
    ];

    /// The API group; empty for the core group.
    pub const fn group(self) -> &'static str {
        match self {
            Self::ConfigMap | Self::Secret | Self::Service | Self::ServiceAccount => "",
            Self::Role | Self::RoleBinding => groups::RBAC,
            Self::PodDisruptionBudget => "policy",
            Self::ServiceMonitor | Self::PodMonitor => monitors::GROUP,
            Self::Deployment | Self::StatefulSet => "apps",
            Self::Job | Self::CronJob => "batch",
        }
    }

    /// Its name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::ConfigMap => "ConfigMap",
            Self::Secret => "Secret",
            Self::Service => "Service",
            Self::ServiceAccount => "ServiceAccount",
            Self::Role => "Role",
            Self::RoleBinding => "RoleBinding",
            Self::PodDisruptionBudget => "PodDisruptionBudget",
            Self::ServiceMonitor => "ServiceMonitor",
            Self::PodMonitor => "PodMonitor",
            Self::Deployment => "Deployment",
            Self::StatefulSet => "StatefulSet",
            Self::Job => "Job",
            Self::CronJob => "CronJob",
        }
    }

    /// Whether the management cluster may not know it.
    pub const fn is_monitor(self) -> bool {
        matches!(self, Self::ServiceMonitor | Self::PodMonitor)
    }
}

impl fmt::Display for ObjectKind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

impl ObjectName {
    /// A name as a report has it, if its kind is one that components write.
    pub(crate) fn of_report(resource: &ComponentResource) -> Option<Self> {
        let mut kinds = ObjectKind::ALL.into_iter();
        let kind = kinds.find(|kind| kind.group() == resource.group && kind.as_str() == resource.kind)?;
        let name = resource.name.clone();
        Some(Self { kind, name })
    }

    fn new(kind: ObjectKind, meta: &ObjectMeta) -> Self {
        Self {
            kind,
            name: meta.name.clone().unwrap_or_default(),
        }
    }
}
