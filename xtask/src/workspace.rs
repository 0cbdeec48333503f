//! Where the workspace is and how its cargo is called. It knows nothing about tasks.

use std::{
    env,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, Result, ensure};
use serde_json::Value;

/// The root of the work tree, which lies above this package.
pub(crate) fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("this package lies in the workspace")
}

/// The cargo that runs this task, in the root of the workspace.
pub(crate) fn cargo() -> Command {
    let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(root());
    command
}

/// Lets cargo build tests that run for long: simulations are eight times as fast for three times the build. They get a
/// build directory of their own, so that those of every day are not built anew.
pub(crate) fn build_for_speed<'a>(command: &'a mut Command, target: &Path) -> &'a mut Command {
    command
        .env("CARGO_PROFILE_TEST_OPT_LEVEL", "1")
        .env("CARGO_TARGET_DIR", target)
}

/// The build directory.
pub(crate) fn target_directory() -> Result<PathBuf> {
    let output = cargo()
        .args(["metadata", "--format-version=1", "--no-deps"])
        .output()
        .context("running cargo")?;
    ensure!(
        output.status.success(),
        "cargo metadata: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    let metadata: Value = serde_json::from_slice(&output.stdout).context("reading cargo metadata")?;
    let target = metadata["target_directory"]
        .as_str()
        .context("cargo metadata names no target directory")?;
    Ok(target.into())
}

/// A directory for logs of tasks inside the build directory, made if it is missing.
pub(crate) fn log_directory() -> Result<PathBuf> {
    let directory = target_directory()?.join("xtask");
    std::fs::create_dir_all(&directory).with_context(|| format!("making {}", directory.display()))?;
    Ok(directory)
}
