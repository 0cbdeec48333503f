//! The image as a real root: it is built, unpacked and run where nothing else is.
#![allow(
    clippy::disallowed_methods,
    reason = "real processes take the time that the machine gives them, and the test run names the program"
)]

mod unpacked;

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::{Command, Output},
    time::Instant,
};

use anyhow::{Context as _, Result, ensure};
use unpacked::Unpacked;

/// Every way in which a container of ours is started.
const ROLES: [&str; 19] = [
    "apiserver",
    "availability-prober",
    "config-operator",
    "control-plane-operator",
    "etcd-defrag",
    "etcd-recover-member",
    "etcd-reset-member",
    "ignition-server",
    "install",
    "konnectivity-https-proxy",
    "konnectivity-socks5-proxy",
    "machine-approver",
    "machine-controller",
    "operator",
    "pki-operator",
    "router",
    "tail",
    "token-minter",
    "wait-for",
];

/// How long a process may take, in seconds; one that waits for what never comes is ended.
const PATIENCE: &str = "5";

/// Runs the binary of the image with the root of the image for its own.
fn run(root: &Path, entrypoint: &str, arguments: &[&str]) -> Result<Output> {
    let mut command = Command::new("timeout");
    command
        .args([PATIENCE, "unshare", "--map-root-user"])
        .arg(format!("--root={}", root.display()))
        .arg("--")
        .arg(entrypoint)
        .args(arguments);
    command.output().context("starting timeout (coreutils)")
}

fn printed(root: &Path, entrypoint: &str, arguments: &[&str]) -> Result<String> {
    let output = run(root, entrypoint, arguments)?;
    let errors = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "{arguments:?}: {errors}");
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Names the program that the test run has built already.
const BINARY: &str = "HYPERPLANE_IMAGE_BINARY";

/// Makes the image, of the program that the test run has built if it did.
fn build(directory: &Path) -> Result<PathBuf> {
    let archive = directory.join("image.tar");
    let start = Instant::now();
    let mut command = Command::new(env!("CARGO_BIN_EXE_xtask"));
    command.arg("image").arg("--output").arg(&archive);
    match env::var_os(BINARY) {
        Some(binary) => command.arg("--binary").arg(binary),
        None => command.arg("--debug"),
    };
    let status = command.status().context("starting xtask")?;
    ensure!(status.success(), "the image cannot be built");
    println!("the image took {} s", start.elapsed().as_secs());
    Ok(archive)
}

#[test]
#[ignore = "needs the whole program, without libraries: cargo xtask test"]
fn the_image_runs_every_role_from_an_empty_root() -> Result<()> {
    let directory = tempfile::tempdir()?;
    let archive = build(directory.path())?;
    let root = directory.path().join("root");
    let image = Unpacked::read(&fs::read(archive)?, &root)?;
    assert_eq!(image.configuration["config"]["User"], "65532:65532");
    let labels = &image.configuration["config"]["Labels"];
    assert_eq!(labels["io.openshift.hypershift.restricted-psa"], "true", "{labels}");
    let entrypoint = image.configuration["config"]["Entrypoint"][0].as_str();
    let entrypoint = entrypoint.context("the image has no entrypoint")?;
    for role in ROLES {
        let help = printed(&root, entrypoint, &[role, "--help"])?;
        assert!(help.contains(&format!("Usage: hyperplane {role}")), "{role}: {help}");
    }
    assert!(!run(&root, entrypoint, &["no-such-role", "--help"])?.status.success());

    let manifests = printed(&root, entrypoint, &["install", "render"])?;
    assert!(
        manifests.contains(&image.name),
        "{} is not in what is rendered",
        image.name
    );

    // Names come from the file of hosts, as in a pod.
    fs::create_dir_all(root.join("etc"))?;
    fs::write(root.join("etc/hosts"), "127.0.0.1 known.hosts.test\n")?;
    fs::write(
        root.join("etc/resolv.conf"),
        "nameserver 127.0.0.1\noptions timeout:1 attempts:1\n",
    )?;
    let wait_for = |name| run(&root, entrypoint, &["wait-for", "--dns", name]);
    let known = wait_for("known.hosts.test")?;
    let errors = String::from_utf8_lossy(&known.stderr).into_owned();
    assert!(known.status.success(), "{errors}");
    assert!(!wait_for("unknown.hosts.test")?.status.success());
    Ok(())
}
