//! The command lines of `etcd-defrag` and `etcd-reset-member`.

use std::{path::PathBuf, time::Duration};

use anyhow::Context as _;
use clap::Args;
use hyperplane_sidecars::{
    etcd::{
        defragment::{self, Thresholds},
        reset,
        topology::Topology,
    },
    span,
};

use super::tls::MutualTls;
use crate::ending;
use crate::signals::Signals;

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

pub(super) async fn reset(arguments: &ResetArguments, signals: Signals) -> anyhow::Result<()> {
    let topology = Topology::in_namespace(&arguments.name, &arguments.namespace, arguments.replicas);
    let topology = topology.with_context(|| {
        format!(
            "{} is none of {} members, which are called etcd-0, etcd-1 and so on",
            arguments.name, arguments.replicas
        )
    })?;
    let settings = reset::Settings {
        topology,
        namespace: arguments.namespace.clone(),
        template: arguments.template.clone(),
        state: arguments.state.clone(),
        output: arguments.output.clone(),
        data_directory: arguments.data_dir.clone(),
        tls: arguments.tls.files(),
    };
    ending::finish(reset::run(&settings), signals).await.map(drop)
}
