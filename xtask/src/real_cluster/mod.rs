//! `cargo xtask real-cluster`: a management cluster of real processes and real nodes on this machine, to try the product on
//! and to test it. It owns what has to be there before; the cluster itself is the test bed's.

mod packages;

use std::{
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, Result, ensure};
use clap::Subcommand;

use crate::{kube_assets, process, test_run, workspace};

/// The package and the program of the cluster that stands.
const PROGRAM: [&str; 4] = ["--package", "hyperplane-real-cluster", "--bin", "real-cluster"];

/// What is done with it.
#[derive(Subcommand)]
pub(crate) enum Action {
    /// Install Debian's packages that are missing, as root, and build programs and images
    Prepare,
    /// Bring up a management cluster that stands until it is ended
    Up {
        /// How many nodes it has: one to three
        #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u8).range(1..=3))]
        nodes: u8,
        /// The archive of the operators' image, as `cargo xtask image` writes it [default: built in the debug profile]
        #[arg(long, value_name = "FILE")]
        image: Option<PathBuf>,
    },
    /// End it, and remove everything that it or a killed test left
    Down,
    /// Run a command, or a shell, in its network, with kubectl and hyperplane in the path
    Shell {
        /// The command and its arguments
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        command: Vec<String>,
    },
    /// Run all tests on real pods, the long ones included
    Test {
        /// The archive of the operators' image [default: made of the program that the tests have]
        #[arg(long, value_name = "FILE")]
        image: Option<PathBuf>,
        /// Only tests with this in their names
        only: Option<String>,
    },
}

/// Does it, and says whether all went well.
pub(crate) fn run(action: &Action) -> Result<bool> {
    match action {
        Action::Prepare => prepare().map(|()| true),
        Action::Up { nodes, image } => up(*nodes, image.as_deref()),
        Action::Down => real_cluster(&["down"]),
        Action::Shell { command } => {
            let command: Vec<&str> = command.iter().map(String::as_str).collect();
            real_cluster(&[["shell"].as_slice(), &command].concat())
        }
        Action::Test { image, only } => {
            prepare()?;
            let image = image.as_deref().map(Path::canonicalize).transpose();
            test_run::run_pods(image.context("looking for the image")?.as_deref(), only.as_deref())
        }
    }
}

/// Sees to it that this machine has what programs are built with and what they stand on, before anything long begins.
pub(crate) fn prepare_machine() -> Result<()> {
    packages::prepare()
}

fn prepare() -> Result<()> {
    prepare_machine()?;
    test_run::prepare_servers()?;
    kube_assets::run_for_pods()
}

fn up(nodes: u8, given: Option<&Path>) -> Result<bool> {
    prepare()?;
    let (flag, file) = match given {
        Some(archive) => ("--archive", archive.canonicalize()),
        None => ("--program", build_operators()?.canonicalize()),
    };
    let file = file.context("looking for what the image of the operators is made of")?;
    let is_up = real_cluster(&["up", &nodes.to_string(), flag, &file.display().to_string()])?;
    if is_up {
        println!(
            "It stands until `cargo xtask real-cluster down`. Its addresses lead somewhere in its own network only:\n\n\
             $ cargo xtask real-cluster shell\n\
             # hyperplane install apply --wait\n\
             # hyperplane create cluster none --name one --wait"
        );
    }
    Ok(is_up)
}

/// Builds the program as the tests have it: in the debug profile and without libraries. It is what the shell has in its path,
/// too.
fn build_operators() -> Result<PathBuf> {
    let mut cargo = workspace::cargo();
    cargo.args(["build", "--package", "hyperplane", "--bin", "hyperplane"]);
    let is_built = process::run_on_terminal(workspace::build_for_images(&mut cargo))?;
    ensure!(is_built, "the program does not compile");
    Ok(workspace::image_programs()?.join("hyperplane"))
}

fn real_cluster(arguments: &[&str]) -> Result<bool> {
    let mut cargo = workspace::cargo();
    cargo.args(["build", "--quiet"]).args(PROGRAM);
    let is_built = process::run_on_terminal(workspace::build_for_images(&mut cargo))?;
    ensure!(is_built, "the test bed does not compile");
    let programs = workspace::image_programs()?;
    let path = std::env::var("PATH").unwrap_or_default();
    process::run_on_terminal(
        Command::new(programs.join("real-cluster"))
            .args(arguments)
            .env("PATH", format!("{}:{path}", programs.display())),
    )
}
