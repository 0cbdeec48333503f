//! Builds the binary of the image: for Linux on amd64, with the C library inside.

use std::{
    path::{Path, PathBuf},
    process::Stdio,
};

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use crate::workspace;

/// Builds the program in a directory of its own: with other flags, cargo would build everything in the usual one anew each
/// time.
pub(super) fn run(target: &Path, is_debug: bool) -> Result<PathBuf> {
    let flags = if is_debug {
        workspace::STATIC
    } else {
        workspace::STATIC_AND_SMALL
    };
    let mut command = workspace::cargo();
    command
        .args(["build", "--locked", "--package", "hyperplane", "--bin", "hyperplane"])
        .args([
            "--target",
            workspace::IMAGE_TARGET,
            "--message-format=json-render-diagnostics",
        ])
        .args((!is_debug).then_some("--profile=published"))
        .arg("--target-dir")
        .arg(target.join("image"))
        .env("CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_RUSTFLAGS", flags)
        // Nobody debugs inside of the image, and it would be several times as large.
        .env("CARGO_PROFILE_DEV_DEBUG", "false")
        .stderr(Stdio::inherit());
    if !is_debug {
        let (name, value) = workspace::SMALL_C;
        command.env(name, value);
    }
    let output = command.output().context("running cargo")?;
    ensure!(output.status.success(), "the program of the image does not compile");
    read(&String::from_utf8_lossy(&output.stdout)).context("cargo does not say where the program is")
}

/// Finds the program in what cargo prints, one object per line.
fn read(messages: &str) -> Option<PathBuf> {
    let messages = messages
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok());
    messages
        .filter(|message| message["reason"] == "compiler-artifact" && message["target"]["name"] == "hyperplane")
        .find_map(|message| message["executable"].as_str().map(PathBuf::from))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_program_is_found_among_the_messages() {
        let messages = r#"
{"reason":"compiler-artifact","package_id":"path+file:///w/crates/api#hyperplane-api@0.1.0","target":{"name":"hyperplane_api"},"executable":null}
{"reason":"compiler-artifact","package_id":"path+file:///w/crates/hyperplane#0.2.3","target":{"name":"hyperplane"},"executable":"/w/target/image/hyperplane"}
{"reason":"build-finished","success":true}
"#;
        assert_eq!(read(messages).unwrap(), Path::new("/w/target/image/hyperplane"));
        assert!(read("").is_none());
    }
}
