//! A server at rest: nothing is written, and nothing runs.

use std::time::Duration;

use serde_json::json;
use tokio::time::sleep;

use crate::{
    definitions::define,
    simulation_ground::{End, Ground, owner},
};

#[tokio::test(start_paused = true)]
async fn at_rest_nothing_is_written_and_nothing_runs() {
    let mut ground = Ground::new().await;
    ground.namespace("a").await;
    define(&ground, "leaves", "Leaf").await;
    let path = "/api/v1/namespaces/a/configmaps";
    let root = ground.create(path, &json!({"metadata": {"name": "root"}})).await;
    ground
        .create(
            path,
            &json!({"metadata": {"name": "held", "finalizers": ["x.test/f"], "ownerReferences": [owner(&root, true)]}}),
        )
        .await;
    let unknown = json!({"apiVersion": "y.test/v1", "kind": "Twig", "name": "t", "uid": "u"});
    ground
        .create(
            path,
            &json!({"metadata": {"name": "of-unknown", "ownerReferences": [unknown]}}),
        )
        .await;
    ground.delete_with(&format!("{path}/root"), "Foreground").await;
    ground.namespace("b").await;
    ground
        .create(
            "/api/v1/namespaces/b/configmaps",
            &json!({"metadata": {"name": "held", "finalizers": ["x.test/f"]}}),
        )
        .await;
    ground.delete("/api/v1/namespaces/b").await;
    for end in [None, Some(End::Close), Some(End::Kill)] {
        if let Some(end) = end {
            ground.restart(end).await;
        }
        ground.settle().await;
        let (revision, polls) = (ground.revision().await, ground.polls());
        sleep(Duration::from_hours(24)).await;
        assert_eq!(ground.polls(), polls, "no controller runs, {end:?}");
        assert_eq!(ground.revision().await, revision, "nothing is written, {end:?}");
    }
    let event = json!({
        "metadata": {"name": "e"}, "reason": "Tested", "type": "Normal",
        "involvedObject": {"apiVersion": "v1", "kind": "Namespace", "name": "a", "namespace": "a"},
    });
    ground.create("/api/v1/namespaces/a/events", &event).await;
    sleep(Duration::from_secs(1)).await;
    let (revision, polls) = (ground.revision().await, ground.polls());
    sleep(Duration::from_hours(24)).await;
    assert_eq!(ground.revision().await, revision + 1, "an Event ends");
    assert!(ground.polls() - polls < 8, "{} runs for that", ground.polls() - polls);
}
