//! Hosted clusters that do not answer: their machines wait, and those of others do not.

use hyperplane_api::cluster_api::{machine_deployment::MachineDeployment, machine_status::MachinePhase};
use serde_json::json;

use crate::world::World;

#[tokio::test(start_paused = true)]
async fn a_silent_cluster_holds_up_nobody_else() {
    let world = World::settled(1, json!({})).await;
    // Many more than are worked on at a time.
    world.silent_tenant(200).await;
    world.pass(60).await;
    let more = json!({"spec": {"replicas": 3}});
    world.change::<MachineDeployment>("pool", more).await;
    world.pass(40).await;
    let machines = world.machines().await;
    let phases = machines
        .values()
        .map(|machine| machine.status.as_ref().and_then(|status| status.phase.clone()));
    let phases: Vec<Option<MachinePhase>> = phases.collect();
    assert_eq!(phases, [(); 3].map(|()| Some(MachinePhase::Running)));
}
