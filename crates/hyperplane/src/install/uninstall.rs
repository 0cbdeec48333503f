//! Takes an installation away from a management cluster.

use std::{io::Write, process::ExitCode, time::Duration};

use anyhow::Context as _;
use clap::Args;
use hyperplane_install::{MachineManager, NAMESPACE, Options};
use hyperplane_world::remove;

use super::word;
use crate::{connection::Connection, ending, failing::not_yet, operator::scope, signals::Signals, system};

/// What to take away, and from where.
#[derive(Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    connection: Connection,
    /// The namespace of the operators.
    #[arg(long, value_name = "NAME", default_value = NAMESPACE)]
    namespace: String,
    /// The scope that they were installed for.
    #[arg(long, value_name = "NAME", value_parser = scope)]
    scope: Option<String>,
    /// Remove the kinds as well, as far as they are ours and there are no objects of them.
    #[arg(long)]
    remove_kinds: bool,
    /// How long to wait until everything is gone, in seconds.
    #[arg(long, value_name = "SECONDS", default_value_t = 120)]
    timeout: u64,
}

/// Takes away what was installed, and tells of each object.
pub(super) fn run(arguments: &Arguments, output: &mut (impl Write + Send)) -> anyhow::Result<ExitCode> {
    let options = options(arguments);
    let patience = Duration::from_secs(arguments.timeout);
    system::small_runtime()?.block_on(async {
        let signals = Signals::new()?;
        let work = async {
            let client = arguments.connection.client().await?;
            // Nobody may be listening, and what was begun is to be done.
            let mut tell = |title: &str, outcome| {
                writeln!(output, "{title} {}", word(outcome)).ok();
            };
            let left = remove(&client, &options, arguments.remove_kinds, patience, &mut tell)
                .await
                .context("Hyperplane cannot be uninstalled")?;
            if left.is_empty() {
                return Ok(ExitCode::SUCCESS);
            }
            Err(not_yet(format!("{} to be gone", left.join(", "))))
        };
        ending::finish(work, signals).await
    })
}

/// Everything that can have been installed there. What was not is not found.
fn options(arguments: &Arguments) -> Options {
    Options {
        namespace: arguments.namespace.clone(),
        scope: arguments.scope.clone(),
        machines: MachineManager::Separate,
        monitoring: true,
        feature_set: hyperplane_api::schema::FeatureSet::CustomNoUpgrade,
        ..Options::default()
    }
}
