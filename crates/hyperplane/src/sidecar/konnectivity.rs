//! The command line of `konnectivity-https-proxy` and `konnectivity-socks5-proxy`, which differ only in the language of
//! their clients.

use std::net::SocketAddr;

use clap::Args;
use hyperplane_sidecars::{
    place::Place,
    tunnel::{self, Language, Tunnels},
};

use super::tls::MutualTls;
use crate::ending;
use crate::signals::Signals;

/// From where to where.
#[derive(Args)]
pub struct Arguments {
    /// Where programs in the same pod come in.
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:8090")]
    listen: SocketAddr,
    /// The konnectivity server.
    #[arg(long, value_name = "HOST")]
    konnectivity_host: String,
    /// Its port for those who want to connect.
    #[arg(long, value_name = "PORT", default_value_t = 8090)]
    konnectivity_port: u16,
    #[command(flatten)]
    tls: MutualTls,
}

pub(super) async fn http(arguments: &Arguments, signals: Signals) -> anyhow::Result<()> {
    run(Language::Http, arguments, signals).await
}

pub(super) async fn socks(arguments: &Arguments, signals: Signals) -> anyhow::Result<()> {
    run(Language::Socks, arguments, signals).await
}

async fn run(language: Language, arguments: &Arguments, signals: Signals) -> anyhow::Result<()> {
    let tunnels = Tunnels {
        server: Place::new(&arguments.konnectivity_host, arguments.konnectivity_port)?,
        tls: arguments.tls.files(),
    };
    let program = async |stop| tunnel::run(language, arguments.listen, &tunnels, &stop).await;
    ending::serve(program, signals).await
}
