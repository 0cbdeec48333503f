//! The operators as a process of their own, as they run anywhere.

use std::{ffi::OsStr, path::Path, time::Duration};

use anyhow::{Context as _, Result, ensure};
use hyperplane_testbed::Server;
use tokio::time::{Instant, sleep};

use super::ground::Ground;
use crate::common::process;

/// How long the process may take to appear, and how often is looked.
const PATIENCE: Duration = Duration::from_secs(10);
const GLANCE: Duration = Duration::from_millis(20);

/// Operators that run until this value is dropped, or this process ends. Their end is a crash, which is the harder
/// restart: nothing is put in order before it.
pub struct Operator {
    /// Its number.
    pub process: u32,
    _server: Server,
}

impl Operator {
    /// Starts them, with no rights but those that a cluster was set up with.
    pub async fn start(binary: &Path, ground: &Ground) -> Result<Self> {
        let kubeconfig = ground.kubeconfig.display().to_string();
        let relay = ground.relay.to_string();
        let arguments = [
            "operator",
            "--no-setup",
            "--ingress-domain=apps.example.com",
            "--kubeconfig",
            &kubeconfig,
            "--hosted-relay",
            &relay,
        ];
        let log = ground.files.path().join("operator.log");
        let server = Server::start("operator", binary, &arguments.map(str::to_owned), log)?;
        let name = binary
            .file_name()
            .and_then(OsStr::to_str)
            .context("the binary has a name")?;
        let began = Instant::now();
        loop {
            if let Some(process) = process::below(&[name])?.first() {
                return Ok(Self {
                    process: *process,
                    _server: server,
                });
            }
            ensure!(
                began.elapsed() < PATIENCE,
                "the operators do not start:\n{}",
                server.log_tail()
            );
            sleep(GLANCE).await;
        }
    }

    /// Processor time so far.
    pub fn time(&self) -> Result<Duration> {
        process::time(&[self.process])
    }

    /// Resident memory in bytes.
    pub fn memory(&self) -> Result<u64> {
        Ok(process::memory(&[self.process])?.resident)
    }
}
