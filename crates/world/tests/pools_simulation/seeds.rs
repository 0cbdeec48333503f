//! Which seeds are lived: a few every time, many in a soak, and as many as a planted bug is allowed.

use std::ops::Range;

use crate::story::live;

/// Seeds of the slice that runs every time, and how many acts of each life.
const SLICE: Range<u64> = 1..3;
const ACTS_OF_SLICE: usize = 3;
/// The first seed of a soak. A planted bug is looked for from here on as well, so that what finds it can be repeated.
const FIRST: u64 = 1;
/// Seeds of a soak, unless HYPERPLANE_SOAK_SEEDS says otherwise.
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
    for seed in SLICE {
        simulate(live(seed, ACTS_OF_SLICE, |_| {}));
    }
}

#[test]
#[ignore = "soak: run by cargo xtask soak"]
#[allow(clippy::disallowed_methods, reason = "a soak is told its length by the environment")]
fn soak_of_pools() {
    let seeds = std::env::var("HYPERPLANE_SOAK_SEEDS")
        .ok()
        .and_then(|text| text.parse().ok())
        .unwrap_or(SOAK);
    for seed in FIRST..=seeds {
        simulate(live(seed, usize::MAX, |_| {}));
    }
}
