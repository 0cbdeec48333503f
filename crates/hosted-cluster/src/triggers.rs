//! Whose change causes a run: everything that is made for a cluster, and everything that it refers to.

use std::collections::BTreeSet;

use hyperplane_api::{
    cluster_api::{cluster::Cluster, machine::Machine},
    constants::annotations,
    hyperplane::distribution_release::DistributionRelease,
    hypershift::{hosted_cluster::HostedCluster, hosted_control_plane::HostedControlPlane, node_pool::NodePool},
    infrastructure::{agent_cluster::AgentCluster, kubevirt_cluster::KubevirtCluster},
};
use hyperplane_runtime::{ControllerBuilder, ObjectKey, Watch};
use k8s_openapi::api::{
    core::v1::{ConfigMap, Namespace, Secret},
    networking::v1::{NetworkPolicy, ServiceCIDR},
    rbac::v1::{ClusterRole, ClusterRoleBinding},
};
use kube::{ResourceExt as _, core::PartialObjectMeta};

use crate::{
    infra_id, names,
    reconciler::HostedClusters,
    references::{self, SourceKind},
    stores::{Stores, api_servers, of_others, ours},
};

/// The index of clusters by the objects of users that matter to them.
const SOURCES: &str = "sources";
/// The index of clusters by the images of their releases.
const IMAGES: &str = "release-images";
/// The index of clusters by the namespace of their control plane, or what they name as such.
const NAMESPACES: &str = "namespaces";
/// The index of clusters that are being deleted by the namespace of their control plane.
const LEAVING: &str = "namespaces-of-leaving";

/// The index under which every cluster is found.
const EVERYTHING: &str = "everything";

/// Adds all of them. Nodes say something every few seconds, and cause no run: what they bring is taken up with the next
/// one, at the latest when all clusters are looked at again.
pub(crate) fn add<'m>(
    builder: ControllerBuilder<'m, HostedClusters>,
    stores: &Stores,
) -> ControllerBuilder<'m, HostedClusters> {
    let cluster = annotations::CLUSTER.as_str();
    let mut builder = builder
        .owns_by_annotation(Watch::<HostedControlPlane>::all(), cluster)
        .owns_by_annotation(ours::<Cluster>(), cluster)
        .owns_by_annotation(ours::<NetworkPolicy>(), cluster)
        .owns_by_annotation(ours::<ClusterRole>(), cluster)
        .owns_by_annotation(ours::<ClusterRoleBinding>(), cluster)
        .owns_by_annotation(Watch::<Namespace>::all(), cluster)
        .watches(Watch::<NodePool>::all(), cluster_of)
        .reads(&stores.nodes)
        .watches_referenced(api_servers(), EVERYTHING, everything, |_| everyone());
    if stores.service_ranges.is_some() {
        builder = builder.watches_referenced(Watch::<ServiceCIDR>::all(), EVERYTHING, everything, |_| everyone());
    }
    if stores.kubevirt.is_some() {
        builder = builder.owns_by_annotation(ours::<KubevirtCluster>(), cluster);
    }
    if stores.agents.is_some() {
        builder = builder.owns_by_annotation(ours::<AgentCluster>(), cluster);
    }
    referenced(builder)
}

/// Objects that say nothing of the clusters which they concern.
fn referenced(builder: ControllerBuilder<'_, HostedClusters>) -> ControllerBuilder<'_, HostedClusters> {
    builder
        .watches_referenced(Watch::<DistributionRelease>::all(), IMAGES, release_images, |release| {
            release.spec.image.iter().map(ToString::to_string).collect()
        })
        .watches_referenced(of_others::<PartialObjectMeta<Secret>>(), SOURCES, sources, |secret| {
            source(SourceKind::Secret, secret.namespace(), &secret.name_any())
        })
        .watches_referenced(
            of_others::<PartialObjectMeta<ConfigMap>>(),
            SOURCES,
            sources,
            |config_map| source(SourceKind::ConfigMap, config_map.namespace(), &config_map.name_any()),
        )
        // A control plane that goes leaves the name of its infrastructure to whoever waits for it.
        .watches_referenced(
            Watch::<HostedControlPlane>::all(),
            infra_id::INDEX,
            infra_id::of_cluster,
            infra_id::of_control_plane,
        )
        // A namespace that somebody else made matters to whoever wants its name.
        .watches_referenced(Watch::<Namespace>::all(), NAMESPACES, namespaces, |namespace| {
            vec![namespace.name_any()]
        })
        // Machines matter to a deletion only, and change with every step of every rollout.
        .watches_referenced(
            Watch::<PartialObjectMeta<Machine>>::all(),
            LEAVING,
            namespace_of_leaving,
            |machine| machine.namespace().into_iter().collect(),
        )
}

fn everything(_: &HostedCluster) -> Vec<String> {
    everyone()
}

fn everyone() -> Vec<String> {
    vec![EVERYTHING.to_owned()]
}

fn cluster_of(pool: &NodePool) -> BTreeSet<ObjectKey> {
    let namespace = pool.namespace().unwrap_or_default();
    [ObjectKey::namespaced(namespace, pool.spec.cluster_name.as_str())].into()
}

fn release_images(cluster: &HostedCluster) -> Vec<String> {
    let spec = &cluster.spec;
    let releases = [Some(&spec.release), spec.control_plane_release.as_ref()];
    let images = releases
        .into_iter()
        .flatten()
        .map(|release| release.image.as_str().to_owned());
    images.collect()
}

/// What a cluster refers to, and the names that it needs for Secrets of its own.
fn sources(cluster: &HostedCluster) -> Vec<String> {
    let namespace = cluster.namespace().unwrap_or_default();
    let own = names::beside(cluster);
    let own = own
        .iter()
        .map(|name| references::index_key(SourceKind::Secret, &namespace, name));
    references::index_of(cluster).into_iter().chain(own).collect()
}

fn source(kind: SourceKind, namespace: Option<String>, name: &str) -> Vec<String> {
    vec![references::index_key(kind, &namespace.unwrap_or_default(), name)]
}

fn namespaces(cluster: &HostedCluster) -> Vec<String> {
    let agents = cluster.spec.platform.agent.as_ref();
    let named = agents.map(|agents| agents.agent_namespace.clone());
    named.into_iter().chain([names::namespace_of(cluster)]).collect()
}

fn namespace_of_leaving(cluster: &HostedCluster) -> Vec<String> {
    let deleted = cluster.metadata.deletion_timestamp.as_ref();
    deleted.map(|_| names::namespace_of(cluster)).into_iter().collect()
}

#[cfg(test)]
mod tests {
    use hyperplane_runtime::conditions::written;
    use jiff::Timestamp;

    use super::*;
    use crate::testing;

    #[test]
    fn machines_concern_only_clusters_that_go() {
        let mut cluster = testing::cluster(&serde_json::json!({}));
        assert_eq!(namespace_of_leaving(&cluster), [""; 0]);
        cluster.metadata.deletion_timestamp = Some(written(Timestamp::UNIX_EPOCH));
        assert_eq!(namespace_of_leaving(&cluster), [names::namespace_of(&cluster)]);
    }
}
