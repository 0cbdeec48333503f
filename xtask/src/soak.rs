//! The long random tests in full: those that are ignored by default and have `soak` in their name.

use std::time::Instant;

use anyhow::{Result, ensure};

use crate::{process, test_run, workspace};

/// How many seeds a soak tries unless told otherwise; a fixed short slice runs in every test run anyway.
pub(crate) const DEFAULT_SEEDS: u64 = 1_000;

/// Tells a soak how many seeds to try.
const SEEDS: &str = "HYPERPLANE_SOAK_SEEDS";

/// Runs every soak on the terminal and says whether all went well.
pub(crate) fn run(seeds: u64) -> Result<bool> {
    let mut soaks = 0;
    let mut failed = 0;
    let mut cargo = workspace::cargo();
    cargo.args(["test", "--workspace"]);
    workspace::build_for_speed(&mut cargo, &workspace::log_directory()?.join("soak"));
    for binary in test_run::build(&mut cargo)? {
        for name in binary.soaks()? {
            soaks += 1;
            println!("{}: {name}, {seeds} seeds", binary.label());
            let start = Instant::now();
            let mut command = binary.command();
            command
                .args(["--ignored", "--exact", &name, "--nocapture"])
                .env(SEEDS, seeds.to_string());
            let is_success = process::run_on_terminal(&mut command)?;
            println!(
                "{} after {:.1} s",
                if is_success { "ok" } else { "FAILED" },
                start.elapsed().as_secs_f64()
            );
            failed += u64::from(!is_success);
        }
    }
    ensure!(
        soaks > 0,
        "no soaks found: they are ignored tests with `soak` in their name"
    );
    println!("\n{} passed, {failed} failed", soaks - failed);
    Ok(failed == 0)
}
