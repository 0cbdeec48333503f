//! The life of one cluster: created, looked at, upgraded, restarted, deleted.

use std::time::Duration;

use serde_json::json;
use tokio::time::sleep;

use crate::ground::Ground;

#[tokio::test(start_paused = true)]
async fn a_cluster_comes_up_and_rests() {
    let ground = Ground::new(1).await;
    let operators = ground.start().await;
    ground.cluster("one", json!({})).await;
    ground.until_condition("one", "Available", "True").await;
    ground.until_version("one", "1.36.4").await;
    sleep(Duration::from_mins(10)).await;
    let mark = ground.written();
    sleep(Duration::from_hours(3)).await;
    assert_eq!(ground.since(mark), Default::default());
    operators.stop().await;
}
