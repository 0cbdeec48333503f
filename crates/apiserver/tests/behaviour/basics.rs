//! Objects come, change and go.

use serde_json::json;

use crate::support::World;

#[tokio::test(start_paused = true)]
async fn a_config_map_lives_and_dies() {
    let world = World::new().await;
    let path = "/api/v1/namespaces/default/configmaps";
    let (status, created) = world
        .post(
            path,
            &json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": {"k": "v"}}),
        )
        .await;
    assert_eq!(status, 201, "{created:#}");
    let (status, found) = world.get(&format!("{path}/a")).await;
    assert_eq!(status, 200);
    assert_eq!(found, created);
    let (status, list) = world.get(path).await;
    assert_eq!(status, 200);
    println!("{list:#}");
    let (status, answer) = world.send("DELETE", &format!("{path}/a"), "", "").await;
    assert_eq!(status, 200, "{answer:#}");
    println!("{answer:#}");
    let (status, _) = world.get(&format!("{path}/a")).await;
    assert_eq!(status, 404);
}
