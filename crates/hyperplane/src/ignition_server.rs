//! The command line of `ignition-server`.

use std::{net::SocketAddr, path::PathBuf};

use clap::Args;
use hyperplane_ignition::{Settings, run, tls::CertificateFiles};
use tracing_subscriber::filter::LevelFilter;

use crate::{connection::connect, ending, signals::Signals, system};

/// Which tokens are served, and where.
#[derive(Args)]
pub struct Arguments {
    /// The kubeconfig of the management cluster [default: the account of this pod].
    #[arg(long, value_name = "FILE")]
    kubeconfig: Option<PathBuf>,
    /// The namespace of the control plane.
    #[arg(long, value_name = "NAME")]
    namespace: String,
    /// Where machines come in.
    #[arg(long, value_name = "ADDRESS")]
    listen: SocketAddr,
    /// Where probes come in.
    #[arg(long, value_name = "ADDRESS")]
    health: SocketAddr,
    /// The certificate that machines are shown, which may change at any time.
    #[arg(long, value_name = "FILE")]
    cert_file: PathBuf,
    /// Its private key.
    #[arg(long, value_name = "FILE")]
    key_file: PathBuf,
}

/// Serves until it is told to end.
pub fn serve(arguments: &Arguments) -> anyhow::Result<()> {
    system::log_from(LevelFilter::INFO);
    let settings = Settings {
        namespace: arguments.namespace.clone(),
        listen: arguments.listen,
        health: arguments.health,
        certificate: CertificateFiles {
            certificate: arguments.cert_file.clone(),
            key: arguments.key_file.clone(),
        },
        instance: system::instance(),
        clock: system::clock(),
        seed: system::seed(),
    };
    system::runtime()?.block_on(async {
        let signals = Signals::new()?;
        let client = connect(arguments.kubeconfig.as_deref(), None).await?;
        ending::serve(|stop| run(client, settings, stop), signals).await
    })
}
