//! The watches that a driver of components needs: every kind that components are made of, and only what is ours.

use std::{collections::BTreeMap, sync::Arc};

use hyperplane_api::{
    constants::{annotations, ours},
    hypershift::control_plane_component::ControlPlaneComponent,
};
use hyperplane_components::{ObjectKind, ObjectName, Objects, Observed, PodMonitor, ServiceMonitor, Workload};
use hyperplane_objects::Kind;
use hyperplane_runtime::{Context, ControllerBuilder, Failure, Manager, Reconciler, Scope, Store, Watch};
use k8s_openapi::{
    NamespaceResourceScope,
    api::{
        apps::v1::{Deployment, StatefulSet},
        batch::v1::{CronJob, Job},
        core::v1::{ConfigMap, Secret, Service, ServiceAccount},
        policy::v1::PodDisruptionBudget,
        rbac::v1::{Role, RoleBinding},
    },
};
use kube::Resource;

/// How the objects of components lead to the object that a controller reconciles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Owners {
    /// By their owner reference: it reconciles control planes.
    References,
    /// By their annotation with the hosted cluster: it reconciles those.
    Annotation,
}

/// Everything that is read to drive components. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Driver {
    scope: Scope,
    pub(crate) reports: Store<ControlPlaneComponent>,
    deployments: Store<Deployment>,
    stateful_sets: Store<StatefulSet>,
    jobs: Store<Job>,
    cron_jobs: Store<CronJob>,
    config_maps: Store<ConfigMap>,
    secrets: Store<Secret>,
    services: Store<Service>,
    service_accounts: Store<ServiceAccount>,
    roles: Store<Role>,
    role_bindings: Store<RoleBinding>,
    budgets: Store<PodDisruptionBudget>,
    monitors: Option<Monitors>,
}

/// Where the management cluster serves them.
#[derive(Clone, Debug)]
struct Monitors {
    services: Store<ServiceMonitor>,
    pods: Store<PodMonitor>,
}

impl Driver {
    /// A driver over the shared watches of a manager.
    pub fn new(manager: &Manager, scope: &Scope, has_monitors: bool) -> Self {
        Self {
            reports: manager.store(ours(scope)),
            deployments: manager.store(ours(scope)),
            stateful_sets: manager.store(ours(scope)),
            jobs: manager.store(ours(scope)),
            cron_jobs: manager.store(ours(scope)),
            config_maps: manager.store(ours(scope)),
            secrets: manager.store(ours(scope)),
            services: manager.store(ours(scope)),
            service_accounts: manager.store(ours(scope)),
            roles: manager.store(ours(scope)),
            role_bindings: manager.store(ours(scope)),
            budgets: manager.store(ours(scope)),
            monitors: has_monitors.then(|| Monitors {
                services: manager.store(ours(scope)),
                pods: manager.store(ours(scope)),
            }),
            scope: scope.clone(),
        }
    }

