//! `hyperplane operator` and the operators of one control plane: everything that reconciles on a cluster that is reached
//! by sockets. Owns the command line, the client and the end of the process.

mod client;
mod health;
mod run;

use std::{net::SocketAddr, path::PathBuf};

use clap::Args;
use hyperplane_world::Roles;

pub(crate) use self::client::connect;

/// How the management cluster is reached.
#[derive(Args)]
pub struct Place {
    /// The kubeconfig of the management cluster [default: as any client finds it, or the account of this pod].
    #[arg(long, value_name = "FILE")]
    kubeconfig: Option<PathBuf>,
    /// The context in it.
    #[arg(long, value_name = "NAME", requires = "kubeconfig")]
    context: Option<String>,
    /// Where to answer /healthz, /readyz and /metrics; without it nothing listens.
    #[arg(long, value_name = "ADDRESS")]
    listen: Option<SocketAddr>,
}

/// The manager: all operators for all control planes.
#[derive(Args)]
pub struct Manager {
    #[command(flatten)]
    place: Place,
    /// The image of this program, for what runs in control planes.
    #[arg(long, value_name = "IMAGE", default_value = DEFAULT_IMAGE)]
    image: String,
    /// The domain for endpoints that are published by Route without a hostname.
    #[arg(long, value_name = "DOMAIN")]
    ingress_domain: Option<String>,
    /// A network of the management cluster that hosted control planes must not reach; repeatable.
    #[arg(long, value_name = "CIDR")]
    management_network: Vec<String>,
    /// Do not write kinds, priorities and the rights of the manager: somebody else does.
    #[arg(long)]
    no_setup: bool,
    /// Write without a lease: no other manager runs.
    #[arg(long)]
    no_lease: bool,
    /// Reach hosted API servers through this address, where the name in the TLS greeting leads on: for a manager outside
    /// of the management cluster.
    #[arg(long, value_name = "ADDRESS", conflicts_with = "twin")]
    hosted_relay: Option<SocketAddr>,
    /// Play the machines of the management cluster: pods are run by a simulation, with hosted API servers that answer.
    #[arg(long)]
    twin: bool,
}

/// One operator of one control plane.
#[derive(Args)]
pub struct Tenant {
    #[command(flatten)]
    place: Place,
    /// The namespace of the control plane.
    #[arg(long, value_name = "NAME")]
    namespace: String,
    /// Work only while the control plane is asked to have this release; another operator has the others.
    #[arg(long, value_name = "IMAGE")]
    only_release: Option<String>,
}

/// The image that releases of this program are published under.
pub(crate) const DEFAULT_IMAGE: &str = concat!("hyperplane.dev/hyperplane:v", env!("CARGO_PKG_VERSION"));

/// Which operator of a control plane.
#[derive(Clone, Copy)]
pub enum Part {
    /// That of its components.
    ControlPlane,
    /// That of its certificates.
    Pki,
    /// That of what is inside.
    Config,
}

/// Runs the manager.
pub fn manage(arguments: &Manager) -> anyhow::Result<()> {
    run::process(|stop| run::manager(arguments, stop))
}

/// Runs one operator of one control plane.
pub fn serve_tenant(part: Part, arguments: &Tenant) -> anyhow::Result<()> {
    let namespace = arguments.namespace.clone();
    let roles = match part {
        Part::ControlPlane => Roles::ControlPlane {
            namespace,
            only_release: arguments.only_release.clone(),
        },
        Part::Pki => Roles::Pki { namespace },
        Part::Config => Roles::Config { namespace },
    };
    run::process(|stop| run::tenant(&arguments.place, roles, stop))
}
