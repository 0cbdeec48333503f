//! `hyperplane explain`: says what an edit would do before anybody makes it.

mod files;
mod outlook;
mod rollout;
mod table;

use std::{io::Write, process::ExitCode};

use clap::{Args, Subcommand};

/// What to explain.
#[derive(Args)]
pub struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Say which node pools an edit would roll, by which field, and how many nodes.
    ///
    /// For example: hyperplane explain rollout -f now.yaml --after then.yaml
    ///
    /// Ends with 0 if every node stays, with 3 if nodes are replaced or it cannot be said. What files and results look
    /// like is in docs/node-pools.md.
    Rollout(rollout::Arguments),
}

/// Runs a command. Its code says what it found.
pub fn run(arguments: &Arguments, output: &mut impl Write) -> anyhow::Result<ExitCode> {
    match &arguments.command {
        Command::Rollout(arguments) => rollout::run(arguments, output),
    }
}
