//! Random stories, shrunk to the shortest that fails.

use hyperplane_store::{Fault, Revision};
use proptest::prelude::*;

use crate::{
    workload::Workload,
    world::{World, simulate},
};

/// What happens next in a story.
#[derive(Clone, Debug)]
enum Act {
    /// Transactions that are sent at once.
    Write { seed: u64 },
    /// Watchers catch up.
    Follow,
    /// Somebody reads an old state, counted back from the present.
    LookBack { revisions: u64 },
    /// Somebody keeps the present state for later pages.
    Pin,
    /// The store is closed and opened again.
    Restart,
    /// The process ends after some more steps of the disk, and the power with it or not.
    Crash { after: u64, power: Option<u64> },
}

fn act() -> impl Strategy<Value = Act> {
    prop_oneof![
        12 => any::<u64>().prop_map(|seed| Act::Write { seed }),
        4 => Just(Act::Follow),
        4 => (0..60_u64).prop_map(|revisions| Act::LookBack { revisions }),
        1 => Just(Act::Pin),
        1 => Just(Act::Restart),
        2 => (0..40_u64, any::<Option<u64>>()).prop_map(|(after, power)| Act::Crash { after, power }),
    ]
}

async fn recover(world: &mut World, power: Option<u64>) {
    world.abandon().await;
    match power {
        Some(seed) => world.disk.lose_power(seed),
        None => world.disk.kill(),
    }
    world.open().unwrap();
}

async fn tell(acts: Vec<Act>) {
    let mut world = World::new();
    world.open().unwrap();
    let mut at_crash = None;
    for act in acts {
        match act {
            Act::Write { seed } => {
                let transactions = Workload::new(seed).round(&world.model);
                if !world.round(transactions).await {
                    recover(&mut world, at_crash.take().unwrap()).await;
                }
            }
            Act::Follow => world.follow(),
            Act::LookBack { revisions } => {
                world.look_back(Revision(world.model.revision().0.saturating_sub(revisions)));
                world.look_back(world.model.revision().next());
            }
            Act::Pin => world.store().pin(&world.store().snapshot()),
            Act::Restart => {
                if world.close().await.is_err() {
                    recover(&mut world, at_crash.take().unwrap()).await;
                } else {
                    world.abandon().await;
                    if let Err(error) = world.open() {
                        recover(&mut world, at_crash.take().unwrap_or_else(|| panic!("{error}"))).await;
                    }
                }
            }
            Act::Crash { after, power } => {
                world.disk.fail_after(after, Fault::Crash);
                at_crash = Some(power);
            }
        }
    }
    recover(&mut world, at_crash.unwrap_or_default()).await;
    world.follow();
    world.close().await.unwrap();
    world.assert_clean();
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_store_is_its_model(acts in prop::collection::vec(act(), 1..60)) {
        simulate(async || tell(acts).await);
    }
}
