//! `hyperplane upgrade`: looks at upgrades before they happen.

mod check;
mod files;
mod live;
mod policies;
mod table;

use std::{io::Write, process::ExitCode};

use clap::{Args, Subcommand};

pub(crate) use self::live::plane_releases;

/// What to look at.
#[derive(Args)]
pub struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Judge a state, or a move between two, by skew policies.
    ///
    /// For example: hyperplane upgrade check -f now.yaml --after then.yaml
    ///
    /// Or of a cluster that is there: hyperplane upgrade check blue --to 1.36.4 --pool web=1.36.4
    ///
    /// Ends with 0 if nothing forbids it and nothing is missing, else with 3. What state files and results look like is
    /// in docs/upgrade-check.md, every rule in docs/rules.md.
    Check(Box<check::Arguments>),
    /// List the policies that can judge.
    Policies(policies::Arguments),
}

/// Runs a command. Its code says what it found.
pub fn run(arguments: &Arguments, output: &mut impl Write) -> anyhow::Result<ExitCode> {
    match &arguments.command {
        Command::Check(arguments) => check::run(arguments, output),
        Command::Policies(arguments) => policies::run(arguments, output).map(|()| ExitCode::SUCCESS),
    }
}
