//! Worlds full of trouble: clients do anything and give up on anything, the server ends in every way and comes back.
//! Afterwards everything is as it has to be, and nobody was told anything wrong.

use std::time::Duration;

use hyperplane_seams::Random;
use hyperplane_store::{Fault, fsck};
use tokio::time::sleep;

use crate::{
    simulation_actors::{Acknowledged, Actor},
    simulation_checks::{check, release_all},
    simulation_ground::{End, Ground},
    simulation_watchers::Follower,
};

/// Seeds of the slice that runs every time.
const SLICE: std::ops::Range<u64> = 0..6;
/// Seeds of a soak, unless HYPERPLANE_SOAK_SEEDS says otherwise.
const SOAK: u64 = 300;
/// How often the server ends in a world.
const ROUNDS: usize = 6;
const ACTORS: usize = 4;

/// One world; hands back what its clients did.
async fn chaos(seed: u64) -> Vec<String> {
    let mut random = Random::named(seed, "chaos");
    let mut ground = Ground::seeded(seed).await;
    let mut actors: Vec<Actor> = (0..ACTORS)
        .map(|number| Actor::new(seed, &format!("actor {number}")))
        .collect();
    let mut followers = [
        Follower::new("/api/v1/configmaps", "ConfigMap"),
        Follower::new("/api/v1/namespaces", "Namespace"),
        Follower::new(
            "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
            "CustomResourceDefinition",
        ),
    ];
    for _ in 0..ROUNDS {
        if random.below(2) == 0 {
            ground.disk.fail_after(random.below(300), Fault::Crash);
        }
        let time = random.up_to(Duration::from_secs(40));
        round(&ground, &mut actors, &mut followers, time).await;
        let end = match random.below(3) {
            0 => End::Close,
            1 => End::Kill,
            _ => End::Power(random.next_u64()),
        };
        ground.restart(end).await;
    }
    let rest = async {
        release_all(&ground).await;
        ground.settle().await;
    };
    let following = futures::future::join_all(followers.iter_mut().map(|follower| follower.run(&ground)));
    tokio::select! {
        biased;
        _ = following => unreachable!("it follows for ever"),
        () = rest => {}
    }
    check(&ground).await;
    let acknowledged: Vec<Acknowledged> = actors.iter().flat_map(|actor| actor.acknowledged.clone()).collect();
    for follower in &mut followers {
        follower.check(&ground, &acknowledged).await;
    }
    let revision = ground.revision().await;
    sleep(Duration::from_hours(2)).await;
    let events = ground.revision().await - revision;
    assert!(ground.names("/api/v1/events").await.is_empty(), "Events end");
    ground.world.server.close();
    sleep(Duration::from_secs(1)).await;
    let report = fsck(&mut ground.disk);
    assert!(report.is_clean(), "{report:?}");
    let mut trace: Vec<String> = actors.into_iter().flat_map(|actor| actor.trace).collect();
    trace.push(format!("{revision} and {events} Events"));
    trace
}

async fn round(ground: &Ground, actors: &mut [Actor], followers: &mut [Follower], time: Duration) {
    let acting = futures::future::join_all(actors.iter_mut().map(|actor| actor.run(ground)));
    let following = futures::future::join_all(followers.iter_mut().map(|follower| follower.run(ground)));
    tokio::select! {
        biased;
        _ = acting => unreachable!("they act for ever"),
        _ = following => unreachable!("they follow for ever"),
        () = sleep(time) => {}
    }
}

/// Runs a world on virtual time.
fn simulate(seed: u64) -> Vec<String> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .unwrap();
    println!("seed {seed}");
    runtime.block_on(chaos(seed))
}

#[test]
fn every_world_comes_to_rest_as_it_has_to_be() {
    for seed in SLICE {
        simulate(seed);
    }
}

#[test]
#[ignore = "soak: run by cargo xtask soak"]
#[allow(clippy::disallowed_methods, reason = "how long a soak is says who starts it")]
fn soak_of_many_worlds_that_come_to_rest() {
    let seeds = std::env::var("HYPERPLANE_SOAK_SEEDS")
        .ok()
        .and_then(|text| text.parse().ok())
        .unwrap_or(SOAK);
    for seed in 1000..1000 + seeds {
        simulate(seed);
    }
}

#[test]
fn the_same_seed_gives_the_same_trace_and_another_seed_another() {
    let (first, second) = (simulate(77), simulate(77));
    let difference = first.iter().zip(&second).position(|(left, right)| left != right);
    assert_eq!(difference, None, "{:?}", difference.map(|at| (&first[at], &second[at])));
    assert_eq!(first.len(), second.len());
    assert!(first.len() > 100, "the trace has {} lines", first.len());
    assert_ne!(first, simulate(78));
}
