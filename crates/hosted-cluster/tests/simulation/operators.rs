//! Programs that run for a cluster in its namespace: operators of its own where it asks for them, and those of Cluster API,
//! which outlive the machines.

use std::time::Duration;

use hyperplane_api::{
    cluster_api::machine::Machine,
    constants::{annotations, finalizers, objects::roles, ours},
    hypershift::{control_plane_component::ControlPlaneComponent, hosted_cluster::HostedCluster},
};
use k8s_openapi::api::{apps::v1::Deployment, rbac::v1::ClusterRole};
use kube::ResourceExt as _;
use serde_json::json;
use tokio::time::sleep;

use crate::world::{HOME, World};

const INSIDE: &str = "clusters-blue";

#[tokio::test(start_paused = true)]
async fn operators_are_shared_unless_a_cluster_asks_for_its_own() {
    let (world, process) = World::settled(json!({})).await;
    let mode = async || {
        let control_plane = world.control_plane("blue").await.unwrap();
        control_plane.annotations()[ours::TENANT_OPERATORS.as_str()].clone()
    };
    let own_rights = "/hypershift-control-plane-operator-clusters-blue".to_owned();
    assert_eq!(mode().await, "shared");
    assert!(
        world
            .get::<Deployment>(INSIDE, roles::CONTROL_PLANE_OPERATOR)
            .await
            .is_none()
    );
    assert!(!world.ours::<ClusterRole>().await.contains(&own_rights));
    let change =
        |value: serde_json::Value| json!({"metadata": {"annotations": {ours::TENANT_OPERATORS.as_str(): value}}});
    world
        .patch::<HostedCluster>(HOME, "blue", change(json!("dedicated")))
        .await;
    world.settle().await;
    assert_eq!(mode().await, "dedicated");
    assert!(
        world
            .get::<Deployment>(INSIDE, roles::CONTROL_PLANE_OPERATOR)
            .await
            .is_some()
    );
    assert!(world.ours::<ClusterRole>().await.contains(&own_rights));
    world.patch::<HostedCluster>(HOME, "blue", change(json!(null))).await;
    world.settle().await;
    assert_eq!(mode().await, "shared");
    assert!(
        world
            .get::<Deployment>(INSIDE, roles::CONTROL_PLANE_OPERATOR)
            .await
            .is_none()
    );
    assert!(!world.ours::<ClusterRole>().await.contains(&own_rights));
    assert_eq!(world.refusals(), [] as [&str; 0]);
    process.stop().await;
}

#[tokio::test(start_paused = true)]
async fn agents_have_a_provider_although_their_control_plane_has_no_platform() {
    let images = json!({
        annotations::CAPI_MANAGER_IMAGE.as_str(): "registry.example.com/manager:1",
        annotations::CAPI_PROVIDER_AGENT_IMAGE.as_str(): "registry.example.com/provider:1",
    });
    let agents = json!({"type": "Agent", "agent": {"agentNamespace": HOME}});
    let change = json!({"metadata": {"annotations": images}, "spec": {"platform": agents}});
    let (world, process) = World::settled(change).await;
    let report = world.get::<ControlPlaneComponent>(INSIDE, "capi-provider").await;
    assert!(report.is_some(), "{:?}", world.conditions("blue").await);
    process.stop().await;
}

#[tokio::test(start_paused = true)]
async fn programs_that_end_machines_are_held_until_there_are_none() {
    let images = json!({
        annotations::CAPI_MANAGER_IMAGE.as_str(): "registry.example.com/manager:1",
        annotations::CAPI_PROVIDER_KUBEVIRT_IMAGE.as_str(): "registry.example.com/provider:1",
    });
    let kubevirt = json!({"type": "KubeVirt", "kubevirt": {}});
    let change = json!({"metadata": {"annotations": images}, "spec": {"platform": kubevirt}});
    let (world, process) = World::settled(change).await;
    let pod = json!({"metadata": {"labels": {"app": "cluster-api"}},
        "spec": {"containers": [{"name": "manager", "image": "registry.example.com/manager:1"}]}});
    let deployment = json!({"metadata": {"name": "cluster-api", "namespace": INSIDE,
            "labels": {ours::MANAGED_BY.as_str(): ours::MANAGED_BY_US},
            "annotations": {annotations::CLUSTER.as_str(): "clusters/blue"}},
        "spec": {"selector": {"matchLabels": {"app": "cluster-api"}}, "template": pod}});
    if world.get::<Deployment>(INSIDE, "cluster-api").await.is_none() {
        world.create::<Deployment>(Some(INSIDE), deployment).await;
    }
    world.settle().await;
    let is_held = async || {
        let deployment = world.get::<Deployment>(INSIDE, "cluster-api").await;
        deployment.is_some_and(|found| {
            found
                .finalizers()
                .iter()
                .any(|one| one == finalizers::COMPONENT.as_str())
        })
    };
    assert!(is_held().await);
    let infra_id = world.hosted_cluster("blue").await.spec.infra_id.unwrap();
    let machine = json!({"apiVersion": "cluster.x-k8s.io/v1beta2", "kind": "Machine",
        "metadata": {"name": "worker-1", "namespace": INSIDE, "finalizers": ["example.com/held"]},
        "spec": {"clusterName": infra_id, "bootstrap": {"dataSecretName": "data"}, "infrastructureRef":
            {"apiGroup": "infrastructure.cluster.x-k8s.io", "kind": "KubevirtMachine", "name": "worker-1"}}});
    world.create::<Machine>(Some(INSIDE), machine).await;
    world.delete::<HostedCluster>(HOME, "blue").await;
    sleep(Duration::from_mins(10)).await;
    assert!(is_held().await, "its machine is there");
    let let_go = json!({"metadata": {"finalizers": null}});
    world.patch::<Machine>(INSIDE, "worker-1", let_go).await;
    sleep(Duration::from_mins(5)).await;
    assert!(world.get::<HostedCluster>(HOME, "blue").await.is_none());
    assert!(world.namespace(INSIDE).await.is_none());
    process.stop().await;
}
