//! The command line of the server, and what its values must look like.

use std::{net::SocketAddr, path::PathBuf};

use clap::{Args, Subcommand, ValueEnum};
use hyperplane_apiserver::ServiceRange;

/// What to do.
#[derive(Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub struct Arguments {
    #[command(subcommand)]
    pub(super) task: Option<Task>,
    #[command(flatten)]
    pub(super) serve: Serve,
}

/// How to serve.
#[derive(Args)]
#[command(group = clap::ArgGroup::new("keeping").required(true).multiple(true))]
pub(crate) struct Serve {
    /// Where objects and credentials are kept; made if it is not there.
    #[arg(long, value_name = "DIR", group = "keeping")]
    pub(crate) data_dir: Option<PathBuf>,
    /// Forget all objects at the end; only credentials are kept, if there is a data directory.
    #[arg(long, group = "keeping")]
    pub(crate) in_memory: bool,
    /// Where to listen; port 0 picks a free one.
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:6443")]
    pub(crate) listen: SocketAddr,
    /// Where to write the administrator's kubeconfig [default: DIR/kubeconfig].
    #[arg(long, value_name = "FILE", required_unless_present = "data_dir")]
    pub(crate) kubeconfig_out: Option<PathBuf>,
    /// A further name or address by which clients reach the server; repeatable.
    #[arg(long, value_name = "NAME")]
    pub(crate) tls_san: Vec<String>,
    /// Addresses of Services; the server itself has the first one.
    #[arg(long, value_name = "CIDR", default_value = "10.96.0.0/12")]
    pub(crate) service_cluster_ip_range: ServiceRange,
    /// Leave to a kube-controller-manager beside it what such a program does: garbage, the end of namespaces, service
    /// accounts, aggregated roles, certificates.
    #[arg(long)]
    pub(crate) external_controller_manager: bool,
    /// Where to write a line for every request that changes something; - is standard output.
    #[arg(long, value_name = "FILE")]
    pub(crate) audit_log: Option<PathBuf>,
    /// How to say that the server is ready.
    #[arg(short, long, value_enum, default_value_t = Output::Text)]
    pub(crate) output: Output,
}

/// A task on the data of a server that does not run.
#[derive(Subcommand)]
pub(super) enum Task {
    /// Check the data of a server that does not run. Changes nothing.
    Fsck(Fsck),
    /// Print all objects of a server that does not run, to keep or to carry elsewhere.
    ///
    /// For example: hyperplane apiserver dump --data-dir DIR > FILE
    Dump(Place),
    /// Make the data of a new server from a dump.
    ///
    /// For example: hyperplane apiserver restore --data-dir DIR < FILE
    Restore(Place),
}

/// Where the data is.
#[derive(Args)]
pub(super) struct Place {
    /// The data directory.
    #[arg(long, value_name = "DIR")]
    pub(super) data_dir: PathBuf,
}

/// What to check.
#[derive(Args)]
pub(super) struct Fsck {
    #[command(flatten)]
    pub(super) place: Place,
    /// As which text.
    #[arg(short, long, value_enum, default_value_t = Output::Text)]
    pub(super) output: Output,
}

/// How to say something.
#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum Output {
    /// A line for people.
    Text,
    /// A line of JSON.
    Json,
}
