//! Whose change causes a run: the pool's cluster and control plane, everything that is made for a pool, and everything that
//! it refers to.

use std::collections::BTreeSet;

use hyperplane_api::{
    cluster_api::{
        machine::Machine, machine_deployment::MachineDeployment, machine_health_check::MachineHealthCheck,
        machine_set::MachineSet,
    },
    constants::{annotations, objects::copies},
    hyperplane::distribution_release::DistributionRelease,
    hypershift::{hosted_cluster::HostedCluster, hosted_control_plane::HostedControlPlane, node_pool::NodePool},
    infrastructure::{agent_machine::AgentMachineTemplate, kubevirt_machine::KubevirtMachineTemplate},
};
use hyperplane_runtime::{ControllerBuilder, ObjectKey, Watch};
use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use kube::{ResourceExt as _, core::PartialObjectMeta};

use crate::{
    names,
    reconciler::NodePools,
    stores::{Stores, core, of_others, ours, pool_of_set},
};

/// The index of pools by the title of their cluster.
const CLUSTERS: &str = "cluster";
/// The index of pools by the namespace of the control plane of their cluster.
const NAMESPACES: &str = "control-plane-namespace";
/// The index of pools by the image of their release.
const IMAGES: &str = "release-image";
/// The index of pools by the ConfigMaps that they refer to.
const SOURCES: &str = "sources";

/// Adds all of them.
pub(crate) fn add<'m>(builder: ControllerBuilder<'m, NodePools>, stores: &Stores) -> ControllerBuilder<'m, NodePools> {
    let pool = annotations::NODE_POOL.as_str();
    let mut builder = builder
        .owns_by_annotation(ours::<Secret>(), pool)
        .owns_by_annotation(ours::<MachineDeployment>(), pool)
        .owns_by_annotation(ours::<Machine>(), pool)
        .owns_by_annotation(ours::<MachineHealthCheck>(), pool)
        .watches(ours::<MachineSet>(), of_set)
        .reads(&stores.releases)
        .reads(&stores.user_config_maps);
    // What a provider says moves its Machine as well, which causes the run.
    if let Some(instances) = &stores.instances {
        builder = builder.reads(instances);
    }
    if stores.kubevirt.is_some() {
        builder = builder.owns_by_annotation(ours::<KubevirtMachineTemplate>(), pool);
    }
    if stores.agents.is_some() {
        builder = builder.owns_by_annotation(ours::<AgentMachineTemplate>(), pool);
    }
    referenced(builder, stores)
}

/// Objects that say nothing of the pools which they concern.
fn referenced<'m>(builder: ControllerBuilder<'m, NodePools>, stores: &Stores) -> ControllerBuilder<'m, NodePools> {
    let clusters = stores.clusters.clone();
    builder
        .watches_referenced(Watch::<HostedCluster>::all(), CLUSTERS, cluster, |cluster| {
            vec![ObjectKey::of(cluster).to_string()]
        })
        .watches_referenced(Watch::<HostedControlPlane>::all(), NAMESPACES, namespace, |plane| {
            plane.namespace().into_iter().collect()
        })
        .watches_referenced(core(), NAMESPACES, namespace, |config_map| {
            config_map.namespace().into_iter().collect()
        })
        // Certificates of the ignition server, and copies of trust bundles.
        .watches_referenced(ours::<ConfigMap>(), NAMESPACES, namespace, |config_map| {
            config_map.namespace().into_iter().collect()
        })
        .watches_referenced(ours::<Secret>(), NAMESPACES, namespace, |secret| {
            let is_read = [copies::PULL_SECRET, copies::SSH_KEY].contains(&&*secret.name_any());
            secret.namespace().filter(|_| is_read).into_iter().collect()
        })
        .watches_referenced(Watch::<DistributionRelease>::all(), IMAGES, image, |release| {
            release.spec.image.iter().map(ToString::to_string).collect()
        })
        // A version of a control plane is judged by its release: one that comes back lets pools roll. Releases change
        // rarely, so that all clusters are looked through.
        .watches_referenced(Watch::<DistributionRelease>::all(), CLUSTERS, cluster, move |release| {
            let all = clusters.all();
            let ours = all.iter().filter(|cluster| has_release(cluster, release));
            ours.map(|cluster| ObjectKey::of(cluster.as_ref()).to_string())
                .collect()
        })
        .watches_referenced(
            of_others::<PartialObjectMeta<ConfigMap>>(),
            SOURCES,
            sources,
            |config_map| vec![ObjectKey::of(config_map).to_string()],
        )
}

fn of_set(set: &MachineSet) -> BTreeSet<ObjectKey> {
    let title = pool_of_set(set);
    let key = title.as_deref().and_then(|title| title.split_once('/'));
    key.map(|(namespace, name)| ObjectKey::namespaced(namespace, name))
        .into_iter()
        .collect()
}

/// Whether the control plane of a cluster has, or had, a release.
fn has_release(cluster: &HostedCluster, release: &DistributionRelease) -> bool {
    let Some(image) = release.spec.image.as_ref().map(ToString::to_string) else {
        return false;
    };
    let status = cluster.status.as_ref();
    let own = status.and_then(|status| status.control_plane_version.as_ref());
    let whole = status.and_then(|status| status.version.as_ref());
    let of_plane = own.into_iter().flat_map(|own| &own.history).map(|update| &update.image);
    let of_whole = whole
        .into_iter()
        .flat_map(|whole| &whole.history)
        .map(|update| &update.image);
    let mut images = of_plane.chain(of_whole).map(String::as_str);
    cluster.spec.release.image.as_str() == image || images.any(|one| one == image)
}

fn cluster(pool: &NodePool) -> Vec<String> {
    vec![names::cluster_title(pool)]
}

fn namespace(pool: &NodePool) -> Vec<String> {
    vec![names::control_plane_namespace(pool)]
}

fn image(pool: &NodePool) -> Vec<String> {
    vec![pool.spec.release.image.as_str().to_owned()]
}

fn sources(pool: &NodePool) -> Vec<String> {
    let namespace = pool.namespace().unwrap_or_default();
    let key = |name: &String| ObjectKey::namespaced(&namespace, name).to_string();
    pool.spec.config.iter().map(|reference| key(&reference.name)).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::testing;

    #[test]
    fn a_release_concerns_pools_of_control_planes_that_have_or_had_it() {
        let release = |image: &str| testing::distribution_release(&json!({"spec": {"image": image}}));
        let update = json!({"state": "Completed", "version": "1.35.1", "image": "example.com/old:1",
            "startedTime": "2027-01-01T00:00:00Z"});
        let plane = json!({"status": {"controlPlaneVersion": {"history": [update]}}});
        let cluster = testing::cluster(&plane);
        assert!(has_release(&cluster, &release("example.com/old:1")));
        assert!(
            has_release(&cluster, &release(testing::IMAGE)),
            "the one that is asked for"
        );
        assert!(!has_release(&cluster, &release("example.com/other:1")));
    }
}
