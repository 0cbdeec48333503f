//! At rest nothing is written, and a twin that begins anew changes nothing.

use std::time::Duration;

use k8s_openapi::api::{
    apps::v1::Deployment,
    core::v1::{Pod, Service},
};
use serde_json::json;

use crate::support::{NAMESPACE, World, deployment};

async fn settled() -> World {
    let world = World::new().await;
    world.create::<Deployment>(deployment("web", 3, "web:1")).await;
    let service = json!({"metadata": {"name": "web"}, "spec": {
        "type": "LoadBalancer", "selector": {"app": "web"}, "ports": [{"port": 80}]}});
    world.create::<Service>(service).await;
    let is_done = |deployment: &Deployment| {
        deployment
            .status
            .as_ref()
            .is_some_and(|status| status.available_replicas == Some(3))
    };
    world.until(NAMESPACE, "web", is_done).await;
    world.pass(Duration::from_mins(30)).await;
    world
}

#[tokio::test(start_paused = true)]
async fn at_rest_nothing_is_written() {
    let world = settled().await;
    // Events are kept for an hour, and their end is a write.
    world.pass(Duration::from_hours(3)).await;
    let before = world.revision().await;
    world.pass(Duration::from_hours(6)).await;
    assert_eq!(world.revision().await, before);
}

#[tokio::test(start_paused = true)]
async fn a_restart_writes_nothing() {
    let mut world = settled().await;
    world.pass(Duration::from_hours(3)).await;
    let before = world.revision().await;
    world.restart().await;
    world.pass(Duration::from_hours(2)).await;
    assert_eq!(world.revision().await, before);
}

#[tokio::test(start_paused = true)]
async fn the_same_seed_gives_the_same_world() {
    let run = async || {
        let world = settled().await;
        let pods: Vec<Pod> = world.pods(NAMESPACE, "").await;
        assert_eq!(pods.len(), 3);
        (serde_json::to_string_pretty(&pods).unwrap(), world.revision().await)
    };
    assert_eq!(run().await, run().await);
}
