//! Logs of containers, which whoever runs the pods answers.

use std::sync::Arc;

use hyperplane_apiserver::{LogFailure, LogRequest};
use serde_json::json;

use crate::support::World;

const PATH: &str = "/api/v1/namespaces/default/pods";

async fn with_pod(world: &World) {
    let pod = json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}, "spec": {
        "nodeName": "n", "containers": [{"name": "main", "image": "a:1"}]}});
    let (status, created) = world.post(PATH, &pod).await;
    assert_eq!(status, 201, "{created:#}");
}

#[tokio::test(start_paused = true)]
async fn without_kubelets_there_are_no_logs() {
    let world = World::new().await;
    with_pod(&world).await;
    let (status, answer) = world.get(&format!("{PATH}/a/log")).await;
    assert_eq!(status, 503, "{answer}");
    let (status, _) = world.get(&format!("{PATH}/b/log")).await;
    assert_eq!(status, 404);
}

#[tokio::test(start_paused = true)]
async fn kubelets_answer_for_their_containers() {
    let world = World::new().await;
    with_pod(&world).await;
    world.server.answer_logs(Arc::new(|request: &LogRequest| {
        assert_eq!(
            (request.container.as_str(), &request.pod["metadata"]["name"]),
            ("main", &json!("a"))
        );
        if request.is_previous {
            return Err(LogFailure::Unreachable(
                "dial tcp 10.0.0.1:10250: i/o timeout".to_owned(),
            ));
        }
        Ok("one\ntwo\n".to_owned())
    }));
    let (status, text) = world.get(&format!("{PATH}/a/log?follow=true")).await;
    assert_eq!((status.as_u16(), text), (200, json!("one\ntwo\n")));
    let (_, text) = world.get(&format!("{PATH}/a/log?tailLines=1")).await;
    assert_eq!(text, json!("two\n"));
    let (status, refused) = world.get(&format!("{PATH}/a/log?previous=true")).await;
    assert_eq!(status, 500);
    assert_eq!(refused["message"], "dial tcp 10.0.0.1:10250: i/o timeout");
    let (status, refused) = world.get(&format!("{PATH}/a/log?container=other")).await;
    assert_eq!(status, 400);
    assert_eq!(refused["message"], "container other is not valid for pod a");
    let (status, _) = world.get(&format!("{PATH}/b/log")).await;
    assert_eq!(status, 404);
}
