//! `hyperplane install` and `hyperplane uninstall`: what belongs on a management cluster printed, written there and taken
//! away. Owns the command lines; what it is, `hyperplane-install` says.

mod apply;
mod choices;
mod render;
mod uninstall;

use std::{io::Write, process::ExitCode};

use clap::{Args, Subcommand};

pub(crate) use self::uninstall::Arguments as Uninstall;

/// What to do.
#[derive(Args)]
pub struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Print everything that would be installed, ready for kubectl.
    ///
    /// For example: hyperplane install render | kubectl apply --server-side -f -
    Render(render::Arguments),
    /// Install, or bring what is installed up to date.
    ///
    /// Writes only what differs. A kind that somebody else has defined is left as it is.
    Apply(apply::Arguments),
    /// Print the right to administer one hosted cluster: its state and its kubeconfig, by name.
    ///
    /// For example: hyperplane install instance-admin one --user ada | kubectl apply -f -
    InstanceAdmin(render::InstanceAdmin),
    /// Take away what was installed; the same as hyperplane uninstall.
    Uninstall(Uninstall),
}

/// Runs the command.
pub fn run(arguments: &Arguments, output: &mut (impl Write + Send)) -> anyhow::Result<ExitCode> {
    match &arguments.command {
        Command::Render(arguments) => render::run(arguments, output),
        Command::Apply(arguments) => apply::run(arguments, output),
        Command::InstanceAdmin(arguments) => render::instance_admin(arguments, output),
        Command::Uninstall(arguments) => uninstall::run(arguments, output),
    }
}

/// Runs `hyperplane uninstall`.
pub fn uninstall(arguments: &Uninstall, output: &mut (impl Write + Send)) -> anyhow::Result<ExitCode> {
    uninstall::run(arguments, output)
}

/// What is told of an object.
const fn word(outcome: hyperplane_world::Outcome) -> &'static str {
    use hyperplane_world::Outcome;
    match outcome {
        Outcome::Written => "written",
        Outcome::Unchanged => "unchanged",
        Outcome::Foreign => "left as it is: somebody else wrote it",
        Outcome::Shared => "kept: another installation needs it",
        Outcome::InUse => "kept: there are objects of it",
        Outcome::Deleted => "deleted",
    }
}
