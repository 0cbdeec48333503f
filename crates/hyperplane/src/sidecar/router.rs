//! The command line of `router`.

use std::{net::SocketAddr, path::PathBuf, time::Duration};

use clap::Args;
use hyperplane_sidecars::{
    router::{self, Settings},
    span,
};

use crate::ending;
use crate::signals::Signals;

/// What is routed.
#[derive(Args)]
pub struct Arguments {
    /// The routes, which may change at any time.
    #[arg(long, value_name = "FILE")]
    config: PathBuf,
    /// Where clients come in.
    #[arg(long, value_name = "ADDRESS")]
    listen: SocketAddr,
    /// Where probes come in.
    #[arg(long, value_name = "ADDRESS")]
    health: SocketAddr,
    /// How long connections may take to end once the program is told to: less than the pod is given.
    #[arg(long, value_name = "TIME", default_value = "50s", value_parser = span::parse)]
    farewell: Duration,
}

pub(super) async fn run(arguments: &Arguments, signals: Signals) -> anyhow::Result<()> {
    let settings = Settings {
        config: arguments.config.clone(),
        listen: arguments.listen,
        health: arguments.health,
        farewell: arguments.farewell,
    };
    ending::serve(async |stop| router::run(&settings, &stop).await, signals).await
}
