//! The watches of the operator. What we make is cached whole; ConfigMaps of users only by their metadata.

use std::sync::Arc;

use hyperplane_api::{
    cluster_api::{
        machine::Machine, machine_deployment::MachineDeployment, machine_health_check::MachineHealthCheck,
        machine_set::MachineSet,
    },
    constants::{annotations, labels, ours},
    hyperplane::distribution_release::DistributionRelease,
    hypershift::{hosted_cluster::HostedCluster, hosted_control_plane::HostedControlPlane},
    infrastructure::{agent_machine::AgentMachineTemplate, kubevirt_machine::KubevirtMachineTemplate},
};
use hyperplane_objects::Kind;
use hyperplane_runtime::{Manager, Store, Watch};
use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use kube::core::PartialObjectMeta;

use crate::{instances::Instance, settings::ServedTemplates};

/// The index of objects by the pool that they are made for.
const POOL_INDEX: &str = "node-pool";

/// Everything that is read.
#[derive(Clone)]
pub(crate) struct Stores {
    pub(crate) clusters: Store<HostedCluster>,
    pub(crate) control_planes: Store<HostedControlPlane>,
    pub(crate) releases: Store<DistributionRelease>,
    pub(crate) secrets: Store<Secret>,
    pub(crate) config_maps: Store<ConfigMap>,
    pub(crate) core: Store<ConfigMap>,
    pub(crate) user_config_maps: Store<PartialObjectMeta<ConfigMap>>,
    pub(crate) deployments: Store<MachineDeployment>,
    pub(crate) sets: Store<MachineSet>,
    pub(crate) machines: Store<Machine>,
    pub(crate) health_checks: Store<MachineHealthCheck>,
    pub(crate) instances: Option<Store<Instance>>,
    pub(crate) kubevirt: Option<Store<KubevirtMachineTemplate>>,
    pub(crate) agents: Option<Store<AgentMachineTemplate>>,
}

impl Stores {
    /// The shared stores of a manager.
    pub(crate) fn new(manager: &Manager, served: ServedTemplates) -> Self {
        let sets: Store<MachineSet> = manager.store(ours());
        sets.add_index(POOL_INDEX, |set| pool_of_set(set).into_iter().collect());
        Self {
            clusters: manager.store(Watch::all()),
            control_planes: manager.store(Watch::all()),
            releases: manager.store(Watch::all()),
            secrets: by_pool(manager),
            config_maps: manager.store(ours()),
            core: manager.store(core()),
            user_config_maps: manager.store(of_others()),
            deployments: by_pool(manager),
            sets,
            machines: by_pool(manager),
            health_checks: by_pool(manager),
            instances: served.kubevirt.then(|| manager.store(ours())),
            kubevirt: served.kubevirt.then(|| by_pool(manager)),
            agents: served.agent.then(|| by_pool(manager)),
        }
    }
}

/// A store of what we make that also finds objects by the pool that they are made for.
fn by_pool<K: Kind>(manager: &Manager) -> Store<K> {
    let store: Store<K> = manager.store(ours());
    store.add_index(POOL_INDEX, |object| {
        let title = annotations::NODE_POOL.of(object);
        title.map(str::to_owned).into_iter().collect()
    });
    store
}

/// The pool whose machines a set makes, as they will say it: what a set itself says is its own controller's business.
pub(crate) fn pool_of_set(set: &MachineSet) -> Option<String> {
    let metadata = set.spec.template.metadata.as_ref()?;
    metadata.annotations.get(annotations::NODE_POOL.as_str()).cloned()
}

/// What is made for a pool in a namespace, by the title of the pool. Whoever writes an annotation elsewhere gets nothing.
pub(crate) fn made_for<K: Kind>(store: &Store<K>, namespace: &str, title: &str) -> Vec<Arc<K>> {
    store.namespace(namespace).by_index(POOL_INDEX, title)
}

/// The watch of everything of a kind that we make.
pub(crate) fn ours<K: Kind>() -> Watch<K> {
    Watch::all().labels(&ours::selector())
}

/// The watch of what every node of a cluster is told, whoever wrote it: the namespace of a control plane is no tenant's.
pub(crate) fn core() -> Watch<ConfigMap> {
    Watch::all().labels(labels::CORE_IGNITION_CONFIG.as_str())
}

/// The watch of everything of a kind that others make.
pub(crate) fn of_others<K: Kind>() -> Watch<K> {
    Watch::all().labels(&ours::others_selector())
}
