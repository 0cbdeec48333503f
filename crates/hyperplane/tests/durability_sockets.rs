//! What was acknowledged survives `kill -9`, round after round, on ports and files of this machine. No test waits for a
//! clock: servers are killed after some writes, or after some of the work of a start.

use crate::durability;

/// Rounds of every test run: about a minute.
const ROUNDS: u64 = 100;
const SEED: u64 = 1;

/// A kill loses nothing that a system call wrote, wherever the file is, so files in memory find the same bugs without
/// the patience of a slow disk. The soak runs on the disk.
const IN_MEMORY: &str = "/dev/shm";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_hundred_kills_lose_nothing_and_mislead_nobody() {
    let directory = tempfile::tempdir_in(IN_MEMORY).or_else(|_| tempfile::tempdir());
    durability::run(SEED, ROUNDS, directory.unwrap().path()).await;
}

/// Tells how many rounds.
const SOAK: &str = "HYPERPLANE_SOAK_SEEDS";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "takes minutes: cargo xtask soak"]
async fn soak_a_thousand_kills_lose_nothing_and_mislead_nobody() {
    #[expect(clippy::disallowed_methods, reason = "a soak is told how long it may take")]
    let rounds = std::env::var(SOAK).map_or(ROUNDS, |text| text.parse().unwrap());
    durability::run(SEED + 1, rounds, tempfile::tempdir().unwrap().path()).await;
}
