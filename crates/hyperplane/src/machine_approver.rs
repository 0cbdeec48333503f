//! The command line of `machine-approver`.

use std::{net::SocketAddr, path::PathBuf};

use clap::Args;
use hyperplane_machine_approver::{Health, Settings, run};
use hyperplane_runtime::Reach;
use tracing_subscriber::filter::LevelFilter;

use crate::{connection::connect, ending, health, signals::Signals, system};

/// Whose machines join which cluster.
#[derive(Args)]
pub struct Arguments {
    /// The namespace of the control plane, with its machines.
    #[arg(long, value_name = "NAME")]
    namespace: String,
    /// The kubeconfig of the hosted cluster, which may change at any time.
    #[arg(long, value_name = "FILE")]
    kubeconfig: PathBuf,
    /// The kubeconfig of the management cluster [default: the account of this pod].
    #[arg(long, value_name = "FILE")]
    management_kubeconfig: Option<PathBuf>,
    /// Where to answer /healthz and /readyz; without it nothing listens.
    #[arg(long, value_name = "ADDRESS")]
    listen: Option<SocketAddr>,
}

/// Approves until it is told to end.
pub fn approve(arguments: &Arguments) -> anyhow::Result<()> {
    system::log_from(LevelFilter::INFO);
    let settings = Settings {
        namespace: arguments.namespace.clone(),
        kubeconfig: arguments.kubeconfig.clone(),
        reach: Reach::sockets(),
        health: Health::default(),
        instance: system::instance(),
        clock: system::clock(),
        seed: system::seed(),
    };
    // There is one for every hosted cluster, and it does little: one thread is enough.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let signals = Signals::new()?;
        let management = connect(arguments.management_kubeconfig.as_deref(), None).await?;
        let answers = settings.health.clone();
        let probes = health::serve(arguments.listen, move |method, path| answers.respond(method, path));
        let program = |stop| async move {
            tokio::select! {
                ended = run(management, settings, stop) => ended.map_err(anyhow::Error::from),
                failed = probes => failed,
            }
        };
        ending::serve(program, signals).await
    })
}
