//! What a user sees of pools when nothing goes wrong: made, rolled, left alone, emptied, held.

use std::{collections::BTreeSet, time::Duration};

use k8s_openapi::api::core::v1::{Event, Secret};
use kube::api::{DeleteParams, ListParams};
use serde_json::json;

use crate::{
    ground::{Ground, Process, USERS},
    manifests::{pace, pool, to_release},
    snapshot::{INSIDE, Snapshot, annotation, text},
    watch::Watch,
};

const OLD: &str = "1.35.8";
const NEW: &str = "1.36.4";

/// A cluster with two pools whose nodes are ready.
async fn two_pools(ground: &Ground, plane: &str, nodes: &str) -> Process {
    let operators = ground.start().await;
    ground.cluster_for_pools(plane).await;
    for name in ["alpha", "beta"] {
        ground.pool(pool(name, nodes, 2, &json!({}))).await;
    }
    operators
}

/// Versions of the kubelets of a pool.
fn kubelets(now: &Snapshot, pool: &str) -> BTreeSet<String> {
    let hosted = now.hosted.as_ref().unwrap();
    let names = Watch::nodes_of(now, pool);
    let nodes = names.iter().filter_map(|name| hosted.nodes.get(name));
    nodes
        .map(|node| {
            text(node, "/status/nodeInfo/kubeletVersion")
                .trim_start_matches('v')
                .to_owned()
        })
        .collect()
}

fn versions(version: &str) -> BTreeSet<String> {
    BTreeSet::from([version.to_owned()])
}

