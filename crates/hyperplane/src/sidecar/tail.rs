//! The command line of `tail`.

use std::path::PathBuf;

use clap::Args;
use hyperplane_sidecars::tail;

use crate::ending;
use crate::signals::Signals;

/// What is copied.
#[derive(Args)]
pub struct Arguments {
    /// The log; waited for if it is not there yet.
    #[arg(long, value_name = "FILE")]
    file: PathBuf,
}

pub(super) async fn run(arguments: &Arguments, signals: Signals) -> anyhow::Result<()> {
    let mut output = tokio::io::stdout();
    ending::serve(
        async |stop| tail::run(&arguments.file, &mut output, &stop).await,
        signals,
    )
    .await
}
