//! A fault at every single step of a story, and what is left of the story afterwards.

use hyperplane_store::{Fault, OpenError};

use crate::{
    workload::Workload,
    world::{World, simulate},
};

/// Seeds whose crashes are tried every time; the last one found that old segments went before the name was durable of
/// the segment that makes them superfluous.
const CRASH_SEEDS: [u64; 4] = [0, 1, 2, 116];

/// Rounds of one story: enough for several sweeps.
const ROUNDS: usize = 40;

/// Opens the store and writes, as far as the disk goes along. Says whether it got to the end.
async fn story(world: &mut World, workload: &mut Workload, rounds: usize) -> bool {
    if world.open().is_err() {
        return false;
    }
    for _ in 0..rounds {
        let transactions = workload.round(&world.model);
        if !world.round(transactions).await {
            return false;
        }
        world.follow();
    }
    world.close().await.is_ok()
}

/// The number of steps that a story takes when nothing goes wrong.
fn length(seed: u64) -> u64 {
    simulate(async || {
        let mut world = World::new();
        assert!(story(&mut world, &mut Workload::new(seed), ROUNDS).await);
        let steps = world.disk.steps();
        world.assert_clean();
        let first = world
            .disk
            .files()
            .into_keys()
            .find(|name| name.starts_with("log-"))
            .unwrap();
        assert!(
            *first > *"log-0000000000000003",
            "the log was swept less than it should be: {first}"
        );
        steps
    })
}

/// Tells a story with a fault at one step, lets the process or the power end, and goes on after it.
async fn interrupted(seed: u64, step: u64, fault: Fault) {
    let mut world = World::new();
    let mut workload = Workload::new(seed);
    world.disk.fail_after(step, fault);
    let is_whole = story(&mut world, &mut workload, ROUNDS).await;
    assert!(!is_whole || fault == Fault::NoSpace, "the fault did not show");
    world.abandon().await;
    for _ in 0..2 {
        if workload.below(3) == 0 {
            world.disk.kill();
        } else {
            world.disk.lose_power(workload.number());
        }
        // The disk may fail again while the store recovers, or soon after.
        if workload.below(2) == 0 {
            world.disk.fail_after(workload.number() % 12, Fault::Crash);
        }
        story(&mut world, &mut workload, 3).await;
        world.abandon().await;
    }
    world.disk.lose_power(workload.number());
    world
        .open()
        .unwrap_or_else(|error: OpenError| panic!("seed {seed}, step {step}, {fault:?}: {error}"));
    world.follow();
    assert!(story_goes_on(&mut world, &mut workload).await);
    world.close().await.unwrap();
    world.assert_clean();
}

async fn story_goes_on(world: &mut World, workload: &mut Workload) -> bool {
    let transactions = workload.round(&world.model);
    let is_fine = world.round(transactions).await;
    world.follow();
    is_fine
}

fn fault_at_every_step(seed: u64, fault: Fault) {
    for step in 0..length(seed) {
        simulate(async || interrupted(seed, step, fault).await);
    }
}

#[test]
fn a_crash_at_any_step_loses_nothing_that_was_acknowledged() {
    for seed in CRASH_SEEDS {
        fault_at_every_step(seed, Fault::Crash);
    }
}

#[test]
fn a_full_disk_at_any_step_loses_nothing_that_was_acknowledged() {
    fault_at_every_step(10, Fault::NoSpace);
}

#[test]
fn a_refused_call_at_any_step_loses_nothing_that_was_acknowledged() {
    fault_at_every_step(11, Fault::Refuse);
}

#[test]
#[ignore = "soak: run by cargo xtask soak"]
fn soak_of_faults_at_every_step() {
    let seeds = std::env::var("HYPERPLANE_SOAK_SEEDS")
        .ok()
        .and_then(|text| text.parse().ok());
    for seed in 100..100 + seeds.unwrap_or(100) {
        let fault = [Fault::Crash, Fault::Crash, Fault::NoSpace, Fault::Refuse][usize::try_from(seed % 4).unwrap()];
        fault_at_every_step(seed, fault);
    }
}
