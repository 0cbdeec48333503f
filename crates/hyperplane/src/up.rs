//! `hyperplane up`: a whole management cluster on this machine, or its operators on one that exists. Owns the command line;
//! where everything stands is one file each, and so is what is done there.

mod account;
mod cost;
mod embedded;
mod greeting;
mod pace;
mod real;
mod work;

use std::{io::Write, net::SocketAddr, path::PathBuf, process::ExitCode};

use clap::Args;
use hyperplane_demo::Speed;

use self::work::Work;
use crate::{apiserver::Output, connection::Connection};

/// Where everything is kept if nothing else is asked for.
const DATA: &str = ".hyperplane";

/// What to bring up.
#[derive(Args)]
pub struct Arguments {
    /// Where objects, credentials and hosted clusters are kept; made if it is not there [default: .hyperplane].
    #[arg(long, value_name = "DIR", help_heading = "On this machine")]
    data_dir: Option<PathBuf>,
    /// Forget everything at the end. With --data-dir, credentials are kept there.
    #[arg(long, alias = "in-memory", help_heading = "On this machine")]
    ephemeral: bool,
    /// Where to listen; port 0 picks a free one.
    #[arg(
        long,
        value_name = "ADDRESS",
        default_value = "127.0.0.1:6443",
        help_heading = "On this machine"
    )]
    listen: SocketAddr,
    /// Where to write the administrator's kubeconfig [default: DIR/kubeconfig].
    #[arg(long, value_name = "FILE", help_heading = "On this machine")]
    kubeconfig_out: Option<PathBuf>,
    /// Where to write a line for every request that changes something; - is standard output.
    #[arg(long, value_name = "FILE", help_heading = "On this machine")]
    audit_log: Option<PathBuf>,
    #[command(flatten)]
    cluster: ExistingCluster,
    #[command(flatten)]
    work: Work,
    /// How many times faster than usual simulated machines and programs are.
    #[arg(long, value_name = "FACTOR", default_value_t = Speed::default())]
    speed: Speed,
    /// The domain for endpoints that are published by Route without a hostname.
    #[arg(long, value_name = "DOMAIN", default_value = "apps.hyperplane.localhost")]
    ingress_domain: String,
    /// How to say that everything is ready, and what came of the work.
    #[arg(short, long, value_enum, default_value_t = Output::Text)]
    output: Output,
}

/// A management cluster that exists.
#[derive(Args)]
#[command(next_help_heading = "On a cluster that exists")]
struct ExistingCluster {
    /// Run on the cluster of this kubeconfig, as its administrator; nothing of it is kept on this machine.
    #[arg(
        long,
        value_name = "FILE",
        conflicts_with_all = ["data_dir", "ephemeral", "listen", "kubeconfig_out", "audit_log"]
    )]
    kubeconfig: Option<PathBuf>,
    /// The context in it.
    #[arg(long, value_name = "NAME", requires = "kubeconfig")]
    context: Option<String>,
    /// Play the machines of the cluster, which must have none: pods are simulated, with hosted API servers that answer.
    #[arg(long, requires = "kubeconfig")]
    twin: bool,
}

/// Serves until a signal comes, a part fails or the work is done.
pub fn run(arguments: &Arguments, output: &mut impl Write) -> anyhow::Result<ExitCode> {
    arguments.work.check()?;
    match &arguments.cluster.kubeconfig {
        None => embedded::run(arguments, output),
        Some(kubeconfig) => {
            let connection = Connection::of(kubeconfig, arguments.cluster.context.as_deref());
            real::run(arguments, &connection)
        }
    }
}
