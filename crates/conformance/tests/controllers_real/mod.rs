//! The real kube-controller-manager and kube-scheduler on the embedded server: they do their work, and complain of nothing
//! that they do not complain of on a real kube-apiserver.

mod processes;
mod scenario;

use std::{collections::BTreeSet, path::Path};

use anyhow::{Context as _, Result, ensure};
use hyperplane_testbed::{ControlPlane, Directory, Options};
use kube::{
    Client, Config,
    config::{KubeConfigOptions, Kubeconfig},
};

use self::{processes::Programs, scenario::Cluster};
use crate::embedded::Embedded;

/// Errors that a real server causes as well, but not in every run, and why.
const BY_CHANCE: [(&str, &str); 2] = [
    (
        "the object has been modified",
        "Two controllers wrote the same object at the same time; the one that was late tries again.",
    ),
    (
        "is not as new as written version",
        "A controller was woken before its watch had shown it what it wrote; it tries again.",
    ),
];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs a real control plane: cargo xtask test"]
async fn controllers_and_scheduler_complain_of_the_embedded_server_no_more_than_of_the_real_one() -> Result<()> {
    let (embedded, real) = tokio::try_join!(on_the_embedded_server(), on_the_real_server())?;
    println!("errors on the embedded server:\n{embedded:#?}\nerrors on the real one:\n{real:#?}");
    let known: BTreeSet<&String> = real.iter().collect();
    let is_by_chance = |error: &str| BY_CHANCE.iter().any(|(text, _reason)| error.contains(text));
    let own: Vec<&String> = embedded
        .iter()
        .filter(|error| !known.contains(error) && !is_by_chance(error))
        .collect();
    ensure!(own.is_empty(), "errors on the embedded server alone:\n{own:#?}");
    Ok(())
}

async fn on_the_embedded_server() -> Result<Vec<String>> {
    let directory = Directory::create()?;
    let server = Embedded::start_without_manager().await?;
    let kubeconfig = server.listen(&directory.path).await?;
    live(&kubeconfig, &directory.path)
        .await
        .context("on the embedded server")
}

async fn on_the_real_server() -> Result<Vec<String>> {
    let control_plane = ControlPlane::start(Options::default()).await?;
    let directory = Directory::create()?;
    live(&control_plane.kubeconfig_path(), &directory.path)
        .await
        .context("on the real server")
}

async fn live(kubeconfig: &Path, directory: &Path) -> Result<Vec<String>> {
    let programs = Programs::start(kubeconfig, directory)?;
    let read = Kubeconfig::read_from(kubeconfig)?;
    let mut config = Config::from_custom_kubeconfig(read, &KubeConfigOptions::default()).await?;
    config.default_retry = false;
    Cluster::new(Client::try_from(config)?, programs).live().await
}
