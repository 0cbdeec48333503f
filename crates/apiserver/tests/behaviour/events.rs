//! Objects that end by themselves.

use std::time::Duration;

use base64::{Engine as _, prelude::BASE64_STANDARD};
use serde_json::{Value, json};
use tokio::time::sleep;

use crate::simulation_ground::{End, Ground};

const PATH: &str = "/api/v1/namespaces/default/events";

fn event(name: &str) -> Value {
    json!({
        "metadata": {"name": name}, "reason": "Tested", "message": "m", "type": "Normal",
        "involvedObject": {"apiVersion": "v1", "kind": "Namespace", "name": "default", "namespace": "default"},
    })
}

fn minutes(count: u64) -> Duration {
    Duration::from_mins(count)
}

#[tokio::test(start_paused = true)]
async fn events_of_both_groups_end_an_hour_after_their_last_write() {
    let ground = Ground::new().await;
    ground.create(PATH, &event("core")).await;
    ground.create(PATH, &event("again")).await;
    let other = json!({
        "metadata": {"name": "other"}, "reason": "Tested", "action": "Test", "type": "Normal", "note": "n",
        "eventTime": "2026-01-02T03:04:05.000000Z", "reportingController": "test", "reportingInstance": "test-1",
        "regarding": {"apiVersion": "v1", "kind": "Namespace", "name": "default", "namespace": "default"},
    });
    ground
        .create("/apis/events.k8s.io/v1/namespaces/default/events", &other)
        .await;
    sleep(minutes(30)).await;
    ground.patch(&format!("{PATH}/again"), &json!({"count": 2})).await;
    sleep(minutes(29)).await;
    assert_eq!(ground.names(PATH).await, ["again", "core", "other"]);
    sleep(minutes(2)).await;
    assert_eq!(ground.names(PATH).await, ["again"]);
    sleep(minutes(28)).await;
    assert_eq!(ground.names(PATH).await, ["again"]);
    sleep(minutes(2)).await;
    assert!(ground.names(PATH).await.is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_restart_neither_prolongs_nor_shortens_a_life() {
    let mut ground = Ground::new().await;
    ground.create(PATH, &event("a")).await;
    let mut odd = event("from-the-future");
    odd["lastTimestamp"] = json!("2999-01-01T00:00:00Z");
    ground.create(PATH, &odd).await;
    sleep(minutes(20)).await;
    ground.patch(&format!("{PATH}/a"), &json!({"count": 2})).await;
    sleep(minutes(20)).await;
    ground.restart(End::Kill).await;
    sleep(minutes(39)).await;
    assert_eq!(ground.names(PATH).await, ["a", "from-the-future"]);
    sleep(minutes(2)).await;
    assert_eq!(ground.names(PATH).await, ["from-the-future"]);
    ground.restart(End::Close).await;
    sleep(minutes(61)).await;
    assert!(ground.names(PATH).await.is_empty());
}

#[tokio::test(start_paused = true)]
async fn what_ended_while_the_server_was_away_goes_when_it_is_back() {
    let mut ground = Ground::new().await;
    ground.create(PATH, &event("a")).await;
    ground.world.server.close();
    sleep(minutes(90)).await;
    ground.restart(End::Close).await;
    sleep(Duration::from_millis(10)).await;
    assert!(ground.names(PATH).await.is_empty());
}

#[tokio::test(start_paused = true)]
async fn bootstrap_tokens_end_when_they_say() {
    let ground = Ground::new().await;
    let path = "/api/v1/namespaces/kube-system/secrets";
    let token = |name: &str, expiration: &str| {
        let encoded = |text: &str| BASE64_STANDARD.encode(text);
        json!({
            "metadata": {"name": format!("bootstrap-token-{name}")}, "type": "bootstrap.kubernetes.io/token",
            "data": {
                "token-id": encoded(name), "token-secret": encoded("0123456789abcdef"), "expiration": encoded(expiration),
            },
        })
    };
    ground.create(path, &token("aaaaaa", "2026-01-02T04:00:00Z")).await;
    ground.create(path, &token("bbbbbb", "2026-01-02T05:00:00Z")).await;
    sleep(minutes(60)).await;
    assert_eq!(ground.names(path).await, ["bootstrap-token-bbbbbb"]);
    sleep(minutes(60)).await;
    assert!(ground.names(path).await.is_empty());
}
