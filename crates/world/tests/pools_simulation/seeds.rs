//! Which seeds are lived: a few every time, many in a soak, and as many as a planted bug is allowed.

use crate::{
    disturbances::Disturbance,
    story::{Act, Script, live},
};

/// The slice that runs every time: few acts, in which most of what can happen does.
const SLICE: [&[(Act, Disturbance)]; 2] = [
    &[
        (Act::Release, Disturbance::Requests),
        (Act::Plane, Disturbance::Crashes),
        (Act::Blocked, Disturbance::Jump),
    ],
    &[
        (Act::Config, Disturbance::NeverBoots),
        (Act::DeleteMachine, Disturbance::Silent),
        (Act::Proxy, Disturbance::Crashes),
    ],
];
/// The first seed of a soak, unless HYPERPLANE_SOAK_FIRST says otherwise: one seed alone has the same first and last. A
/// planted bug is looked for from here on as well, so that what finds it can be repeated.
const FIRST: u64 = 1;
/// The last seed of a soak, unless HYPERPLANE_SOAK_SEEDS says otherwise.
const SOAK: u64 = 50;

/// Runs one world to its end on a runtime of its own.
pub fn simulate<T>(world: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build();
    runtime.unwrap().block_on(world)
}

#[test]
fn pools_live_whatever_goes_wrong() {
    for (seed, acts) in (FIRST..).zip(SLICE) {
        simulate(live(seed, Script::Given(acts), |_| {}));
    }
}

#[test]
#[ignore = "soak: run by cargo xtask soak"]
fn soak_of_pools() {
    let first = told("HYPERPLANE_SOAK_FIRST", FIRST);
    for seed in first..=told("HYPERPLANE_SOAK_SEEDS", SOAK) {
        simulate(live(seed, Script::Drawn(usize::MAX), |_| {}));
    }
}

#[allow(clippy::disallowed_methods, reason = "a soak is told its seeds by the environment")]
fn told(name: &str, otherwise: u64) -> u64 {
    let text = std::env::var(name).ok();
    text.and_then(|text| text.parse().ok()).unwrap_or(otherwise)
}