#[tokio::test(start_paused = true)]
async fn a_release_of_one_pool_rolls_it_and_nothing_else() {
    let ground = Ground::new(61).await;
    let operators = two_pools(&ground, NEW, OLD).await;
    let mut watch = Watch::new(&ground);
    let before = watch.settle().await;
    assert_eq!(before.machines.len(), 4);
    assert_eq!(kubelets(&before, "alpha"), versions(OLD));
    watch.history.asked.may_roll.insert("alpha".to_owned());
    ground.change_pool("alpha", &to_release(NEW)).await;
    watch.pass(Duration::from_mins(1)).await;
    let after = watch.settle().await;
    assert_eq!(kubelets(&after, "alpha"), versions(NEW));
    assert_eq!(kubelets(&after, "beta"), versions(OLD));
    assert!(Watch::nodes_of(&before, "alpha").is_disjoint(&Watch::nodes_of(&after, "alpha")));
    assert_eq!(Watch::nodes_of(&before, "beta"), Watch::nodes_of(&after, "beta"));
    assert_eq!(text(&after.pools["alpha"], "/status/version"), NEW);
    assert_eq!(text(&after.pools["beta"], "/status/version"), OLD);
    operators.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_machine_config_rolls_and_taints_do_not() {
    let ground = Ground::new(62).await;
    let operators = two_pools(&ground, NEW, NEW).await;
    let mut watch = Watch::new(&ground);
    let before = watch.settle().await;
    let taint = json!({"key": "example.com/color", "value": "blue", "effect": "NoSchedule"});
    ground
        .change_pool(
            "alpha",
            &json!({"spec": {"taints": [taint], "nodeLabels": {"example.com/tier": "a"}}}),
        )
        .await;
    watch.pass(Duration::from_mins(5)).await;
    let tainted = watch.look().await;
    assert_eq!(Watch::nodes_of(&before, "alpha"), Watch::nodes_of(&tainted, "alpha"));
    let hosted = tainted.hosted.as_ref().unwrap();
    assert!(
        hosted
            .nodes
            .values()
            .all(|node| !node["spec"]["taints"].to_string().contains("example.com/color"))
    );

    watch.history.asked.may_roll.insert("beta".to_owned());
    ground.machine_config("motd", "hello").await;
    ground
        .change_pool("beta", &json!({"spec": {"config": [{"name": "motd"}]}}))
        .await;
    watch.pass(Duration::from_mins(1)).await;
    let after = watch.settle().await;
    assert!(Watch::nodes_of(&before, "beta").is_disjoint(&Watch::nodes_of(&after, "beta")));
    assert_eq!(Watch::nodes_of(&before, "alpha"), Watch::nodes_of(&after, "alpha"));
    let hosted = after.hosted.as_ref().unwrap();
    let mut taints = hosted.nodes.values().map(|node| node["spec"]["taints"].to_string());
    let is_closed = taints.any(|taints| taints.contains("hyperplane.dev/uninitialized"));
    assert!(!is_closed, "new nodes take pods once they are what their pools say");
    operators.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_pool_goes_to_zero_against_a_budget_when_its_time_is_over_and_says_so() {
    let ground = Ground::new(63).await;
    let operators = ground.start().await;
    ground.cluster_for_pools(NEW).await;
    ground
        .pool(pool("alpha", NEW, 2, &json!({"spec": {"nodeDrainTimeout": "10m"}})))
        .await;
    let mut watch = Watch::new(&ground);
    watch.settle().await;
    ground.workload().await;
    ground.hold_workload(true).await;
    watch.settle().await;
    ground.change_pool("alpha", &json!({"spec": {"replicas": 0}})).await;
    watch.pass(Duration::from_mins(5)).await;
    let during = watch.look().await;
    assert!(!during.machines.is_empty(), "the budget holds them");
    let told: String = during
        .machines
        .values()
        .map(|machine| machine["status"]["conditions"].to_string())
        .collect();
    assert!(
        told.contains("PodDisruptionBudget default/web") && told.contains("default/web-"),
        "{told}"
    );
    watch.pass(Duration::from_mins(7)).await;
    let after = watch.settle().await;
    assert!(after.machines.is_empty() && after.hosted.as_ref().unwrap().nodes.is_empty());
    let events = ground
        .api::<Event>(Some(INSIDE))
        .list(&ListParams::default())
        .await
        .unwrap();
    let is_told = events.iter().any(|event| {
        let message = event.message.as_deref().unwrap_or_default();
        event.reason.as_deref() == Some("DrainTimedOut") && message.contains("PodDisruptionBudget default/web")
    });
    assert!(is_told, "an event tells of the drain that was given up");
    operators.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_pool_ahead_of_its_control_plane_waits_says_why_and_goes_on_scaling() {
    let ground = Ground::new(64).await;
    let operators = two_pools(&ground, OLD, OLD).await;
    let mut watch = Watch::new(&ground);
    let before = watch.settle().await;
    watch.history.asked.may_roll.insert("alpha".to_owned());
    ground.change_pool("alpha", &to_release(NEW)).await;
    watch.pass(Duration::from_mins(5)).await;
    let [status, _, message] = ground.condition_of_pool("alpha", "SupportedVersionSkew").await.unwrap();
    assert_eq!(status, "False");
    assert!(
        message.contains("Nodes do not roll") && message.contains("1.36"),
        "{message}"
    );
    ground.change_pool("alpha", &json!({"spec": {"replicas": 3}})).await;
    watch.pass(Duration::from_mins(1)).await;
    let held = watch.settle().await;
    assert_eq!(kubelets(&held, "alpha"), versions(OLD));
    assert!(Watch::nodes_of(&before, "alpha").is_subset(&Watch::nodes_of(&held, "alpha")));
    assert_eq!(Watch::nodes_of(&held, "alpha").len(), 3);

    ground.change("one", to_release(NEW)).await;
    let arrived = |now: &Snapshot| (now.hosted.is_some() && kubelets(now, "alpha") == versions(NEW)).then_some(());
    watch.until("nodes of the new version", arrived).await;
    let after = watch.settle().await;
    assert_eq!(kubelets(&after, "beta"), versions(OLD));
    let [status, ..] = ground.condition_of_pool("alpha", "SupportedVersionSkew").await.unwrap();
    assert_eq!(status, "True");
    operators.stop().await;
}

#[tokio::test(start_paused = true)]
async fn the_pace_of_a_roll_is_that_of_the_pool() {
    let ground = Ground::new(65).await;
    let operators = ground.start().await;
    ground.cluster_for_pools(NEW).await;
    ground.pool(pool("alpha", OLD, 4, &pace(&json!(2), &json!(1)))).await;
    let mut watch = Watch::new(&ground);
    watch.settle().await;
    watch.history.asked.may_roll.insert("alpha".to_owned());
    ground.change_pool("alpha", &to_release(NEW)).await;
    let mut most = 0;
    let done = |now: &Snapshot| {
        most = most.max(now.machines.len());
        (now.hosted.is_some() && kubelets(now, "alpha") == versions(NEW)).then_some(())
    };
    watch.until("the end of the roll", done).await;
    assert_eq!(most, 6, "the pool may have two too many, and has");
    watch.settle().await;
    operators.stop().await;
}

#[tokio::test(start_paused = true)]
async fn who_insists_gets_nodes_ahead_of_the_control_plane_and_it_is_recorded() {
    let ground = Ground::new(66).await;
    let operators = ground.start().await;
    ground.cluster_for_pools(OLD).await;
    ground.pool(pool("alpha", OLD, 1, &json!({}))).await;
    Watch::new(&ground).settle().await;
    let by = "hypershift.openshift.io/skip-release-image-validation";
    ground
        .change("one", json!({"metadata": {"annotations": {by: "true"}}}))
        .await;
    ground.change_pool("alpha", &to_release(NEW)).await;
    let is_there = async || {
        let events = ground
            .api::<Event>(Some(USERS))
            .list(&ListParams::default())
            .await
            .ok()?;
        let mut told = events.into_iter().filter(|event| {
            let is_of_pool = event.involved_object.name.as_deref() == Some("alpha");
            is_of_pool && event.reason.as_deref() == Some("VersionSkewIgnored")
        });
        told.next()?.message
    };
    let told = ground.until("an event that tells of it", is_there).await;
    assert!(told.contains(by) && told.contains("1.36.4"), "{told}");
    let [status, reason, message] = ground.condition_of_pool("alpha", "SupportedVersionSkew").await.unwrap();
    assert_eq!((&*status, &*reason), ("False", "UnsupportedSkew"));
    assert!(
        message.contains("Nodes roll all the same") && message.contains(by),
        "{message}"
    );
    operators.stop().await;
}

#[tokio::test(start_paused = true)]
async fn machines_go_on_after_a_pause_whatever_else_is_wrong_with_their_pool() {
    let ground = Ground::new(67).await;
    let operators = ground.start().await;
    ground.cluster_for_pools(OLD).await;
    ground.pool(pool("alpha", OLD, 1, &json!({}))).await;
    let mut watch = Watch::new(&ground);
    watch.settle().await;
    ground
        .change_pool("alpha", &json!({"spec": {"pausedUntil": "true"}}))
        .await;
    watch.pass(Duration::from_mins(1)).await;
    let paused = |now: &Snapshot| {
        let all = now.deployments.values().chain(now.sets.values());
        all.filter(|object| annotation(object, "cluster.x-k8s.io/paused") == "true")
            .count()
    };
    let during = watch.look().await;
    assert_eq!(paused(&during), 2, "the deployment and its set");
    // Nothing can be made for it: its release is ahead, and nobody knows any more what its token stood for.
    let secrets = ground.api::<Secret>(Some(INSIDE));
    for secret in secrets.list(&ListParams::default()).await.unwrap() {
        let name = secret.metadata.name.unwrap_or_default();
        if name.starts_with("token-alpha-") {
            secrets.delete(&name, &DeleteParams::default()).await.unwrap();
        }
    }
    ground.change_pool("alpha", &to_release(NEW)).await;
    ground
        .change_pool("alpha", &json!({"spec": {"pausedUntil": null}}))
        .await;
    watch.pass(Duration::from_mins(1)).await;
    let after = watch.look().await;
    assert_eq!(paused(&after), 0);
    operators.stop().await;
}
