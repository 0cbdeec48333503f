//! Worlds full of trouble: whatever happens, everything converges, comes to rest, and does so again from the seed.

use std::time::Duration;

use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

use crate::{
    server::Crash,
    state::Line,
    world::{Process, World, simulate},
};

/// Seeds of the slice that runs every time.
const SLICE: std::ops::Range<u64> = 0..12;
/// Seeds of a soak, unless HYPERPLANE_SOAK_SEEDS says otherwise.
const SOAK: u64 = 500;
/// Disturbances per world.
const DISTURBANCES: usize = 60;

/// One world with faults, users, crashes, partitions and two processes at a time; hands back its trace.
async fn chaos(seed: u64) -> Vec<Line> {
    let mut world = World::new(seed, 8);
    world.users.settle(&world.server);
    world.set_faults(10);
    let mut processes: Vec<Process> = vec![world.start(), world.start()];
    for _ in 0..DISTURBANCES {
        sleep(world.random.up_to(Duration::from_secs(20))).await;
        world.users.disturb(&world.server);
        match world.random.below(12) {
            0 => {
                let process = processes.remove(0);
                process.crash().await;
                processes.push(world.start());
            }
            1 => {
                let process = processes.remove(0);
                process.stop().await;
                processes.push(world.start());
            }
            2 => {
                let host = world.hosts - world.random.below(2);
                world.server.lock().partitioned = Some(format!("host-{host}"));
            }
            3 => world.server.lock().partitioned = None,
            _ => {}
        }
    }
    world.settle_and_check().await;
    for process in processes {
        process.stop().await;
    }
    std::mem::take(&mut world.server.lock().trace)
}

#[test]
fn every_world_converges_and_comes_to_rest() {
    for seed in SLICE {
        simulate(async || chaos(seed).await);
    }
}

#[test]
#[ignore = "soak: run by cargo xtask soak"]
fn soak_of_many_worlds_that_converge_and_come_to_rest() {
    let seeds = std::env::var("HYPERPLANE_SOAK_SEEDS")
        .ok()
        .and_then(|text| text.parse().ok())
        .unwrap_or(SOAK);
    for seed in 1000..1000 + seeds {
        simulate(async || chaos(seed).await);
    }
}

#[test]
fn the_same_seed_gives_the_same_trace_and_another_seed_another() {
    let first = simulate(async || chaos(77).await);
    let second = simulate(async || chaos(77).await);
    let difference = first.iter().zip(&second).position(|(left, right)| left != right);
    assert_eq!(difference, None, "{:?}", difference.map(|at| (&first[at], &second[at])));
    assert_eq!(first.len(), second.len());
    assert!(first.len() > 500, "the trace has {} lines", first.len());
    assert_ne!(first, simulate(async || chaos(78).await));
}

/// A small story without chance: two widgets come, one changes, one goes. Hands back the number of requests.
async fn story(crash: Option<(usize, bool)>) -> usize {
    let mut world = World::new(1, 3);
    world.has_lease = false;
    world.users.settle(&world.server);
    let token = CancellationToken::new();
    world.server.lock().crash = crash.map(|(at_request, is_after_effect)| Crash {
        at_request,
        is_after_effect,
        token: token.clone(),
    });
    let mut process = world.start();
    let mut acts = 0;
    for _ in 0..40 {
        tokio::select! {
            biased;
            () = token.cancelled() => {
                world.server.lock().crash = None;
                process.crash().await;
                process = world.start();
                break;
            }
            () = sleep(Duration::from_secs(1)) => {
                if acts < 8 {
                    acts += 1;
                    world.users.disturb(&world.server);
                }
            }
        }
    }
    for _ in acts..8 {
        world.users.disturb(&world.server);
    }
    world.settle_and_check().await;
    let requests = world.server.lock().requests;
    process.stop().await;
    requests
}

#[test]
fn a_crash_at_any_request_is_survived() {
    let requests = simulate(async || story(None).await);
    assert!(requests > 30, "{requests} requests");
    for at_request in 1..=requests {
        for is_after_effect in [false, true] {
            simulate(async || story(Some((at_request, is_after_effect))).await);
        }
    }
}
