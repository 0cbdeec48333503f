//! `hyperplane explain`: says why something waits, and what an edit would do before anybody makes it.

mod files;
mod live;
mod outlook;
mod rollout;
mod table;

use std::{io::Write, process::ExitCode};

use clap::{Args, Subcommand};

/// What to explain.
#[derive(Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub struct Arguments {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    about: live::Named,
}

#[derive(Subcommand)]
enum Command {
    /// Say why a cluster waits: conditions, owned objects and blockers, walked to the root cause.
    ///
    /// Ends with 0 if nothing waits or what waits takes its course, with 3 if something holds it up or it cannot be said.
    #[command(visible_aliases = ["hostedcluster", "hc"])]
    Cluster(live::Named),
    /// Say why a node pool waits.
    #[command(visible_aliases = ["np", "pool"])]
    Nodepool(live::Named),
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
        Some(Command::Cluster(arguments)) => live::run(live::About::Cluster, arguments, output),
        Some(Command::Nodepool(arguments)) => live::run(live::About::Pool, arguments, output),
        Some(Command::Rollout(arguments)) => rollout::run(arguments, output),
        None => live::run(live::About::Either, &arguments.about, output),
    }
}
