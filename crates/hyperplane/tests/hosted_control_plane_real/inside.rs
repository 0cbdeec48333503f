//! Namespaces of our own for a whole test: it is run again inside of them, where it may make bridges and mounts as it
//! likes. Whatever it leaves behind goes with its last process, however it ends.

use std::{env, path::PathBuf, thread, time::Duration};

use anyhow::{Context as _, Result, ensure};
use hyperplane_testbed::{Directory, Server};

/// Says to a test that it runs inside, and where its files go.
const INSIDE: &str = "HYPERPLANE_TEST_INSIDE";

/// How often it is looked whether the test has ended.
const LOOK: Duration = Duration::from_millis(100);

/// Runs the test of this name: outside, by running it again inside; inside, by doing the work.
pub fn inside(test: &str, work: impl AsyncFnOnce(PathBuf) -> Result<()>) -> Result<()> {
    match env::var_os(INSIDE) {
        Some(directory) => {
            let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
            runtime.block_on(work(directory.into()))
        }
        None => outside(test),
    }
}

/// Users with their own mounts, network and processes are what containers are made of. Whoever may not make them is
/// told so; there is no other way to give every pod the same ports.
fn outside(test: &str) -> Result<()> {
    let directory = Directory::create()?;
    let arguments = [
        "--mount",
        "--net",
        "--pid",
        "--fork",
        "--kill-child",
        "--mount-proc",
        "--",
        "env",
        &format!("{INSIDE}={}", directory.path.display()),
        &env::current_exe()?.display().to_string(),
        "--exact",
        test,
        "--include-ignored",
        "--nocapture",
    ];
    let log = directory.path.join("test.log");
    let mut server = Server::start(
        "a test in namespaces of its own",
        "/usr/bin/unshare".as_ref(),
        &arguments.map(str::to_owned),
        log.clone(),
    )?;
    let status = loop {
        match server.ended()? {
            Some(status) => break status,
            None => thread::sleep(LOOK),
        }
    };
    let said = std::fs::read_to_string(&log).context("reading what the test said")?;
    println!("{said}");
    if !status.success() {
        let kept = directory.path.clone();
        directory.keep();
        ensure!(
            !said.contains("unshare failed"),
            "this test needs root, or user namespaces: it makes mount, network and process namespaces"
        );
        anyhow::bail!(
            "the test failed inside; the logs of all containers are in {}",
            kept.display()
        );
    }
    Ok(())
}
