//! `hyperplane destroy`: removes clusters and node pools, and shows what is left while they go. The name is all the
//! confirmation that there is, as with kubectl.

mod beside;
mod cluster;
mod nodepool;
mod remaining;

use std::{
    io::{self, Write},
    process::ExitCode,
    time::Duration,
};

use clap::{Args, Subcommand};
use tokio::time::sleep;

use crate::{
    connection::{CLUSTERS, Connection},
    failing::not_yet,
    limit::Limit,
};

/// How often it is looked.
const LOOK: Duration = Duration::from_secs(1);

/// What to remove.
#[derive(Args)]
pub struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Remove a hosted cluster with its node pools and machines.
    ///
    /// For example: hyperplane destroy cluster blue
    Cluster(cluster::Arguments),
    /// Remove a node pool with its machines.
    ///
    /// For example: hyperplane destroy nodepool web
    Nodepool(nodepool::Arguments),
}

/// Whose removal, and how it is waited for.
#[derive(Args)]
struct Removal {
    /// Its name
    #[arg(value_name = "NAME", required_unless_present = "name", conflicts_with = "name")]
    named: Option<String>,
    /// Its name, in place of NAME
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    /// Its namespace
    #[arg(short, long, value_name = "NAME", default_value = CLUSTERS)]
    namespace: String,
    #[command(flatten)]
    connection: Connection,
    /// Do not wait until it is gone
    #[arg(long)]
    no_wait: bool,
    /// How long to wait, such as 10m; 0 means for ever
    #[arg(long, value_name = "DURATION", default_value = "30m")]
    timeout: Limit,
}

impl Removal {
    fn name(&self) -> &str {
        self.name.as_deref().or(self.named.as_deref()).unwrap_or_default()
    }
}

/// Runs a command.
pub fn run(arguments: &Arguments, output: &mut impl Write) -> anyhow::Result<ExitCode> {
    match &arguments.command {
        Command::Cluster(arguments) => cluster::run(arguments, output),
        Command::Nodepool(arguments) => nodepool::run(arguments, output),
    }
}

/// Waits until nothing is left, and tells what is whenever that changes.
async fn watch(what: &str, limit: Limit, look: impl AsyncFn() -> anyhow::Result<Option<String>>) -> anyhow::Result<()> {
    let mut last = String::new();
    let waiting = async {
        loop {
            let Some(left) = look().await? else {
                return Ok(());
            };
            if left != last {
                // Whoever closed standard error does not want to know.
                io::stderr().write_all(left.as_bytes()).ok();
                last = left;
            }
            sleep(LOOK).await;
        }
    };
    let ended: Option<anyhow::Result<()>> = limit.within(waiting).await;
    ended.unwrap_or_else(|| {
        Err(not_yet(format!(
            "the end of {what}, which goes on by itself; look again with a longer --timeout"
        )))
    })
}
