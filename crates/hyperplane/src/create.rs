//! `hyperplane create`: makes clusters, node pools and kubeconfigs. What becomes of flags is said by recipes; here files and
//! the management cluster are read, and objects are written or printed.

mod carry_out;
mod cluster;
mod made;
mod making;
mod nodepool;
mod ssh;
mod surroundings;
mod waiting;

use std::{io::Write, process::ExitCode};

use clap::{Args, Subcommand};
use hyperplane_recipes::{ClusterCommand, PoolCommand};

use self::making::Making;
pub(crate) use self::making::note;
use crate::kubeconfig;

/// What to make.
#[derive(Args)]
pub struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Make a hosted cluster, and a node pool for it.
    ///
    /// For example: hyperplane create cluster kubevirt blue --node-pool-replicas 2
    ///
    /// Nothing is made unless everything can be. With --render it is printed instead, and no cluster is needed.
    #[command(subcommand)]
    Cluster(ClusterCommand<Making>),
    /// Make a node pool for a hosted cluster.
    ///
    /// For example: hyperplane create nodepool kubevirt web --cluster-name blue --replicas 3
    ///
    /// Without --release-image or --version nodes get the release of their cluster.
    #[command(subcommand)]
    Nodepool(PoolCommand<Making>),
    /// Print the kubeconfig of the administrator of a hosted cluster.
    ///
    /// For example: hyperplane create kubeconfig --name blue > blue.kubeconfig
    Kubeconfig(kubeconfig::Arguments),
}

/// Runs a command.
pub fn run(arguments: &Arguments, output: &mut impl Write) -> anyhow::Result<ExitCode> {
    match &arguments.command {
        Command::Cluster(command) => cluster::run(command, output),
        Command::Nodepool(command) => nodepool::run(command, output),
        Command::Kubeconfig(arguments) => kubeconfig::run(arguments, output),
    }
}
