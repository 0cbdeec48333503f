//! Where the workspace is and how its cargo is called. It knows nothing about tasks.

use std::{
    env,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, Result, ensure};
use serde_json::Value;

/// The machine of images. glibc and not musl: its resolver follows `search` and `ndots` of a pod's resolv.conf as every
/// other pod does.
pub(crate) const IMAGE_TARGET: &str = "x86_64-unknown-linux-gnu";

/// Puts the C library inside.
pub(crate) const STATIC: &str = "-C target-feature=+crt-static";

/// [`STATIC`], and what makes a program smaller that is built once and run often: functions whose code is the same become
/// one, and addresses that are adjusted at the start are listed in the short form, which needs no help of a loader here.
/// Only for rust-lld, the linker of this target.
pub(crate) const STATIC_AND_SMALL: &str =
    "-C target-feature=+crt-static -C link-arg=-Wl,--icf=all -C link-arg=-Wl,--pack-dyn-relocs=relr";

/// For the C library of cryptography, whose AVX-512 code is 2 % of the program; AES-NI and AVX2 remain.
pub(crate) const SMALL_C: (&str, &str) = (
    "CFLAGS_x86_64_unknown_linux_gnu",
    "-DMY_ASSEMBLER_IS_TOO_OLD_FOR_512AVX",
);

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

/// Lets cargo build for the machine that images are made for, as their programs are linked: without libraries. The image
/// of the test run is then made of what was built for the tests. Elsewhere nothing changes, and images are built apart.
pub(crate) fn build_for_images(command: &mut Command) -> &mut Command {
    if cfg!(all(target_os = "linux", target_arch = "x86_64", target_env = "gnu")) {
        command.args(["--target", IMAGE_TARGET]);
    }
    command.env("CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_RUSTFLAGS", STATIC)
}

/// Where the programs are that cargo builds so in the debug profile.
pub(crate) fn image_programs() -> Result<PathBuf> {
    let target = target_directory()?;
    let is_apart = cfg!(all(target_os = "linux", target_arch = "x86_64", target_env = "gnu"));
    let target = if is_apart { target.join(IMAGE_TARGET) } else { target };
    Ok(target.join("debug"))
}

/// What cargo knows of the workspace, without what it depends on.
pub(crate) fn metadata() -> Result<Value> {
    let output = cargo()
        .args(["metadata", "--format-version=1", "--no-deps"])
        .output()
        .context("running cargo")?;
    ensure!(
        output.status.success(),
        "cargo metadata: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    serde_json::from_slice(&output.stdout).context("reading cargo metadata")
}

/// The build directory.
pub(crate) fn target_directory() -> Result<PathBuf> {
    let metadata = metadata()?;
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
