//! The `hyperplane` binary: parses the command line and hands over to one module per command.

mod apiserver;
mod completion;
mod connection;
mod crds;
mod create;
mod destroy;
mod dump;
mod ending;
mod explain;
mod failing;
mod health;
mod hosted;
mod ignition_server;
mod input;
mod install;
mod kubeconfig;
mod limit;
mod machine_approver;
mod man;
mod operator;
mod printing;
mod programs;
mod sidecar;
mod signals;
mod status;
mod system;
mod up;
mod upgrade;
mod version;

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
#[derive(Parser)]
#[command(
    name = "hyperplane",
    version,
    arg_required_else_help = true,
    term_width = 80,
    after_help = failing::EXIT_CODES
)]
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
    /// Print what shells complete command lines with.
    ///
    /// For example: source <(hyperplane completion bash)
    Completion(completion::Arguments),
    /// Run the operator of what is inside of one hosted cluster.
    #[command(hide = true)]
    ConfigOperator(operator::Tenant),
    /// Run the operator of the components of one control plane.
    #[command(hide = true)]
    ControlPlaneOperator(operator::Tenant),
    /// Print the CustomResourceDefinitions, ready for kubectl.
    ///
    /// For example: hyperplane crds | kubectl apply --server-side -f -
    Crds(crds::Arguments),
    /// Make a hosted cluster, a node pool or a kubeconfig.
    Create(create::Arguments),
    /// Remove a hosted cluster or a node pool.
    Destroy(destroy::Arguments),
    /// Collect everything that is needed to help with a hosted cluster, without anything secret.
    ///
    /// For example: hyperplane dump cluster blue --archive-dump
    ///
    /// Prints where it is. What could not be read is listed in it.
    Dump(dump::Arguments),
    /// Say why a cluster or a node pool waits, or what an edit would do.
    ///
    /// For example: hyperplane explain blue
    Explain(explain::Arguments),
    /// Hand configurations to machines of one control plane that start.
    #[command(hide = true)]
    IgnitionServer(ignition_server::Arguments),
    /// Put Hyperplane on a management cluster, or print what that would be.
    ///
    /// For example: hyperplane install apply --wait
    Install(install::Arguments),
    /// Print the kubeconfig of the administrator of a hosted cluster.
    ///
    /// For example: hyperplane kubeconfig blue -o blue.kubeconfig
    Kubeconfig(kubeconfig::Arguments),
    /// Let machines of one control plane join its cluster.
    #[command(hide = true)]
    MachineApprover(machine_approver::Arguments),
    /// Run the controllers of machines alone, beside `operator --machines=separate`.
    #[command(hide = true)]
    MachineController(operator::MachineController),
    /// Write manual pages, one for each command.
    Man(man::Arguments),
    /// Run all operators on a management cluster: any Kubernetes.
    ///
    /// For example: hyperplane operator --kubeconfig FILE --twin
    ///
    /// Logs to standard error (RUST_LOG), and ends at SIGTERM or SIGINT.
    Operator(operator::Manager),
    /// Run the operator of the certificates of one control plane.
    #[command(hide = true)]
    PkiOperator(operator::Tenant),
    /// Show clusters, a line each, or one cluster on one screen.
    ///
    /// For example: hyperplane status blue -w
    Status(status::Arguments),
    /// Take away what `hyperplane install` put on a management cluster.
    ///
    /// Refused while clusters are hosted there. Kinds stay, unless their removal is asked for.
    Uninstall(install::Uninstall),
    /// Bring up a whole management cluster on this machine: API server, operators and simulated machines.
    ///
    /// For example: hyperplane up --demo
    ///
    /// Says where everything is, logs to standard error (RUST_LOG), and ends at SIGTERM or SIGINT. Everything is there
    /// again at the next start.
    Up(up::Arguments),
    /// Look at upgrades before they happen, on a cluster or on files.
    Upgrade(upgrade::Arguments),
    /// Print the versions of this program and of a management cluster.
    Version(version::Arguments),
    #[command(flatten)]
    Sidecar(sidecar::Command),
}

fn main() -> ExitCode {
    let CommandLine { command } = CommandLine::parse();
    let outcome = match command {
        // Not locked: it serves for long, and others write there too.
        Command::Apiserver(arguments) => apiserver::run(&arguments, &mut io::stdout()),
        Command::Completion(arguments) => {
            completion::run(&arguments, &mut io::stdout().lock()).map(|()| ExitCode::SUCCESS)
        }
        Command::ConfigOperator(arguments) => tenant(operator::Part::Config, &arguments),
        Command::ControlPlaneOperator(arguments) => tenant(operator::Part::ControlPlane, &arguments),
        Command::Crds(arguments) => crds::run(&arguments, &mut io::stdout().lock()).map(|()| ExitCode::SUCCESS),
        Command::Create(arguments) => create::run(&arguments, &mut io::stdout()),
        Command::Destroy(arguments) => destroy::run(&arguments, &mut io::stdout()),
        Command::Dump(arguments) => dump::run(&arguments, &mut io::stdout()),
        Command::Explain(arguments) => explain::run(&arguments, &mut io::stdout().lock()),
        Command::IgnitionServer(arguments) => ignition_server::serve(&arguments).map(|()| ExitCode::SUCCESS),
        Command::Install(arguments) => install::run(&arguments, &mut io::stdout()),
        Command::Kubeconfig(arguments) => kubeconfig::run(&arguments, &mut io::stdout()),
        Command::MachineApprover(arguments) => machine_approver::approve(&arguments).map(|()| ExitCode::SUCCESS),
        Command::MachineController(arguments) => operator::control_machines(&arguments).map(|()| ExitCode::SUCCESS),
        Command::Man(arguments) => man::run(&arguments, &mut io::stdout()).map(|()| ExitCode::SUCCESS),
        Command::Operator(arguments) => operator::manage(&arguments).map(|()| ExitCode::SUCCESS),
        Command::PkiOperator(arguments) => tenant(operator::Part::Pki, &arguments),
        Command::Status(arguments) => status::run(&arguments, &mut io::stdout().lock()),
        Command::Uninstall(arguments) => install::uninstall(&arguments, &mut io::stdout()),
        Command::Up(arguments) => up::run(&arguments, &mut io::stdout()),
        Command::Upgrade(arguments) => upgrade::run(&arguments, &mut io::stdout().lock()),
        Command::Version(arguments) => version::run(&arguments, &mut io::stdout()),
        Command::Sidecar(command) => sidecar::run(&command).map(|()| ExitCode::SUCCESS),
    };
    match outcome {
        Ok(code) => code,
        Err(error) if is_closed_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            let told = failing::told(&error);
            // Nothing is left to be told when even standard error is closed.
            writeln!(io::stderr(), "error: {}", told.sentence).ok();
            ExitCode::from(told.exit_code)
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
