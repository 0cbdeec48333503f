//! A server to measure: ours as a process, or kube-apiserver with its etcd. Knows how to start them and how to reach them.

use std::{
    io::{BufRead as _, BufReader},
    path::Path,
    process::{Child, Command, Stdio},
    sync::Arc,
    time::{Duration, Instant},
};

use anyhow::{Context as _, Result, ensure};
use clap::ValueEnum;
use hyperplane_testbed::{ControlPlane, Options};
use kube::{
    Config,
    client::ConfigExt as _,
    config::{KubeConfigOptions, Kubeconfig},
};
use tempfile::TempDir;
use tokio_rustls::TlsConnector;

use crate::{
    common::process::{self, Memory},
    connection::Connection,
    operations,
};

/// Which server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
pub enum Ground {
    /// Ours.
    Embedded,
    /// kube-apiserver and etcd.
    Real,
}

impl Ground {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Embedded, Self::Real];

    /// The word for it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Embedded => "embedded",
            Self::Real => "real",
        }
    }
}

/// What keeps a server running.
enum Keeper {
    Embedded { child: Child, _data: TempDir },
    Real(#[expect(dead_code, reason = "it runs until it is dropped")] Box<ControlPlane>),
}

impl Drop for Keeper {
    fn drop(&mut self) {
        if let Self::Embedded { child, .. } = self {
            // It may have ended by itself, which a request has told before.
            child.kill().ok();
            child.wait().ok();
        }
    }
}

/// Where a server is, and how to get in.
#[derive(Clone)]
pub struct Door {
    /// Host and port.
    pub address: String,
    /// As the administrator.
    pub tls: TlsConnector,
}

/// A server that runs.
pub struct Server {
    /// From nothing to the first answer.
    pub start: Duration,
    /// How to reach it.
    pub door: Door,
    processes: Vec<u32>,
    _keeper: Keeper,
}

impl Server {
    /// Starts a server with no data, with durable writes.
    pub async fn start(ground: Ground, binary: &Path) -> Result<Self> {
        let began = Instant::now();
        let (keeper, kubeconfig, names) = match ground {
            Ground::Embedded => embedded(binary)?,
            Ground::Real => real().await?,
        };
        let options = KubeConfigOptions::default();
        let config = Config::from_custom_kubeconfig(kubeconfig, &options).await?;
        let mut tls = config.rustls_client_config()?;
        // One request at a time on a connection: what is measured is the server, not how requests share a connection.
        tls.alpn_protocols = vec![b"http/1.1".to_vec()];
        let address = config.cluster_url.authority().context("a server has an address")?;
        let mut server = Self {
            start: Duration::ZERO,
            door: Door {
                address: address.to_string(),
                tls: TlsConnector::from(Arc::new(tls)),
            },
            processes: process::below(names)?,
            _keeper: keeper,
        };
        ensure!(server.processes.len() == names.len(), "not all of {names:?} run");
        Connection::open(&server.door).await?.send(operations::ready()).await?;
        server.start = began.elapsed();
        Ok(server)
    }

    /// Memory of its processes.
    pub fn memory(&self) -> Result<Memory> {
        process::memory(&self.processes)
    }

    /// Processor time of its processes.
    pub fn time(&self) -> Result<Duration> {
        process::time(&self.processes)
    }
}

fn embedded(binary: &Path) -> Result<(Keeper, Kubeconfig, &'static [&'static str])> {
    let data = tempfile::tempdir()?;
    let mut command = Command::new(binary);
    command
        .args(["apiserver", "--listen", "127.0.0.1:0", "-o", "json", "--data-dir"])
        .arg(data.path())
        .stdout(Stdio::piped());
    let mut child = command
        .spawn()
        .with_context(|| format!("starting {}", binary.display()))?;
    let mut line = String::new();
    BufReader::new(child.stdout.take().context("standard output is piped")?).read_line(&mut line)?;
    let keeper = Keeper::Embedded { child, _data: data };
    let ready: serde_json::Value = serde_json::from_str(&line).context("the server did not start")?;
    let path = ready["kubeconfig"].as_str().context("no kubeconfig")?;
    Ok((keeper, Kubeconfig::read_from(path)?, &["hyperplane"]))
}

async fn real() -> Result<(Keeper, Kubeconfig, &'static [&'static str])> {
    let options = Options {
        is_durable: true,
        ..Options::default()
    };
    let control_plane = ControlPlane::start(options).await?;
    let kubeconfig = Kubeconfig::read_from(control_plane.kubeconfig_path())?;
    Ok((
        Keeper::Real(Box::new(control_plane)),
        kubeconfig,
        &["kube-apiserver", "etcd"],
    ))
}
