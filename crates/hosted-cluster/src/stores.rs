//! The watches of the operator. Objects that we make are cached whole; those of users only by their metadata.

use std::{collections::BTreeSet, sync::Arc};

use hyperplane_api::{
    cluster_api::{cluster::Cluster, machine::Machine},
    constants::annotations,
    hyperplane::distribution_release::DistributionRelease,
    hypershift::{hosted_control_plane::HostedControlPlane, node_pool::NodePool},
    infrastructure::{agent_cluster::AgentCluster, kubevirt_cluster::KubevirtCluster},
};
use hyperplane_runtime::{Kind, Manager, Store, Watch};
use k8s_openapi::api::{
    apps::v1::Deployment,
    core::v1::{ConfigMap, Namespace, Node, Secret},
    networking::v1::NetworkPolicy,
    rbac::v1::{ClusterRole, ClusterRoleBinding, Role, RoleBinding},
};
use kube::core::PartialObjectMeta;

use crate::{metadata, settings::ServedKinds};

/// The index of namespaces by the user that their pods run as.
const USER_ID_INDEX: &str = "security-context-uid";
/// The index of objects by the cluster that they are made for.
const CLUSTER_INDEX: &str = "hosted-cluster";
/// The label of a node with its zone.
const ZONE: &str = "topology.kubernetes.io/zone";

/// Everything that is read.
#[derive(Clone)]
pub(crate) struct Stores {
    pub(crate) control_planes: Store<HostedControlPlane>,
    pub(crate) namespaces: Store<Namespace>,
    pub(crate) node_pools: Store<NodePool>,
    pub(crate) releases: Store<DistributionRelease>,
    pub(crate) clusters: Store<Cluster>,
    pub(crate) machines: Store<PartialObjectMeta<Machine>>,
    pub(crate) kubevirt: Option<Store<KubevirtCluster>>,
    pub(crate) agents: Option<Store<AgentCluster>>,
    pub(crate) secrets: Store<Secret>,
    pub(crate) config_maps: Store<ConfigMap>,
    pub(crate) user_secrets: Store<PartialObjectMeta<Secret>>,
    pub(crate) user_config_maps: Store<PartialObjectMeta<ConfigMap>>,
    pub(crate) deployments: Store<Deployment>,
    pub(crate) network_policies: Store<NetworkPolicy>,
    pub(crate) roles: Store<Role>,
    pub(crate) role_bindings: Store<RoleBinding>,
    pub(crate) cluster_roles: Store<ClusterRole>,
    pub(crate) cluster_role_bindings: Store<ClusterRoleBinding>,
    pub(crate) nodes: Store<PartialObjectMeta<Node>>,
}

impl Stores {
    /// The shared stores of a manager.
    pub(crate) fn new(manager: &Manager, served: ServedKinds) -> Self {
        let namespaces = manager.store(Watch::<Namespace>::all());
        namespaces.add_index(USER_ID_INDEX, |namespace| {
            let user = annotations::DEFAULT_SECURITY_CONTEXT_UID.of(namespace);
            user.map(str::to_owned).into_iter().collect()
        });
        Self {
            control_planes: manager.store(Watch::all()),
            namespaces,
            node_pools: manager.store(Watch::all()),
            releases: manager.store(Watch::all()),
            clusters: manager.store(ours()),
            machines: manager.store(Watch::all()),
            kubevirt: served.kubevirt.then(|| manager.store(ours())),
            agents: served.agent.then(|| manager.store(ours())),
            secrets: manager.store(ours()),
            config_maps: manager.store(ours()),
            user_secrets: manager.store(of_others()),
            user_config_maps: manager.store(of_others()),
            deployments: manager.store(ours()),
            network_policies: manager.store(ours()),
            roles: by_cluster(manager),
            role_bindings: by_cluster(manager),
            cluster_roles: by_cluster(manager),
            cluster_role_bindings: by_cluster(manager),
            nodes: manager.store(Watch::all()),
        }
    }

    /// Whether the pods of some namespace run as this user.
    pub(crate) fn is_user_taken(&self, user: i64) -> bool {
        !self.namespaces.by_index(USER_ID_INDEX, &user.to_string()).is_empty()
    }

    /// In how many zones the management cluster has nodes.
    pub(crate) fn zones(&self) -> usize {
        let nodes = self.nodes.all();
        let zones = nodes
            .iter()
            .filter_map(|node| node.metadata.labels.as_ref()?.get(ZONE).map(String::as_str));
        zones.collect::<BTreeSet<&str>>().len()
    }
}

/// A store of what we make that also finds objects by the cluster that they are made for.
fn by_cluster<K: Kind>(manager: &Manager) -> Store<K> {
    let store: Store<K> = manager.store(ours());
    store.add_index(CLUSTER_INDEX, |object| {
        let title = annotations::CLUSTER.of(object);
        title.map(str::to_owned).into_iter().collect()
    });
    store
}

/// What is made for a cluster, by its title.
pub(crate) fn made_for<K: Kind>(store: &Store<K>, title: &str) -> Vec<Arc<K>> {
    store.by_index(CLUSTER_INDEX, title)
}

/// The watch of everything of a kind that we make.
pub(crate) fn ours<K: Kind>() -> Watch<K> {
    Watch::all().labels(&metadata::our_selector())
}

/// The watch of everything of a kind that others make.
pub(crate) fn of_others<K: Kind>() -> Watch<K> {
    Watch::all().labels(&metadata::others_selector())
}
