//! Machines that stay unhealthy are replaced, as long as they are few.

use hyperplane_api::cluster_api::{machine_health_check::MachineHealthCheck, machine_set::MachineSet};
use kube::ResourceExt;
use serde_json::{Value, json};
use tokio::sync::watch;

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

/// Whether the check has said of a machine that its set is to replace it.
async fn is_marked(world: &World, name: &str) -> bool {
    let machine = world.machines().await.remove(name).unwrap();
    let mut conditions = machine.status.unwrap().conditions.into_iter();
    conditions.any(|found| found.type_ == "OwnerRemediated" && found.status == "False")
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
    let position = world.ground.position();
    world.pass(300).await;
    assert_eq!(world.ground.writes_since(position), [""; 0]);
    world.report(&before[1], "Unknown").await;
    world.pass(200).await;
    let after = world.names().await;
    assert_eq!(after.len(), 3);
    assert!(after.contains(&before[0]) && after.contains(&before[2]) && !after.contains(&before[1]));
    assert_eq!(world.nodes().await.len(), 3);
    assert_eq!(world.events("MachineMarkedUnhealthy").await.len(), 1);
    assert_eq!(world.ground.refusals(), [""; 0]);
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
    let position = world.ground.position();
    world.pass(600).await;
    assert_eq!(world.ground.writes_since(position), [""; 0]);
    assert_eq!(world.events("RemediationRestricted").await.len(), 1);
    world.report(&before[0], "True").await;
    world.pass(300).await;
    let after = world.names().await;
    assert!(after.contains(&before[0]) && !after.contains(&before[1]), "{after:?}");
}

/// Nodes fall silent one after the other. The set hears of the mark on the first, and not that it was taken back when there
/// were too many.
#[tokio::test(start_paused = true)]
async fn a_mark_that_was_taken_back_replaces_nobody_whose_set_has_not_heard_of_it() {
    let (lag, is_lagging) = watch::channel(false);
    let world = World::lagging(3, is_lagging).await;
    world
        .health_check(check(&json!({"unhealthyLessThanOrEqualTo": 1})))
        .await;
    world.pass(120).await;
    let before = world.names().await;
    let set = world.sets().await.remove(0).name_any();
    let pause = |value: Value| json!({"metadata": {"annotations": {"cluster.x-k8s.io/paused": value}}});
    // The set acts on what it sees as soon as it may, so it may only once the mark is gone.
    world.change::<MachineSet>(&set, pause(json!(""))).await;
    world.report(&before[0], "Unknown").await;
    world.pass(60).await;
    assert!(is_marked(&world, &before[0]).await);
    lag.send_replace(true);
    world.report(&before[1], "Unknown").await;
    world.pass(60).await;
    assert!(!is_marked(&world, &before[0]).await, "two are too many");
    let position = world.ground.position();
    world.change::<MachineSet>(&set, pause(Value::Null)).await;
    world.pass(30).await;
    let writes = world.ground.writes_since(position);
    let refused = format!("\"delete\" \"machines\" null \"{}\" 409", before[0]);
    assert!(
        writes.contains(&refused),
        "the set acts on the mark, and has to be refused: {writes:?}"
    );
    lag.send_replace(false);
    world.pass(300).await;
    let machines = world.machines().await;
    let staying = machines
        .values()
        .filter(|machine| machine.metadata.deletion_timestamp.is_none());
    assert_eq!(staying.map(ResourceExt::name_any).collect::<Vec<_>>(), before);
    assert_eq!(world.events("SuccessfulDelete").await, [""; 0]);
    // The refusal keeps nobody from being replaced for good reason.
    world.report(&before[1], "True").await;
    world.pass(300).await;
    let after = world.names().await;
    assert!(after.contains(&before[1]) && !after.contains(&before[0]), "{after:?}");
    assert_eq!(world.ground.refusals(), [""; 0]);
}
