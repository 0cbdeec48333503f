//! A Cluster says what its infrastructure and its control plane have come to, and lets go when no machine is left.

use std::collections::BTreeMap;

use hyperplane_api::{
    cluster_api::{
        cluster::Cluster,
        cluster_status::{ClusterPhase, ClusterStatus},
        machine::Machine,
        machine_deployment::MachineDeployment,
    },
    hypershift::hosted_control_plane::HostedControlPlane,
    infrastructure::kubevirt_cluster::KubevirtCluster,
};
use serde_json::{Value, json};

use crate::{
    samples,
    world::{HOME, World, named},
};

async fn status(world: &World) -> ClusterStatus {
    world.here::<Cluster>().get("c").await.unwrap().status.unwrap()
}

/// Statuses of conditions by type.
async fn told(world: &World) -> BTreeMap<String, String> {
    let conditions = status(world).await.conditions.into_iter();
    conditions.map(|found| (found.type_, found.status)).collect()
}

async fn steps(world: &World) -> (bool, bool) {
    let steps = status(world).await.initialization.unwrap_or_default();
    (
        steps.infrastructure_provisioned == Some(true),
        steps.control_plane_initialized == Some(true),
    )
}

/// Gives the cluster of a world what it refers to, neither of which says anything yet.
async fn refer(world: &World) {
    world.make::<KubevirtCluster>(json!({"metadata": named("c")})).await;
    let control_plane = samples::hosted_control_plane(&json!({"metadata": {"name": "a", "namespace": HOME}}));
    world.make::<HostedControlPlane>(control_plane).await;
    let reference = |group: &str, kind: &str, name: &str| json!({"apiGroup": group, "kind": kind, "name": name});
    let spec = json!({
        "infrastructureRef": reference("infrastructure.cluster.x-k8s.io", "KubevirtCluster", "c"),
        "controlPlaneRef": reference("hypershift.openshift.io", "HostedControlPlane", "a"),
    });
    world.change::<Cluster>("c", json!({"spec": spec})).await;
    world.pass(5).await;
}

/// What a control plane says that has served, and of now.
fn serving(available: &str) -> Value {
    json!({"ready": available == "True", "initialized": true, "initialization": {"controlPlaneInitialized": true},
        "controlPlaneEndpoint": {"host": "api.example.com", "port": 443}, "conditions": [{
            "type": "Available", "status": available, "reason": "Test", "message": "",
            "lastTransitionTime": "2027-01-15T08:00:00Z"}]})
}

#[tokio::test(start_paused = true)]
async fn a_cluster_tells_what_it_consists_of() {
    let world = World::new().await;
    world.pass(5).await;
    assert_eq!(status(&world).await.phase, Some(ClusterPhase::Pending));
    refer(&world).await;
    assert_eq!(status(&world).await.phase, Some(ClusterPhase::Provisioning));
    assert_eq!(steps(&world).await, (false, false));
    // Each is noticed when it happens, and not at some later look.
    world.say::<KubevirtCluster>("c", json!({"ready": true})).await;
    world.pass(5).await;
    assert_eq!(steps(&world).await, (true, false));
    assert_eq!(status(&world).await.phase, Some(ClusterPhase::Provisioning));
    world.say::<HostedControlPlane>("a", serving("True")).await;
    world.pass(5).await;
    assert_eq!(steps(&world).await, (true, true));
    let cluster = world.here::<Cluster>().get("c").await.unwrap();
    let endpoint = cluster.spec.control_plane_endpoint.unwrap();
    assert_eq!(
        (endpoint.host.as_deref(), endpoint.port),
        (Some("api.example.com"), Some(443))
    );
    let good = status(&world).await;
    assert_eq!(good.phase, Some(ClusterPhase::Provisioned));
    assert_eq!(good.observed_generation, cluster.metadata.generation);
    assert_eq!(told(&world).await["Available"], "True");
    let position = world.ground.position();
    world.pass(900).await;
    assert_eq!(world.ground.writes_since(position), [""; 0]);
    world.say::<HostedControlPlane>("a", serving("False")).await;
    world.delete::<KubevirtCluster>("c").await;
    world.pass(5).await;
    assert_eq!(steps(&world).await, (true, true), "what was done stays done");
    let bad = told(&world).await;
    for type_ in ["InfrastructureReady", "ControlPlaneAvailable", "Available"] {
        assert_eq!(bad[type_], "False", "{type_}");
    }
    assert_eq!(bad["ControlPlaneInitialized"], "True");
    assert_eq!(world.ground.refusals(), [""; 0]);
}

