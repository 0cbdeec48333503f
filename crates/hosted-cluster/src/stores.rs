//! The watches of the operator. Objects that we make are cached whole; those of users only by their metadata.

use std::sync::Arc;

use hyperplane_api::{
    cluster_api::{cluster::Cluster, machine::Machine},
    constants::{annotations, ours},
    hyperplane::distribution_release::DistributionRelease,
    hypershift::{hosted_cluster::HostedCluster, hosted_control_plane::HostedControlPlane, node_pool::NodePool},
    infrastructure::{agent_cluster::AgentCluster, kubevirt_cluster::KubevirtCluster},
};
use hyperplane_objects::Kind;
use hyperplane_runtime::{Manager, Store, Watch};
use k8s_openapi::api::{
    apps::v1::Deployment,
    core::v1::{ConfigMap, Namespace, Secret},
    discovery::v1::EndpointSlice,
    networking::v1::{NetworkPolicy, ServiceCIDR},
    rbac::v1::{ClusterRole, ClusterRoleBinding, Role, RoleBinding},
};
use kube::{ResourceExt as _, core::PartialObjectMeta};

use crate::{
    infra_id, names,
    nodes::{self, PlainNode, Wishes},
    settings::{ManagementNetworks, ServedKinds},
    surroundings,
};

/// The index of namespaces by the user that their pods run as.
const USER_ID_INDEX: &str = "security-context-uid";
/// The index of objects by the cluster that they are made for.
const CLUSTER_INDEX: &str = "hosted-cluster";
/// The index of pools by the title of their cluster.
const POOL_INDEX: &str = "cluster-of-pool";
/// The index of nodes that any control plane can use, by their zones.
const ZONE_INDEX: &str = "zone";
/// The index of nodes by the control planes that they are kept for.
const RESERVED_INDEX: &str = "reserved-for";
/// The index of nodes by the networks of their pods.
const POD_NETWORK_INDEX: &str = "pod-network";

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
    pub(crate) nodes: Store<PlainNode>,
    pub(crate) api_servers: Store<EndpointSlice>,
    pub(crate) service_ranges: Option<Store<ServiceCIDR>>,
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
            control_planes: infra_id::indexed(manager.store(Watch::all())),
            namespaces,
            node_pools: pools(manager),
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
            nodes: machines(manager),
            api_servers: manager.store(api_servers()),
            service_ranges: served.service_cidr.then(|| manager.store(Watch::all())),
        }
    }

    /// Whether the pods of some namespace run as this user.
    pub(crate) fn is_user_taken(&self, user: i64) -> bool {
        !self.namespaces.by_index(USER_ID_INDEX, &user.to_string()).is_empty()
    }

    /// The pools of a cluster.
    pub(crate) fn node_pools_of(&self, cluster: &HostedCluster) -> Vec<Arc<NodePool>> {
        self.node_pools.by_index(POOL_INDEX, &names::title(cluster))
    }

    /// In how many zones the management cluster has nodes that the control plane of a cluster can use. All nodes are
    /// looked at only where a user has chosen some of them.
    pub(crate) fn zones(&self, cluster: &HostedCluster) -> usize {
        let namespace = names::namespace_of(cluster);
        let wishes = Wishes::of(cluster, &namespace);
        if wishes.are_special() {
            let all = self.nodes.all();
            return nodes::zones_of(all.iter().map(AsRef::as_ref), cluster);
        }
        let shared = self.nodes.values_of_index(ZONE_INDEX);
        let mut reserved = self.nodes.by_index(RESERVED_INDEX, &namespace);
        reserved.retain(|node| node.is_usable(&wishes));
        let zones = shared.iter().map(String::as_str);
        nodes::count(zones.chain(reserved.iter().map(|node| node.zone())))
    }

    /// The networks that are closed to tenants.
    pub(crate) fn closed_networks(&self, networks: &ManagementNetworks) -> Vec<String> {
        let slices = self.api_servers.all();
        let ranges = self.service_ranges.iter().flat_map(Store::all).collect::<Vec<_>>();
        surroundings::closed(
            slices.iter().map(AsRef::as_ref),
            ranges.iter().map(AsRef::as_ref),
            &self.nodes.values_of_index(POD_NETWORK_INDEX),
            &networks.closed,
        )
    }
}

fn pools(manager: &Manager) -> Store<NodePool> {
    let store: Store<NodePool> = manager.store(Watch::all());
    store.add_index(POOL_INDEX, |pool| {
        let namespace = pool.namespace().unwrap_or_default();
        vec![format!("{namespace}/{}", pool.spec.cluster_name.as_str())]
    });
    store
}

fn machines(manager: &Manager) -> Store<PlainNode> {
    let store: Store<PlainNode> = manager.store(Watch::all());
    store.add_index(ZONE_INDEX, |node| {
        let is_shared = node.is_usable(&Wishes::default());
        is_shared.then(|| node.zone().to_owned()).into_iter().collect()
    });
    store.add_index(RESERVED_INDEX, PlainNode::reserved_for);
    store.add_index(POD_NETWORK_INDEX, |node| node.spec.pod_networks.clone());
    store
}

/// The watch of where the API server of the management cluster is.
pub(crate) fn api_servers() -> Watch<EndpointSlice> {
    Watch::namespace(surroundings::API_SERVER_NAMESPACE).labels(surroundings::API_SERVER_SELECTOR)
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
    Watch::all().labels(&ours::selector())
}

/// The watch of everything of a kind that others make.
pub(crate) fn of_others<K: Kind>() -> Watch<K> {
    Watch::all().labels(&ours::others_selector())
}
