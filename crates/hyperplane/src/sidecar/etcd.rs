//! The command lines of `etcd-defrag`, `etcd-recover-member` and `etcd-reset-member`.

use std::{path::PathBuf, time::Duration};

use anyhow::Context as _;
use clap::Args;
use hyperplane_sidecars::{
    etcd::{
        defragment::{self, Thresholds},
        recover, reset,
        topology::Topology,
    },
    span,
};

use super::tls::MutualTls;
use crate::{connection::connect, ending, signals::Signals};

/// Which members are looked after.
#[derive(Args)]
pub struct DefragmentArguments {
    /// All members, by their URLs.
    #[arg(long, value_name = "URL", value_delimiter = ',', required = true)]
    endpoints: Vec<String>,
    /// The member beside which this program runs: it then acts only while that member leads.
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    #[command(flatten)]
    tls: MutualTls,
    /// The time from one pass to the next.
    #[arg(long, value_name = "TIME", default_value = "10m", value_parser = span::parse)]
    interval: Duration,
}

/// Which member keeps failing.
#[derive(Args)]
pub struct RecoverArguments {
    /// The member, by the name of its pod.
    #[arg(long, value_name = "NAME")]
    name: String,
    /// The uid of the pod that keeps failing: another pod of its name is left alone.
    #[arg(long, value_name = "UID")]
    uid: String,
    /// The namespace of the members.
    #[arg(long, value_name = "NAME")]
    namespace: String,
    /// How many members there are to be.
    #[arg(long, value_name = "COUNT")]
    replicas: u32,
    #[command(flatten)]
    tls: MutualTls,
    /// The kubeconfig of the management cluster [default: the account of this pod].
    #[arg(long, value_name = "FILE")]
    management_kubeconfig: Option<PathBuf>,
}

/// Which member starts.
#[derive(Args)]
pub struct ResetArguments {
    /// The member, by the name of its pod.
    #[arg(long, value_name = "NAME")]
    name: String,
    /// The namespace of the members.
    #[arg(long, value_name = "NAME")]
    namespace: String,
    /// How many members there are to be.
    #[arg(long, value_name = "COUNT")]
    replicas: u32,
    /// What all members share of their configuration.
    #[arg(long, value_name = "FILE")]
    template: PathBuf,
    /// Holds `new` before there was a cluster, and `existing` afterwards: then none is begun.
    #[arg(long, value_name = "FILE")]
    state: PathBuf,
    /// Where the configuration of this member goes.
    #[arg(long, value_name = "FILE")]
    output: PathBuf,
    /// Where the member keeps its data.
    #[arg(long, value_name = "DIR")]
    data_dir: PathBuf,
    #[command(flatten)]
    tls: MutualTls,
}

pub(super) async fn defragment(arguments: &DefragmentArguments, signals: Signals) -> anyhow::Result<()> {
    let settings = defragment::Settings {
        endpoints: arguments.endpoints.clone(),
        name: arguments.name.clone(),
        tls: arguments.tls.files(),
        interval: arguments.interval,
        thresholds: Thresholds::default(),
    };
    ending::until_told(defragment::run(&settings), signals).await;
    Ok(())
}

pub(super) async fn recover(arguments: &RecoverArguments, signals: Signals) -> anyhow::Result<()> {
    let settings = recover::Settings {
        topology: topology(&arguments.name, &arguments.namespace, arguments.replicas)?,
        namespace: arguments.namespace.clone(),
        uid: arguments.uid.clone(),
    };
    let tls = arguments.tls.files();
    let management = connect(arguments.management_kubeconfig.as_deref(), None).await?;
    let work = recover::run(&settings, &management, || recover::ask(&settings.topology, &tls));
    ending::finish(Box::pin(work), signals).await
}

pub(super) async fn reset(arguments: &ResetArguments, signals: Signals) -> anyhow::Result<()> {
    let settings = reset::Settings {
        topology: topology(&arguments.name, &arguments.namespace, arguments.replicas)?,
        namespace: arguments.namespace.clone(),
        template: arguments.template.clone(),
        state: arguments.state.clone(),
        output: arguments.output.clone(),
        data_directory: arguments.data_dir.clone(),
        tls: arguments.tls.files(),
    };
    ending::finish(reset::run(&settings), signals).await.map(drop)
}

fn topology(name: &str, namespace: &str, replicas: u32) -> anyhow::Result<Topology> {
    let topology = Topology::in_namespace(name, namespace, replicas);
    topology.with_context(|| format!("{name} is none of {replicas} members, which are called etcd-0, etcd-1 and so on"))
}
