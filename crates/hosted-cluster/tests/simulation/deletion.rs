//! The end of a cluster: in order, saying what it waits for, leaving nothing behind, wherever a process is cut short.

use std::time::Duration;

use hyperplane_api::{
    cluster_api::{cluster::Cluster, machine::Machine, machine_deployment::MachineDeployment, machine_set::MachineSet},
    constants::annotations,
    hypershift::{hosted_cluster::HostedCluster, hosted_control_plane::HostedControlPlane, node_pool::NodePool},
    infrastructure::kubevirt_cluster::KubevirtCluster,
};
use k8s_openapi::api::{
    core::v1::{Namespace, Pod, Secret},
    rbac::v1::{ClusterRole, ClusterRoleBinding},
};
use kube::api::DeleteParams;
use serde_json::{Value, json};
use tokio::time::sleep;

use crate::{
    samples::IMAGE,
    world::{HOME, World},
};

const INSIDE: &str = "clusters-blue";

fn held() -> Value {
    json!({"metadata": {"finalizers": ["example.com/held"]}})
}

fn let_go() -> Value {
    json!({"metadata": {"finalizers": null}})
}

async fn is_gone(world: &World) -> bool {
    world.get::<HostedCluster>(HOME, "blue").await.is_none()
}

async fn nothing_is_left(world: &World) {
    assert!(is_gone(world).await);
    assert_eq!(world.ours::<Namespace>().await, [] as [&str; 0]);
    assert_eq!(world.ours::<HostedControlPlane>().await, [] as [&str; 0]);
    assert_eq!(world.ours::<ClusterRole>().await, [] as [&str; 0]);
    assert_eq!(world.ours::<ClusterRoleBinding>().await, [] as [&str; 0]);
    assert_eq!(world.ours::<Secret>().await, [] as [&str; 0]);
    assert!(
        world.get::<Secret>(HOME, "registry").await.is_some(),
        "it is the user's"
    );
}

async fn waits_for(world: &World) -> String {
    let conditions = world.conditions("blue").await;
    assert_eq!(conditions["Progressing"].1, "Deleting");
    conditions["Progressing"].2.clone()
}

/// A pool and a machine, and finalizers of others on all that is to go.
async fn hold_everything(world: &World, infra_id: &str) {
    let pool = json!({"apiVersion": "hypershift.openshift.io/v1beta1", "kind": "NodePool",
        "metadata": {"name": "workers", "namespace": HOME, "finalizers": ["example.com/held"]},
        "spec": {"clusterName": "blue", "release": {"image": IMAGE}, "replicas": 0,
            "management": {"upgradeType": "Replace"},
            "platform": {"type": "KubeVirt", "kubevirt": {"rootVolume": {"type": "Persistent",
                "image": {"containerDiskImage": "registry.example.com/disk:1"}}}}}});
    world.create::<NodePool>(Some(HOME), pool).await;
    let machine = json!({"apiVersion": "cluster.x-k8s.io/v1beta2", "kind": "Machine",
        "metadata": {"name": "worker-1", "namespace": INSIDE, "finalizers": ["example.com/held"]},
        "spec": {"clusterName": infra_id, "bootstrap": {"dataSecretName": "data"}, "infrastructureRef":
            {"apiGroup": "infrastructure.cluster.x-k8s.io", "kind": "KubevirtMachine", "name": "worker-1"}}});
    world.create::<Machine>(Some(INSIDE), machine).await;
    world.patch::<Cluster>(INSIDE, infra_id, held()).await;
    world.patch::<HostedControlPlane>(INSIDE, "blue", held()).await;
    world.settle().await;
}

