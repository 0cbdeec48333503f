//! How `hyperplane up` ends at Ctrl-C: once everything is ready, and while it still starts.

use std::{
    fs,
    process::{Command, Stdio},
};

use k8s_openapi::api::core::v1::ConfigMap;
use kube::{
    Api,
    api::{ObjectMeta, PostParams},
};
use tokio::net::TcpListener;

use crate::apiserver::{Process, soon, text};

/// The code of something that did not come in time.
const NOT_THERE: i32 = 3;

#[tokio::test]
async fn an_interrupt_ends_it_well_and_keeps_everything() {
    let parent = tempfile::tempdir().unwrap();
    let data = parent.path().join("data");
    let first = Process::up(&["--data-dir", text(&data)]);
    let maps: Api<ConfigMap> = Api::namespaced(first.client().await, "default");
    let map = ConfigMap {
        metadata: ObjectMeta {
            name: Some("kept".to_owned()),
            ..ObjectMeta::default()
        },
        ..ConfigMap::default()
    };
    let made = maps.create(&PostParams::default(), &map).await.unwrap();
    let (status, rest) = first.end("-INT");
    assert_eq!((status.code(), &*rest), (Some(0), ""));

    let again = Process::up(&["--data-dir", text(&data)]);
    let maps: Api<ConfigMap> = Api::namespaced(again.client().await, "default");
    assert_eq!(maps.get("kept").await.unwrap(), made);
    assert!(again.end("-INT").0.success());
}

#[tokio::test]
async fn an_interrupt_is_heard_while_a_silent_cluster_is_asked() {
    let silent = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = silent.local_addr().unwrap();
    let directory = tempfile::tempdir().unwrap();
    let kubeconfig = directory.path().join("kubeconfig");
    let content = serde_json::json!({
        "apiVersion": "v1", "kind": "Config", "current-context": "silent",
        "clusters": [{"name": "silent", "cluster": {"server": format!("http://{address}")}}],
        "users": [{"name": "silent", "user": {}}],
        "contexts": [{"name": "silent", "context": {"cluster": "silent", "user": "silent"}}],
    });
    fs::write(&kubeconfig, content.to_string()).unwrap();
    let child = Command::new(env!("CARGO_BIN_EXE_hyperplane"))
        .args(["up", "--kubeconfig", text(&kubeconfig)])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let id = child.id().to_string();
    // It asks, so it starts; it gets no answer, so it never gets further.
    let asked = soon("the first request", silent.accept()).await.unwrap();
    assert!(Command::new("kill").args(["-INT", &id]).status().unwrap().success());
    let ended = tokio::task::spawn_blocking(move || child.wait_with_output());
    let output = soon("the end", ended).await.unwrap().unwrap();
    drop(asked);
    let error = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(NOT_THERE), "{error}");
    assert!(
        error.ends_with("everything to be ready, which a signal ended; start again\n"),
        "{error}"
    );
}
