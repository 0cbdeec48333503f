//! What goes wrong: processes that crash, others who write at the same time, and objects that somebody deletes or changes.

use std::{collections::BTreeMap, time::Duration};

use hyperplane_api::hypershift::{hosted_cluster::HostedCluster, hosted_control_plane::HostedControlPlane};
use k8s_openapi::api::{
    core::v1::{ConfigMap, Secret, ServiceAccount},
    networking::v1::NetworkPolicy,
    rbac::v1::{ClusterRole, ClusterRoleBinding, Role, RoleBinding},
};
use kube::{Api, api::ListParams};
use serde_json::{Value, json};
use tokio::time::sleep;

use crate::world::{HOME, Known, World};

const INSIDE: &str = "clusters-blue";

/// What is there, without what differs from one world to the next.
async fn objects<K: Known>(world: &World, into: &mut BTreeMap<String, Value>) {
    let api: Api<K> = Api::all(world.client.clone());
    let selector = "app.kubernetes.io/managed-by=hyperplane";
    for object in api.list(&ListParams::default().labels(selector)).await.unwrap() {
        let mut value = serde_json::to_value(&object).unwrap();
        let meta = value["metadata"].take();
        let key = format!("{} {} {}", K::kind(&()), meta["namespace"], meta["name"]);
        value["metadata"] = json!({"labels": meta["labels"], "finalizers": meta["finalizers"]});
        value["status"] = Value::Null;
        value["data"] = Value::Null;
        value["secrets"] = Value::Null;
        value["spec"]["infraID"] = Value::Null;
        value["spec"]["clusterID"] = Value::Null;
        value["spec"]["kubeconfig"] = Value::Null;
        if let Some(labels) = value["metadata"]["labels"].as_object_mut() {
            labels.remove("cluster.x-k8s.io/cluster-name");
        }
        into.insert(key, value);
    }
}

async fn everything(world: &World) -> BTreeMap<String, Value> {
    let mut all = BTreeMap::new();
    objects::<Secret>(world, &mut all).await;
    objects::<ConfigMap>(world, &mut all).await;
    objects::<ServiceAccount>(world, &mut all).await;
    objects::<Role>(world, &mut all).await;
    objects::<RoleBinding>(world, &mut all).await;
    objects::<ClusterRole>(world, &mut all).await;
    objects::<ClusterRoleBinding>(world, &mut all).await;
    objects::<NetworkPolicy>(world, &mut all).await;
    objects::<HostedControlPlane>(world, &mut all).await;
    all
}

#[tokio::test(start_paused = true)]
async fn a_crash_anywhere_ends_with_the_same_objects() {
    let (undisturbed, process) = World::settled(json!({})).await;
    let expected = everything(&undisturbed).await;
    process.stop().await;
    let world = World::new().await;
    world.cluster("blue", json!({})).await;
    for attempt in 0..60_u32 {
        let process = world.start();
        // On paused time a process gets as far as its own waits let it; each gets a little further.
        for _ in 0..attempt * 9 {
            tokio::task::yield_now().await;
        }
        sleep(Duration::from_millis(u64::from(attempt))).await;
        process.crash().await;
    }
    let process = world.start();
    world.settle().await;
    assert_eq!(everything(&world).await, expected);
    let position = world.position();
    sleep(Duration::from_hours(3)).await;
    assert_eq!(world.writes_since(position), [] as [&str; 0]);
    process.stop().await;
}

#[tokio::test(start_paused = true)]
async fn whoever_writes_at_the_same_time_is_not_overwritten() {
    let world = World::new().await;
    world.cluster("blue", json!({})).await;
    let process = world.start();
    for round in 0..40_u32 {
        let key = format!("example.com/round-{round}");
        let change = json!({"metadata": {"annotations": {key: "yes"}}});
        world.patch::<HostedCluster>(HOME, "blue", change).await;
        for _ in 0..round * 5 {
            tokio::task::yield_now().await;
        }
    }
    sleep(Duration::from_mins(3)).await;
    let cluster = world.hosted_cluster("blue").await;
    let annotations = cluster.metadata.annotations.unwrap();
    assert!((0..40).all(|round| annotations.contains_key(&format!("example.com/round-{round}"))));
    assert!(cluster.spec.infra_id.is_some());
    assert!(world.control_plane("blue").await.is_some());
    assert_eq!(world.conditions("blue").await["ReconciliationSucceeded"].0, "True");
    process.stop().await;
}

#[tokio::test(start_paused = true)]
async fn what_somebody_deletes_or_changes_comes_back() {
    let (world, process) = World::settled(json!({})).await;
    let expected = everything(&world).await;
    world.delete::<NetworkPolicy>(INSIDE, "default-deny").await;
    world.delete::<Role>(INSIDE, "control-plane-operator").await;
    world.delete::<Secret>(INSIDE, "pull-secret").await;
    world.delete::<HostedControlPlane>(INSIDE, "blue").await;
    world
        .patch::<NetworkPolicy>(INSIDE, "same-namespace", json!({"spec": {"ingress": [{}]}}))
        .await;
    sleep(Duration::from_mins(3)).await;
    assert_eq!(everything(&world).await, expected);
    process.stop().await;
}
