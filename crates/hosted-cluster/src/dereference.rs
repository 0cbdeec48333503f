//! Everything that a run looks at before it decides. Reads only: from the caches, and of users' objects whatever has
//! changed since it was last copied.

mod members;
mod sources;

use std::{collections::BTreeMap, sync::Arc};

use hyperplane_api::{
    cluster_api::cluster::Cluster,
    constants::{objects::components, ours},
    hyperplane::distribution_release::DistributionRelease,
    hypershift::{
        hosted_cluster::{HostedCluster, InfraId},
        hosted_control_plane::HostedControlPlane,
        node_pool::NodePool,
    },
};
use hyperplane_component_driver::Driver;
use hyperplane_components::Objects;
use hyperplane_runtime::{Context, Failure, ObjectKey};
use k8s_openapi::api::{
    apps::v1::Deployment,
    core::v1::{Namespace, Service},
};
use kube::ResourceExt as _;

pub(crate) use self::sources::{Content, Source, State};
use crate::{
    elsewhere::Outcome,
    infra_id, metadata, names,
    recovery::{self, Etcd},
    references,
    settings::ManagementNetworks,
    stores::Stores,
};

/// What a run has seen.
#[derive(Clone, Debug, Default)]
pub(crate) struct Seen {
    /// The namespace that the control plane is to live in, whoever made it.
    pub(crate) namespace: Option<Arc<Namespace>>,
    /// The control plane.
    pub(crate) control_plane: Option<Arc<HostedControlPlane>>,
    /// What stands for the cluster in Cluster API.
    pub(crate) cluster_api: Option<Arc<Cluster>>,
    /// The pools of the cluster.
    pub(crate) node_pools: Vec<Arc<NodePool>>,
    /// Everything that a release can come from.
    pub(crate) releases: Vec<Arc<DistributionRelease>>,
    /// What the cluster refers to.
    pub(crate) sources: Vec<Source>,
    /// Secrets and ConfigMaps in the namespace of the control plane.
    pub(crate) objects: Objects,
    /// Services there.
    pub(crate) services: Vec<Arc<Service>>,
    /// Its etcd, where members of it can be brought back.
    pub(crate) etcd: Option<Etcd>,
    /// The ignition server.
    pub(crate) ignition_server: Option<Arc<Deployment>>,
    /// In how many zones the management cluster has nodes for the control plane.
    pub(crate) zones: usize,
    /// Networks of the management cluster that are closed to tenants.
    pub(crate) closed_networks: Vec<String>,
    /// The other cluster that has the name of this one's infrastructure, and had it first.
    pub(crate) infra_id_holder: Option<String>,
    /// Secrets beside the cluster that have a name which we need, and are not ours.
    pub(crate) taken_names: Vec<String>,
    /// Namespaces that exist among those that the cluster names.
    pub(crate) namespaces: BTreeMap<String, bool>,
    /// What the last visit to the cluster with the machines came to, if that is another one.
    pub(crate) elsewhere: Option<Outcome>,
}

/// Looks at everything.
pub(crate) async fn dereference(
    context: &Context,
    stores: &Stores,
    driver: &Driver,
    networks: &ManagementNetworks,
    cluster: &HostedCluster,
) -> Result<Seen, Failure> {
    let name = names::namespace_of(cluster);
    let namespace = stores.namespaces.get(&ObjectKey::cluster(&name));
    // What is in a namespace that was made for somebody else is none of this cluster's business.
    let is_ours = namespace
        .as_ref()
        .is_some_and(|found| metadata::is_claimed(found, cluster));
    let objects = if is_ours {
        driver.objects(&name)
    } else {
        Objects::default()
    };
    let etcd = if is_ours && recovery::is_possible(cluster) {
        Some(members::read(context, driver, &name).await?)
    } else {
        recovery::is_possible(cluster).then(Etcd::default)
    };
    let (orders, _) = references::orders(cluster);
    let sources = sources::read(context, stores, cluster, &objects, orders).await?;
    let control_plane = stores.control_planes.namespace(&name).get(&cluster.name_any());
    let control_plane = control_plane.filter(|_| is_ours);
    let infra_id = cluster.spec.infra_id.as_ref().map(InfraId::as_str);
    Ok(Seen {
        namespace,
        infra_id_holder: infra_id.and_then(|id| {
            let all = stores.control_planes.by_index(infra_id::INDEX, id);
            infra_id::holder(control_plane.as_deref(), &all, &name)
        }),
        control_plane,
        cluster_api: infra_id
            .and_then(|id| stores.clusters.namespace(&name).get(id))
            .filter(|_| is_ours),
        node_pools: stores.node_pools_of(cluster),
        releases: stores.releases.all(),
        sources,
        objects,
        services: if is_ours { driver.services(&name) } else { Vec::new() },
        etcd,
        ignition_server: stores
            .deployments
            .namespace(&name)
            .get(components::IGNITION_SERVER)
            .filter(|_| is_ours),
        zones: stores.zones(cluster),
        closed_networks: stores.closed_networks(networks),
        taken_names: taken_names(stores, cluster),
        namespaces: named_namespaces(stores, cluster),
        elsewhere: None,
    })
}

fn taken_names(stores: &Stores, cluster: &HostedCluster) -> Vec<String> {
    let beside = stores.user_secrets.namespace(cluster.namespace().unwrap_or_default());
    let is_taken = |name: &String| beside.get(name).is_some_and(|found| !ours::is_ours(found.as_ref()));
    names::beside(cluster).into_iter().filter(is_taken).collect()
}

fn named_namespaces(stores: &Stores, cluster: &HostedCluster) -> BTreeMap<String, bool> {
    let agents = cluster.spec.platform.agent.as_ref();
    let name = agents.map(|agents| agents.agent_namespace.clone());
    let exists = |name: String| {
        let found = stores.namespaces.get(&ObjectKey::cluster(&name)).is_some();
        (name, found)
    };
    name.map(exists).into_iter().collect()
}
