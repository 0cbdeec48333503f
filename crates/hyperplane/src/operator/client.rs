//! The client of a management cluster, from a file or from what any client finds.

use std::path::Path;

use anyhow::Context as _;
use kube::{
    Client, Config,
    config::{KubeConfigOptions, Kubeconfig},
};

/// A client for the cluster that a kubeconfig names; without one, for the cluster that this machine is set up for, or
/// that this pod runs on.
pub(super) async fn connect(kubeconfig: Option<&Path>, context: Option<&str>) -> anyhow::Result<Client> {
    let mut config = match kubeconfig {
        Some(path) => from_file(path, context).await?,
        None => Config::infer()
            .await
            .context("no cluster is known: use --kubeconfig FILE")?,
    };
    // The runner has retries of its own.
    config.default_retry = false;
    Ok(Client::try_from(config)?)
}

async fn from_file(path: &Path, context: Option<&str>) -> anyhow::Result<Config> {
    let name = path.display();
    let kubeconfig = Kubeconfig::read_from(path).with_context(|| format!("{name} cannot be read as a kubeconfig"))?;
    let options = KubeConfigOptions {
        context: context.map(str::to_owned),
        ..KubeConfigOptions::default()
    };
    let config = Config::from_custom_kubeconfig(kubeconfig, &options).await;
    config.with_context(|| format!("{name} does not lead to a cluster"))
}
