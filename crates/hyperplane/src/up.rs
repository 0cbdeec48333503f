//! `hyperplane up`: a whole management cluster on this machine. Owns the command line and the order of start and end; the
//! parts are the embedded API server, the operators and the simulated machines.

use std::{
    io::Write,
    net::SocketAddr,
    path::{Path, PathBuf},
};

use anyhow::Context as _;
use clap::Args;
use hyperplane_apiserver::ServiceRange;
use hyperplane_twin::{Data, HEARTBEAT, Listeners, Programs};
use hyperplane_world::{Embedded, Roles};

use crate::{
    apiserver::{self, Output, Parts, Running, Serve},
    operator::DEFAULT_IMAGE,
    programs, system,
};

/// Where everything is kept if nothing else is asked for.
const DATA: &str = ".hyperplane";
/// The part of it that hosted clusters have.
const HOSTED: &str = "hosted";

/// What to bring up.
#[derive(Args)]
pub struct Arguments {
    /// Where objects, credentials and hosted clusters are kept; made if it is not there.
    #[arg(long, value_name = "DIR", default_value = DATA)]
    data_dir: PathBuf,
    /// Forget all objects at the end; only credentials are kept.
    #[arg(long)]
    in_memory: bool,
    /// Where to listen; port 0 picks a free one.
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:6443")]
    listen: SocketAddr,
    /// Where to write the administrator's kubeconfig [default: DIR/kubeconfig].
    #[arg(long, value_name = "FILE")]
    kubeconfig_out: Option<PathBuf>,
    /// Where to write a line for every request that changes something; - is standard output.
    #[arg(long, value_name = "FILE")]
    audit_log: Option<PathBuf>,
    /// The domain for endpoints that are published by Route without a hostname.
    #[arg(long, value_name = "DOMAIN", default_value = "apps.hyperplane.localhost")]
    ingress_domain: String,
    /// How to say that everything is ready.
    #[arg(short, long, value_enum, default_value_t = Output::Text)]
    output: Output,
}

/// Serves until a signal comes or a part fails.
pub fn run(arguments: &Arguments, output: &mut impl Write) -> anyhow::Result<()> {
    let look = "get hostedclusters -A";
    apiserver::serve(&serve(arguments), look, output, async |running| {
        start(arguments, running).await
    })
}

/// How the API server is to serve.
fn serve(arguments: &Arguments) -> Serve {
    Serve {
        data_dir: Some(arguments.data_dir.clone()),
        in_memory: arguments.in_memory,
        listen: arguments.listen,
        kubeconfig_out: arguments.kubeconfig_out.clone(),
        tls_san: Vec::new(),
        service_cluster_ip_range: ServiceRange::default(),
        audit_log: arguments.audit_log.clone(),
        output: arguments.output,
    }
}

/// Starts what runs beside the API server.
async fn start(arguments: &Arguments, running: &Running) -> anyhow::Result<Parts> {
    let embedded = Embedded {
        server: running.server.clone(),
        shared: running.shared.clone(),
        clock: system::clock(),
        seed: system::seed(),
        entropy: system::entropy(),
        image: DEFAULT_IMAGE.to_owned(),
        ingress_domain: Some(arguments.ingress_domain.clone()),
    };
    embedded
        .set_up()
        .await
        .context("the management cluster cannot be set up")?;
    let mut settings = embedded.twin_settings();
    settings.listeners = Listeners::Loopback;
    settings.machines.heartbeat = Some(HEARTBEAT);
    settings.programs = Programs::judged_by(programs::judge);
    settings.data = data(arguments);
    let twin = embedded.twin(settings);
    let operators = embedded.operators("up", &twin.network(), Roles::All).await;
    let operators = operators.context("the operators cannot start")?;
    let mut parts = Parts::default();
    parts.start(|stop| async move { twin.run(stop).await.context("the simulated machines ended") });
    parts.start(|stop| async move { operators.run(stop).await.context("the operators ended") });
    Ok(parts)
}

/// Where hosted clusters keep their data.
fn data(arguments: &Arguments) -> Data {
    if arguments.in_memory {
        Data::Memory
    } else {
        Data::Directory(Path::join(&arguments.data_dir, HOSTED))
    }
}
