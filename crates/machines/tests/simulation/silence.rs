//! Hosted clusters that do not answer: their machines wait, and those of others do not.

use std::sync::atomic::Ordering;

use hyperplane_api::cluster_api::{
    machine::Machine, machine_deployment::MachineDeployment, machine_status::MachinePhase,
};
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

#[tokio::test(start_paused = true)]
async fn our_cordon_goes_although_its_cluster_was_silent_when_the_machine_went() {
    let (world, name) = World::of_one(json!({})).await;
    world.budget("db", "db", 0).await;
    world.run_pod(&name, "db-0", json!({"labels": {"app": "db"}})).await;
    world.delete::<Machine>(&name).await;
    world.pass(60).await;
    let is_open = async || {
        let nodes = world.nodes().await;
        nodes[&name].spec.as_ref().unwrap().unschedulable != Some(true)
    };
    assert!(!is_open().await);
    world.is_silent.store(true, Ordering::Relaxed);
    world.pass(60).await;
    let free = json!({"metadata": {"finalizers": null}});
    world.change::<Machine>(&name, free).await;
    world.pass(400).await;
    assert!(!is_open().await);
    world.is_silent.store(false, Ordering::Relaxed);
    world.pass(180).await;
    assert!(is_open().await, "our cordon is left behind");
}