#[tokio::test(start_paused = true)]
async fn a_cluster_without_a_finalizer_goes_at_once_and_takes_nothing_along() {
    let world = World::settled(2, json!({})).await;
    world.delete::<Cluster>("c").await;
    world.pass(60).await;
    assert!(world.here::<Cluster>().get_opt("c").await.unwrap().is_none());
    assert_eq!(world.names().await.len(), 2);
    assert_eq!(world.nodes().await.len(), 2);
}

#[tokio::test(start_paused = true)]
async fn nobody_empties_nodes_of_a_cluster_that_goes() {
    let world = World::settled(2, json!({})).await;
    let finalizers = json!({"metadata": {"finalizers": ["cluster.cluster.x-k8s.io"]}});
    world.change::<Cluster>("c", finalizers).await;
    let names = world.names().await;
    world.budget("db", "db", 0).await;
    world.run_pod(&names[0], "db-0", json!({"labels": {"app": "db"}})).await;
    world.attach(&names[1], &["disk"]).await;
    world.delete::<Cluster>("c").await;
    world.delete::<MachineDeployment>("pool").await;
    world.pass(120).await;
    assert_eq!(
        world.names().await,
        [""; 0],
        "neither budgets nor volumes are waited for"
    );
    assert_eq!(world.pods().await, ["db-0"], "nobody evicted it");
    assert!(world.here::<Cluster>().get_opt("c").await.unwrap().is_none());
    assert_eq!(world.ground.refusals(), [""; 0]);
}

#[tokio::test(start_paused = true)]
async fn nodes_are_emptied_although_somebody_deleted_the_cluster_object() {
    let world = World::settled(1, json!({})).await;
    let control_plane = samples::hosted_control_plane(&json!({"metadata": {"name": "a", "namespace": HOME}}));
    world.make::<HostedControlPlane>(control_plane).await;
    let name = world.names().await.remove(0);
    world.budget("db", "db", 0).await;
    world.run_pod(&name, "db-0", json!({"labels": {"app": "db"}})).await;
    world.pass(5).await;
    world.delete::<Cluster>("c").await;
    world.pass(5).await;
    world.delete::<Machine>(&name).await;
    world.pass(120).await;
    assert_eq!(world.names().await, [name], "a budget holds the pod");
    assert_eq!(world.pods().await, ["db-0"]);
}

#[tokio::test(start_paused = true)]
async fn a_finalizer_that_another_manager_left_is_taken_off_after_the_last_machine() {
    let world = World::settled(2, json!({})).await;
    let finalizers = json!(["cluster.cluster.x-k8s.io", "example.com/other"]);
    world
        .change::<Cluster>("c", json!({"metadata": {"finalizers": finalizers}}))
        .await;
    world.delete::<Cluster>("c").await;
    world.pass(60).await;
    let found = status(&world).await;
    assert_eq!(found.phase, Some(ClusterPhase::Deleting));
    let deleting = found.conditions.iter().find(|found| found.type_ == "Deleting").unwrap();
    let left = "1 machine deployments, 1 machine sets and 2 machines are left";
    assert_eq!((deleting.status.as_str(), deleting.message.as_str()), ("True", left));
    world.delete::<MachineDeployment>("pool").await;
    world.pass(120).await;
    let cluster = world.here::<Cluster>().get("c").await.unwrap();
    let others = cluster.metadata.finalizers.unwrap_or_default();
    assert_eq!(others, ["example.com/other"], "and no other finalizer");
    let position = world.ground.position();
    world.pass(300).await;
    assert_eq!(world.ground.writes_since(position), [""; 0]);
    assert_eq!(world.ground.refusals(), [""; 0]);
}