#[tokio::test(start_paused = true)]
async fn a_cluster_is_taken_apart_in_order() {
    let kubevirt = json!({"spec": {"platform": {"type": "KubeVirt", "kubevirt": {}}}});
    let (world, process) = World::settled(kubevirt).await;
    let infra_id = world.hosted_cluster("blue").await.spec.infra_id.unwrap();
    let infra_id = infra_id.as_str();
    hold_everything(&world, infra_id).await;
    let is_leaving = async || {
        let cluster = world.get::<Cluster>(INSIDE, infra_id).await.unwrap();
        cluster.metadata.deletion_timestamp.is_some()
    };

    world.delete::<HostedCluster>(HOME, "blue").await;
    world.settle().await;
    assert!(waits_for(&world).await.contains("NodePools to be gone: workers"));
    assert!(is_leaving().await, "or machines would empty their nodes first");
    let is_machine_leaving = async || {
        let machine = world.get::<Machine>(INSIDE, "worker-1").await.unwrap();
        machine.metadata.deletion_timestamp.is_some()
    };
    assert!(!is_machine_leaving().await, "its pool is there");
    world.patch::<NodePool>(HOME, "workers", let_go()).await;
    world.settle().await;
    let said = waits_for(&world).await;
    assert!(
        said.contains("Machines to be gone: worker-1 (held by example.com/held)"),
        "{said}"
    );
    assert!(is_machine_leaving().await, "nobody else deletes it");
    world.patch::<Cluster>(INSIDE, infra_id, let_go()).await;
    world.settle().await;
    assert!(waits_for(&world).await.contains("Machines to be gone: worker-1"));
    let control_plane = world.control_plane("blue").await.unwrap();
    assert!(control_plane.metadata.deletion_timestamp.is_none());
    world.patch::<Machine>(INSIDE, "worker-1", let_go()).await;
    world.settle().await;
    let condition = json!({"type": "CloudResourcesDestroyed", "status": "False", "reason": "RemainingCloudResources",
        "message": "2 volumes", "lastTransitionTime": "2027-01-15T08:00:00Z"});
    world.report(INSIDE, "blue", json!({"conditions": [condition]})).await;
    world.settle().await;
    let said = waits_for(&world).await;
    assert!(
        said.contains("HostedControlPlane to be gone (RemainingCloudResources: 2 volumes)"),
        "{said}"
    );
    assert_eq!(world.conditions("blue").await["CloudResourcesDestroyed"].0, "False");
    let namespace = world.namespace(INSIDE).await.unwrap();
    assert!(namespace.metadata.deletion_timestamp.is_none());
    world.patch::<HostedControlPlane>(INSIDE, "blue", let_go()).await;
    sleep(Duration::from_mins(5)).await;
    nothing_is_left(&world).await;
    assert_eq!(world.refusals(), [] as [&str; 0]);
    process.stop().await;
}

#[tokio::test(start_paused = true)]
async fn pods_of_a_control_plane_that_goes_end_soon() {
    let (world, process) = World::settled(json!({})).await;
    let container = json!({"name": "kube-apiserver", "image": "kube-apiserver:1", "securityContext": {
        "allowPrivilegeEscalation": false, "capabilities": {"drop": ["ALL"]}}});
    let pod = json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "kube-apiserver", "namespace": INSIDE},
        "spec": {"nodeName": "a", "terminationGracePeriodSeconds": 135, "containers": [container],
            "securityContext": {"runAsNonRoot": true, "seccompProfile": {"type": "RuntimeDefault"}}}});
    world.create::<Pod>(Some(INSIDE), pod).await;
    world.delete::<HostedCluster>(HOME, "blue").await;
    sleep(Duration::from_mins(1)).await;
    let pod = world.get::<Pod>(INSIDE, "kube-apiserver").await.unwrap();
    assert_eq!(
        pod.metadata.deletion_grace_period_seconds,
        Some(5),
        "nobody is served any more"
    );
    // Its kubelet ends it.
    let now = DeleteParams::default().grace_period(0);
    world.api::<Pod>(INSIDE).delete("kube-apiserver", &now).await.unwrap();
    sleep(Duration::from_mins(5)).await;
    nothing_is_left(&world).await;
    assert_eq!(world.refusals(), [] as [&str; 0]);
    process.stop().await;
}