    /// Runs a controller when something of a component changes.
    pub fn watched<'m, R: Reconciler>(
        &self,
        builder: ControllerBuilder<'m, R>,
        owners: Owners,
    ) -> ControllerBuilder<'m, R> {
        let builder = self.watch::<_, ControlPlaneComponent>(builder, owners);
        let builder = self.watch::<_, Deployment>(builder, owners);
        let builder = self.watch::<_, StatefulSet>(builder, owners);
        let builder = self.watch::<_, Job>(builder, owners);
        let builder = self.watch::<_, CronJob>(builder, owners);
        let builder = self.watch::<_, ConfigMap>(builder, owners);
        let builder = self.watch::<_, Secret>(builder, owners);
        let builder = self.watch::<_, Service>(builder, owners);
        let builder = self.watch::<_, ServiceAccount>(builder, owners);
        let builder = self.watch::<_, Role>(builder, owners);
        let builder = self.watch::<_, RoleBinding>(builder, owners);
        let builder = self.watch::<_, PodDisruptionBudget>(builder, owners);
        if self.monitors.is_none() {
            return builder;
        }
        let builder = self.watch::<_, ServiceMonitor>(builder, owners);
        self.watch::<_, PodMonitor>(builder, owners)
    }

    fn watch<'m, R: Reconciler, K: Kind + Resource<Scope = NamespaceResourceScope>>(
        &self,
        builder: ControllerBuilder<'m, R>,
        owners: Owners,
    ) -> ControllerBuilder<'m, R> {
        match owners {
            Owners::References => builder.owns::<K>(ours(&self.scope)),
            Owners::Annotation => builder.owns_by_annotation::<K>(ours(&self.scope), annotations::CLUSTER.as_str()),
        }
    }

    /// Secrets and ConfigMaps of a namespace that are ours.
    pub fn objects(&self, namespace: &str) -> Objects {
        Objects {
            secrets: by_name(&self.secrets, namespace),
            config_maps: by_name(&self.config_maps, namespace),
        }
    }

    /// Services of a namespace that are ours.
    pub fn services(&self, namespace: &str) -> Vec<Arc<Service>> {
        self.services.namespace(namespace).all()
    }

    /// What is there of all components of a namespace.
    pub fn observe(&self, namespace: &str) -> Observed {
        let mut observed = Observed::default();
        for report in self.reports.namespace(namespace).all() {
            let name = report.metadata.name.clone().unwrap_or_default();
            observed.reports.insert(name, report.status.clone().unwrap_or_default());
        }
        let workloads = &mut observed.workloads;
        workloads.extend(named(&self.deployments, namespace, Workload::Deployment));
        workloads.extend(named(&self.stateful_sets, namespace, Workload::StatefulSet));
        workloads.extend(named(&self.jobs, namespace, Workload::Job));
        workloads.extend(named(&self.cron_jobs, namespace, Workload::CronJob));
        observed
    }

    /// A StatefulSet, if the caches know it.
    pub fn stateful_set(&self, namespace: &str, name: &str) -> Option<Arc<StatefulSet>> {
        self.stateful_sets.namespace(namespace).get(name)
    }

    /// A Job, if the caches know it.
    pub fn job(&self, namespace: &str, name: &str) -> Option<Arc<Job>> {
        self.jobs.namespace(namespace).get(name)
    }

    /// Deletes those of the named objects that are there and belong to this control plane.
    pub(crate) async fn remove(
        &self,
        context: &Context,
        namespace: &str,
        owner: Option<&str>,
        unwanted: &[ObjectName],
    ) -> Result<(), Failure> {
        for ObjectName { kind, name } in unwanted {
            let place = Place {
                context,
                namespace,
                owner,
                name,
            };
            match kind {
                ObjectKind::Deployment => place.remove(&self.deployments).await?,
                ObjectKind::StatefulSet => place.remove(&self.stateful_sets).await?,
                ObjectKind::Job => place.remove(&self.jobs).await?,
                ObjectKind::CronJob => place.remove(&self.cron_jobs).await?,
                ObjectKind::ConfigMap => place.remove(&self.config_maps).await?,
                ObjectKind::Secret => place.remove(&self.secrets).await?,
                ObjectKind::Service => place.remove(&self.services).await?,
                ObjectKind::ServiceAccount => place.remove(&self.service_accounts).await?,
                ObjectKind::Role => place.remove(&self.roles).await?,
                ObjectKind::RoleBinding => place.remove(&self.role_bindings).await?,
                ObjectKind::PodDisruptionBudget => place.remove(&self.budgets).await?,
                // A server that does not know the kinds has no objects of them either.
                ObjectKind::ServiceMonitor => {
                    if let Some(monitors) = &self.monitors {
                        place.remove(&monitors.services).await?;
                    }
                }
                ObjectKind::PodMonitor => {
                    if let Some(monitors) = &self.monitors {
                        place.remove(&monitors.pods).await?;
                    }
                }
            }
        }
        Ok(())
    }
}

/// Where one object is looked for, and whose it must be.
struct Place<'a> {
    context: &'a Context,
    namespace: &'a str,
    owner: Option<&'a str>,
    name: &'a str,
}

impl Place<'_> {
    async fn remove<K: Kind>(&self, store: &Store<K>) -> Result<(), Failure> {
        let Some(object) = store.namespace(self.namespace).get(self.name) else {
            return Ok(());
        };
        let references = object.meta().owner_references.iter().flatten();
        let is_ours = references
            .into_iter()
            .any(|reference| Some(reference.uid.as_str()) == self.owner);
        if is_ours {
            self.context.delete(object.as_ref()).await?;
        }
        Ok(())
    }
}

fn ours<K: Kind + Resource<Scope = NamespaceResourceScope>>(scope: &Scope) -> Watch<K> {
    scope.watch().labels(&ours::selector())
}

fn named<K: Kind>(store: &Store<K>, namespace: &str, form: fn(Arc<K>) -> Workload) -> Vec<(String, Workload)> {
    let objects = by_name(store, namespace).into_iter();
    objects.map(|(name, object)| (name, form(object))).collect()
}

fn by_name<K: Kind>(store: &Store<K>, namespace: &str) -> BTreeMap<String, Arc<K>> {
    let objects = store.namespace(namespace).all().into_iter();
    objects
        .map(|object| (object.meta().name.clone().unwrap_or_default(), object))
        .collect()
}
