//! Builds the binary of the image: for Linux on amd64, with the C library inside.

use std::{
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use crate::workspace;

/// glibc and not musl: its resolver follows `search` and `ndots` of a pod's resolv.conf as every other pod does.
const TARGET: &str = "x86_64-unknown-linux-gnu";

/// What was built.
pub(super) struct Built {
    /// The binary.
    pub(super) binary: PathBuf,
    /// Its version.
    pub(super) version: String,
}

impl Built {
    /// What the control-plane operator in it can do: the binary itself knows.
    pub(super) fn capabilities(&self) -> Result<Vec<String>> {
        let output = Command::new(&self.binary)
            .args(["version", "--client", "-o", "json"])
            .output()
            .with_context(|| format!("running {}", self.binary.display()))?;
        let versions: Value =
            serde_json::from_slice(&output.stdout).context("reading what the binary says of itself")?;
        let listed = versions["operatorCapabilities"].as_array();
        let listed = listed.context("the binary does not say what its operator can do")?;
        Ok(listed.iter().filter_map(Value::as_str).map(str::to_owned).collect())
    }
}

/// Builds in a directory of its own: with other flags, cargo would build everything in the usual one anew each time.
pub(super) fn run(target: &Path, is_debug: bool) -> Result<Built> {
    let mut command = workspace::cargo();
    command
        .args(["build", "--locked", "--package", "hyperplane", "--bin", "hyperplane"])
        .args(["--target", TARGET, "--message-format=json-render-diagnostics"])
        .args((!is_debug).then_some("--profile=published"))
        .arg("--target-dir")
        .arg(target.join("image"))
        .env(
            "CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_RUSTFLAGS",
            "-C target-feature=+crt-static",
        )
        // Nobody debugs inside of the image, and it would be several times as large.
        .env("CARGO_PROFILE_DEV_DEBUG", "false")
        .stderr(Stdio::inherit());
    let output = command.output().context("running cargo")?;
    ensure!(output.status.success(), "the binary of the image does not compile");
    read(&String::from_utf8_lossy(&output.stdout)).context("cargo does not say where the binary is")
}

/// Finds the binary in what cargo prints, one object per line.
fn read(messages: &str) -> Option<Built> {
    let messages = messages
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok());
    messages
        .filter(|message| message["reason"] == "compiler-artifact" && message["target"]["name"] == "hyperplane")
        .find_map(|message| {
            let (_, version) = message["package_id"].as_str()?.rsplit_once(['#', '@'])?;
            Some(Built {
                binary: message["executable"].as_str()?.into(),
                version: version.to_owned(),
            })
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_binary_is_found_among_the_messages() {
        let messages = r#"
{"reason":"compiler-artifact","package_id":"path+file:///w/crates/api#hyperplane-api@0.1.0","target":{"name":"hyperplane_api"},"executable":null}
{"reason":"compiler-artifact","package_id":"path+file:///w/crates/hyperplane#0.2.3","target":{"name":"hyperplane"},"executable":"/w/target/image/hyperplane"}
{"reason":"build-finished","success":true}
"#;
        let built = read(messages).unwrap();
        assert_eq!(built.binary, Path::new("/w/target/image/hyperplane"));
        assert_eq!(built.version, "0.2.3");
        assert!(read("").is_none());
    }
}