#[tokio::test(start_paused = true)]
async fn the_object_stays_for_its_grace_period_over_a_restart() {
    let key = annotations::DESTROY_GRACE_PERIOD.as_str();
    let (world, process) = World::settled(json!({"metadata": {"annotations": {key: "2h"}}})).await;
    world.delete::<HostedCluster>(HOME, "blue").await;
    sleep(Duration::from_mins(30)).await;
    assert!(world.namespace(INSIDE).await.is_none());
    assert_eq!(
        world.conditions("blue").await["HostedClusterDestroyed"].1,
        "WaitingForGracePeriod"
    );
    process.stop().await;
    let position = world.position();
    let process = world.start();
    sleep(Duration::from_hours(1)).await;
    assert!(!is_gone(&world).await);
    let written: Vec<String> = world.writes_since(position);
    assert!(written.iter().all(|line| line.contains("events")), "{written:?}");
    sleep(Duration::from_mins(35)).await;
    nothing_is_left(&world).await;
    process.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_paused_or_invalid_cluster_can_be_deleted() {
    let change = json!({"spec": {"platform": {"type": "KubeVirt", "kubevirt": {}}}});
    let (world, process) = World::settled(change).await;
    let change = json!({"spec": {"pausedUntil": "true", "labels": {"app": "wrong"}}});
    world.patch::<HostedCluster>(HOME, "blue", change).await;
    world.settle().await;
    world.delete::<HostedCluster>(HOME, "blue").await;
    sleep(Duration::from_mins(5)).await;
    nothing_is_left(&world).await;
    process.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_namespace_can_be_kept() {
    let key = annotations::SKIP_CONTROL_PLANE_NAMESPACE_DELETION.as_str();
    let change = json!({"metadata": {"annotations": {key: "true"}},
        "spec": {"platform": {"type": "KubeVirt", "kubevirt": {}}}});
    let (world, process) = World::settled(change).await;
    assert_eq!(world.ours::<KubevirtCluster>().await.len(), 1);
    world.delete::<HostedCluster>(HOME, "blue").await;
    sleep(Duration::from_mins(5)).await;
    assert!(is_gone(&world).await);
    assert_eq!(world.ours::<Cluster>().await, [] as [&str; 0]);
    assert_eq!(
        world.ours::<KubevirtCluster>().await,
        [] as [&str; 0],
        "nobody else would delete it"
    );
    assert!(world.namespace(INSIDE).await.is_some() && world.control_plane("blue").await.is_none());
    assert_eq!(world.ours::<ClusterRole>().await, [] as [&str; 0]);
    process.stop().await;
}

#[tokio::test(start_paused = true)]
async fn the_cluster_stays_for_machines_that_we_end() {
    let mut world = World::new().await;
    world.runs_machines = true;
    let kubevirt = json!({"spec": {"platform": {"type": "KubeVirt", "kubevirt": {}}}});
    world.cluster("blue", kubevirt).await;
    let process = world.start();
    world.settle().await;
    let infra_id = world.hosted_cluster("blue").await.spec.infra_id.unwrap();
    let infra_id = infra_id.as_str();
    hold_everything(&world, infra_id).await;
    world.delete::<HostedCluster>(HOME, "blue").await;
    world.settle().await;
    let cluster = world.get::<Cluster>(INSIDE, infra_id).await.unwrap();
    assert!(cluster.metadata.deletion_timestamp.is_some());
    let finalizers = cluster.metadata.finalizers.unwrap_or_default();
    assert_eq!(finalizers, ["example.com/held", "cluster.cluster.x-k8s.io"]);
    world.patch::<NodePool>(HOME, "workers", let_go()).await;
    world.settle().await;
    world.patch::<Machine>(INSIDE, "worker-1", let_go()).await;
    world.settle().await;
    let said = waits_for(&world).await;
    let expected = "the Cluster of Cluster API to be gone (held by example.com/held)";
    assert!(said.contains(expected), "{said}");
    world.patch::<Cluster>(INSIDE, infra_id, let_go()).await;
    world.patch::<HostedControlPlane>(INSIDE, "blue", let_go()).await;
    sleep(Duration::from_mins(5)).await;
    nothing_is_left(&world).await;
    assert_eq!(world.refusals(), [] as [&str; 0]);
    process.stop().await;
}

#[tokio::test(start_paused = true)]
async fn machines_without_a_pool_hold_nothing_up_and_nobody_elses_go() {
    let key = annotations::SKIP_CONTROL_PLANE_NAMESPACE_DELETION.as_str();
    let change = json!({"metadata": {"annotations": {key: "true"}},
        "spec": {"platform": {"type": "KubeVirt", "kubevirt": {}}}});
    let (world, process) = World::settled(change).await;
    let infra_id = world.hosted_cluster("blue").await.spec.infra_id.unwrap();
    let labels = json!({"pool": "by-hand"});
    let machine = |cluster: &str| {
        json!({"clusterName": cluster, "bootstrap": {"dataSecretName": "data"}, "infrastructureRef":
            {"apiGroup": "infrastructure.cluster.x-k8s.io", "kind": "KubevirtMachineTemplate", "name": "t"}})
    };
    let group = |cluster: &str| {
        json!({"clusterName": cluster, "replicas": 0, "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": machine(cluster)}})
    };
    let object = |kind: &str, name: &str, spec: Value| {
        json!({"apiVersion": "cluster.x-k8s.io/v1beta2", "kind": kind,
            "metadata": {"name": name, "namespace": INSIDE}, "spec": spec})
    };
    for (name, cluster) in [("by-hand", infra_id.as_str()), ("foreign", "another")] {
        let deployment = object("MachineDeployment", name, group(cluster));
        world.create::<MachineDeployment>(Some(INSIDE), deployment).await;
        let set = object("MachineSet", name, group(cluster));
        world.create::<MachineSet>(Some(INSIDE), set).await;
    }
    let worker = object("Machine", "by-hand", machine(infra_id.as_str()));
    world.create::<Machine>(Some(INSIDE), worker).await;
    world.settle().await;
    world.delete::<HostedCluster>(HOME, "blue").await;
    sleep(Duration::from_mins(5)).await;
    assert!(is_gone(&world).await, "{}", waits_for(&world).await);
    assert!(world.get::<Machine>(INSIDE, "by-hand").await.is_none());
    assert!(world.get::<MachineSet>(INSIDE, "by-hand").await.is_none());
    assert!(world.get::<MachineDeployment>(INSIDE, "by-hand").await.is_none());
    assert!(world.get::<MachineSet>(INSIDE, "foreign").await.is_some());
    assert!(world.get::<MachineDeployment>(INSIDE, "foreign").await.is_some());
    assert_eq!(world.refusals(), [] as [&str; 0]);
    process.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_crash_anywhere_leaves_nothing_behind() {
    let world = World::new().await;
    for attempt in 0..40_u32 {
        let kubevirt = json!({"spec": {"platform": {"type": "KubeVirt", "kubevirt": {}}}});
        world.cluster("blue", kubevirt).await;
        // Each gets a little further before its cluster is deleted, and again before it ends.
        cut_short(&world, attempt, 11).await;
        world.delete::<HostedCluster>(HOME, "blue").await;
        cut_short(&world, attempt, 7).await;
        let process = world.start();
        sleep(Duration::from_mins(5)).await;
        nothing_is_left(&world).await;
        process.stop().await;
    }
}

/// Starts a process that crashes after a while.
async fn cut_short(world: &World, attempt: u32, pace: u32) {
    let process = world.start();
    for _ in 0..attempt * pace {
        tokio::task::yield_now().await;
    }
    sleep(Duration::from_millis(u64::from(attempt) * 3)).await;
    process.crash().await;
}

#[tokio::test(start_paused = true)]
async fn rights_that_outlive_their_cluster_are_swept_and_control_planes_are_not() {
    let (world, process) = World::settled(json!({})).await;
    // Somebody takes the cluster away by force.
    world.patch::<HostedCluster>(HOME, "blue", let_go()).await;
    process.crash().await;
    world.patch::<HostedCluster>(HOME, "blue", let_go()).await;
    world.delete::<HostedCluster>(HOME, "blue").await;
    assert!(is_gone(&world).await);
    let process = world.start();
    sleep(Duration::from_mins(5)).await;
    assert!(
        world.control_plane("blue").await.is_some(),
        "nobody has said that it may go"
    );
    world.delete::<HostedControlPlane>(INSIDE, "blue").await;
    sleep(Duration::from_mins(5)).await;
    nothing_is_left(&world).await;
    process.stop().await;
}
