//! Machines that stay unhealthy are replaced, as long as they are few.

use hyperplane_api::cluster_api::machine_health_check::MachineHealthCheck;
use serde_json::{Value, json};

use crate::world::World;

/// Nodes may be silent for five minutes, of which so many machines at a time.
fn check(trigger: &Value) -> Value {
    json!({
        "checks": {"unhealthyNodeConditions": [{"type": "Ready", "status": "Unknown", "timeoutSeconds": 300}]},
        "remediation": {"triggerIf": trigger},
    })
}

async fn verdict(world: &World) -> (String, Option<i32>) {
    let check = world.here::<MachineHealthCheck>().get("pool").await.unwrap();
    let status = check.status.unwrap();
    let mut conditions = status.conditions.into_iter();
    let allowed = conditions.find(|found| found.type_ == "RemediationAllowed").unwrap();
    (allowed.status, status.current_healthy)
}

#[tokio::test(start_paused = true)]
async fn a_silent_node_is_replaced_and_the_others_are_not() {
    let world = World::settled(3, json!({})).await;
    world
        .health_check(check(&json!({"unhealthyLessThanOrEqualTo": 1})))
        .await;
    world.pass(60).await;
    let before = world.names().await;
    assert_eq!(verdict(&world).await, ("True".to_owned(), Some(3)));
    let position = world.position();
    world.pass(300).await;
    assert_eq!(world.writes_since(position), [""; 0]);
    world.report(&before[1], "Unknown").await;
    world.pass(200).await;
    let after = world.names().await;
    assert_eq!(after.len(), 3);
    assert!(after.contains(&before[0]) && after.contains(&before[2]) && !after.contains(&before[1]));
    assert_eq!(world.nodes().await.len(), 3);
    assert_eq!(world.events("MachineMarkedUnhealthy").await.len(), 1);
    assert_eq!(world.refusals(), [""; 0]);
}

#[tokio::test(start_paused = true)]
async fn too_many_are_left_alone_and_told_of_once() {
    let world = World::settled(3, json!({})).await;
    world
        .health_check(check(&json!({"unhealthyLessThanOrEqualTo": "40%"})))
        .await;
    world.pass(60).await;
    let before = world.names().await;
    for name in &before[..2] {
        world.report(name, "Unknown").await;
    }
    world.pass(600).await;
    assert_eq!(world.names().await, before);
    assert_eq!(verdict(&world).await, ("False".to_owned(), Some(1)));
    let position = world.position();
    world.pass(600).await;
    assert_eq!(world.writes_since(position), [""; 0]);
    assert_eq!(world.events("RemediationRestricted").await.len(), 1);
    world.report(&before[0], "True").await;
    world.pass(300).await;
    let after = world.names().await;
    assert!(after.contains(&before[0]) && !after.contains(&before[1]), "{after:?}");
}
