//! The `hyperplane` binary: parses the command line and hands over to one module per command.

mod apiserver;
mod crds;
mod ending;
mod explain;
mod health;
mod ignition_server;
mod input;
mod machine_approver;
mod operator;
mod printing;
mod programs;
mod sidecar;
mod signals;
mod system;
mod up;
mod upgrade;

use std::{
    io::{self, Write as _},
    process::ExitCode,
};

use clap::{Parser, Subcommand};
use mimalloc::MiMalloc;

/// Objects are many small pieces, made on one thread and dropped on another: the allocator of the C library spends a
/// quarter of a write's processor time on them (`cargo xtask bench apiserver`).
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

/// Kubernetes control planes as workloads, and upgrades of whole fleets of them.
///
/// Exit codes: 0 done, 1 failed, 2 wrong use, 3 checked and not good.
#[derive(Parser)]
#[command(name = "hyperplane", version, arg_required_else_help = true, term_width = 80)]
struct CommandLine {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Serve a Kubernetes API on this machine, durable and with nothing else to install.
    ///
    /// For example: hyperplane apiserver --data-dir DIR
    ///
    /// Prints one line when it is ready, logs to standard error (RUST_LOG), and ends at SIGTERM or SIGINT.
    Apiserver(apiserver::Arguments),
    /// Print the CustomResourceDefinitions, ready for kubectl.
    ///
    /// For example: hyperplane crds | kubectl apply --server-side -f -
    Crds(crds::Arguments),
    /// Say what an edit would do, without a cluster.
    Explain(explain::Arguments),
    /// Run all operators on a management cluster: any Kubernetes.
    ///
    /// For example: hyperplane operator --kubeconfig FILE --twin
    ///
    /// Logs to standard error (RUST_LOG), and ends at SIGTERM or SIGINT.
    Operator(operator::Manager),
    /// Run the operator of the components of one control plane.
    #[command(hide = true)]
    ControlPlaneOperator(operator::Tenant),
    /// Run the operator of the certificates of one control plane.
    #[command(hide = true)]
    PkiOperator(operator::Tenant),
    /// Run the operator of what is inside of one hosted cluster.
    #[command(hide = true)]
    ConfigOperator(operator::Tenant),
    /// Hand configurations to machines of one control plane that start.
    #[command(hide = true)]
    IgnitionServer(ignition_server::Arguments),
    /// Let machines of one control plane join its cluster.
    #[command(hide = true)]
    MachineApprover(machine_approver::Arguments),
    #[command(flatten)]
    Sidecar(sidecar::Command),
    /// Bring up a whole management cluster on this machine: API server, operators and simulated machines.
    ///
    /// For example: hyperplane up
    ///
    /// Prints one line when it is ready, logs to standard error (RUST_LOG), and ends at SIGTERM or SIGINT. Everything
    /// is there again at the next start.
    Up(up::Arguments),
    /// Look at upgrades before they happen, without a cluster.
    Upgrade(upgrade::Arguments),
}

fn main() -> ExitCode {
    let CommandLine { command } = CommandLine::parse();
    let outcome = match command {
        // Not locked: it serves for long, and others write there too.
        Command::Apiserver(arguments) => apiserver::run(&arguments, &mut io::stdout()).map(|()| ExitCode::SUCCESS),
        Command::Crds(arguments) => crds::run(&arguments, &mut io::stdout().lock()).map(|()| ExitCode::SUCCESS),
        Command::Explain(arguments) => explain::run(&arguments, &mut io::stdout().lock()),
        Command::Operator(arguments) => operator::manage(&arguments).map(|()| ExitCode::SUCCESS),
        Command::ControlPlaneOperator(arguments) => tenant(operator::Part::ControlPlane, &arguments),
        Command::PkiOperator(arguments) => tenant(operator::Part::Pki, &arguments),
        Command::ConfigOperator(arguments) => tenant(operator::Part::Config, &arguments),
        Command::IgnitionServer(arguments) => ignition_server::serve(&arguments).map(|()| ExitCode::SUCCESS),
        Command::MachineApprover(arguments) => machine_approver::approve(&arguments).map(|()| ExitCode::SUCCESS),
        Command::Up(arguments) => up::run(&arguments, &mut io::stdout()).map(|()| ExitCode::SUCCESS),
        Command::Sidecar(command) => sidecar::run(&command).map(|()| ExitCode::SUCCESS),
        Command::Upgrade(arguments) => upgrade::run(&arguments, &mut io::stdout().lock()),
    };
    match outcome {
        Ok(code) => code,
        Err(error) if is_closed_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            // Nothing is left to be told when even standard error is closed.
            writeln!(io::stderr(), "error: {error:#}").ok();
            ExitCode::FAILURE
        }
    }
}

fn tenant(part: operator::Part, arguments: &operator::Tenant) -> anyhow::Result<ExitCode> {
    operator::serve_tenant(part, arguments).map(|()| ExitCode::SUCCESS)
}

/// A reader such as `head` that has seen enough is no failure.
fn is_closed_pipe(error: &anyhow::Error) -> bool {
    error
        .downcast_ref::<io::Error>()
        .is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
}
