//! `cargo xtask law DIRECTORY`: the definitions that are published in a directory have to equal ours in every feature
//! set, and two real API servers, one with theirs and one with ours, have to agree on thousands of manifests.

use std::path::Path;

use anyhow::{Context, Result};

use crate::{process, workspace};

/// How many changed manifests are judged unless told otherwise.
pub(crate) const DEFAULT_SEEDS: u64 = 20_000;

/// The package, the target and the test.
const PACKAGE: &str = "hyperplane-testbed";
const TARGET: &str = "real";
const TEST: &str = "law_real::soak_of_the_law";
/// Tell the test where the definitions are, how many seeds to try, and from which on.
const PUBLISHED: &str = "HYPERPLANE_LAW_PUBLISHED";
const SEEDS: &str = "HYPERPLANE_SOAK_SEEDS";
const FIRST: &str = "HYPERPLANE_LAW_FIRST";

/// Compares definitions, then judges as many changed manifests as there are seeds, beside all those that are kept.
pub(crate) fn run(directory: &Path, seeds: u64, first: u64) -> Result<bool> {
    let directory = directory
        .canonicalize()
        .with_context(|| format!("{} holds no definitions", directory.display()))?;
    let mut cargo = workspace::cargo();
    cargo.args(["test", "--package", PACKAGE, "--test", TARGET]);
    cargo.args(["--", "--ignored", "--exact", TEST, "--nocapture"]);
    cargo
        .env(PUBLISHED, &directory)
        .env(SEEDS, seeds.to_string())
        .env(FIRST, first.to_string());
    process::run_on_terminal(&mut cargo)
}
