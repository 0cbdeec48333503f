//! How commands find a management cluster: a file, what any client finds, or the account of this pod.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, anyhow};
use clap::Args;
use kube::{
    Client, Config,
    config::{KubeConfigOptions, Kubeconfig, KubeconfigError},
};

/// What to do where no cluster is known.
const UNKNOWN: &str =
    "no cluster is known: use --kubeconfig FILE or set KUBECONFIG (hyperplane up writes .hyperplane/kubeconfig)";

/// The namespace of HostedClusters and NodePools if nothing else is asked for, as HyperShift's users have it.
pub(crate) const CLUSTERS: &str = "clusters";

/// The management cluster of a command.
#[derive(Args, Clone)]
pub(crate) struct Connection {
    /// The kubeconfig of the management cluster [default: as kubectl finds it].
    #[arg(long, value_name = "FILE")]
    kubeconfig: Option<PathBuf>,
    /// The context in it.
    #[arg(long, value_name = "NAME")]
    context: Option<String>,
}

impl Connection {
    /// The cluster of a file.
    pub(crate) fn of(kubeconfig: &Path, context: Option<&str>) -> Self {
        Self {
            kubeconfig: Some(kubeconfig.to_owned()),
            context: context.map(str::to_owned),
        }
    }

    /// A client, which has asked for nothing yet.
    pub(crate) async fn client(&self) -> anyhow::Result<Client> {
        connect(self.kubeconfig.as_deref(), self.context.as_deref()).await
    }

    /// What a client needs.
    pub(crate) async fn config(&self) -> anyhow::Result<Config> {
        config(self.kubeconfig.as_deref(), self.context.as_deref()).await
    }
}

/// A client for the cluster that a kubeconfig names; without one, for the cluster that this machine is set up for, or
/// that this pod runs on.
pub(crate) async fn connect(kubeconfig: Option<&Path>, context: Option<&str>) -> anyhow::Result<Client> {
    Ok(Client::try_from(config(kubeconfig, context).await?)?)
}

async fn config(kubeconfig: Option<&Path>, context: Option<&str>) -> anyhow::Result<Config> {
    let mut config = match (kubeconfig, context) {
        (Some(path), _) => from_file(path, context).await?,
        (None, Some(_)) => Config::from_kubeconfig(&options(context)).await.context(UNKNOWN)?,
        (None, None) => Config::infer().await.context(UNKNOWN)?,
    };
    // Commands and the runner say themselves what they do about failures.
    config.default_retry = false;
    Ok(config)
}

fn options(context: Option<&str>) -> KubeConfigOptions {
    KubeConfigOptions {
        context: context.map(str::to_owned),
        ..KubeConfigOptions::default()
    }
}

async fn from_file(path: &Path, context: Option<&str>) -> anyhow::Result<Config> {
    let name = path.display();
    let kubeconfig = Kubeconfig::read_from(path).map_err(|error| match error {
        KubeconfigError::ReadConfig(error, _) => {
            anyhow!("{name} cannot be read: {error}: look at the file and at --kubeconfig")
        }
        // What is wrong with it is not shown: it may be a key.
        _ => anyhow!("{name} cannot be read as a kubeconfig: look at the file and at --kubeconfig"),
    })?;
    let config = Config::from_custom_kubeconfig(kubeconfig, &options(context)).await;
    config.with_context(|| format!("{name} does not lead to a cluster: look at its contexts and at --context"))
}
