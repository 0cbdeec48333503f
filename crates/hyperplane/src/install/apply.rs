//! Writes an installation to a management cluster.

use std::{io::Write, process::ExitCode, time::Duration};

use anyhow::Context as _;
use clap::Args;
use hyperplane_world::{install, until_available};

use super::{choices::Choices, word};
use crate::{connection::Connection, ending, signals::Signals, system};

/// Where to install, and how.
#[derive(Args)]
pub(super) struct Arguments {
    #[command(flatten)]
    connection: Connection,
    #[command(flatten)]
    choices: Choices,
    /// Wait until the operators are available.
    #[arg(long)]
    wait: bool,
    /// How long to wait for them, in seconds.
    #[arg(long, value_name = "SECONDS", default_value_t = 300, requires = "wait")]
    timeout: u64,
}

/// Installs, and tells of each object.
pub(super) fn run(arguments: &Arguments, output: &mut (impl Write + Send)) -> anyhow::Result<ExitCode> {
    let options = arguments.choices.options()?;
    system::small_runtime()?.block_on(async {
        let signals = Signals::new()?;
        let work = async {
            let client = arguments.connection.client().await?;
            // Nobody may be listening, and what was begun is to be done.
            let mut tell = |title: &str, outcome| {
                writeln!(output, "{title} {}", word(outcome)).ok();
            };
            install(&client, &options, &mut tell)
                .await
                .context("Hyperplane cannot be installed")?;
            if arguments.wait {
                let patience = Duration::from_secs(arguments.timeout);
                let mut tell = |line: &str| {
                    writeln!(output, "{line}").ok();
                };
                until_available(&client, &options, patience, &mut tell).await?;
            }
            anyhow::Ok(ExitCode::SUCCESS)
        };
        ending::finish(work, signals).await
    })
}
