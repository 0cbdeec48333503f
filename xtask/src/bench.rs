//! `cargo xtask bench`: benchmarks that need real servers beside ours. It prepares both and runs the measuring program,
//! which prints the result.

use anyhow::Result;
use clap::{Args, Subcommand};

use crate::{process, test_run, workspace};

/// What is measured.
#[derive(Subcommand)]
pub(crate) enum Benchmark {
    /// The embedded API server beside kube-apiserver and etcd, with the same client on this machine
    Apiserver(How),
    /// What hosted control planes cost: processor time, requests and memory of the operators on a real API server
    ControlPlanes(How),
    /// What the machines of a node pool cost: created, rolled and removed, by the operators on a real API server
    NodePools(How),
}

/// How it is measured.
#[derive(Args)]
pub(crate) struct How {
    /// A part of the work: numbers that only say whether something broke
    #[arg(long)]
    quick: bool,
    /// How to print the results: text or json
    #[arg(short, long, default_value = "text")]
    output: String,
}

/// Runs a benchmark on the terminal and says whether it went well.
pub(crate) fn run(benchmark: &Benchmark) -> Result<bool> {
    let (name, how) = match benchmark {
        Benchmark::Apiserver(how) => ("apiserver", how),
        Benchmark::ControlPlanes(how) => ("control_planes", how),
        Benchmark::NodePools(how) => ("node_pools", how),
    };
    test_run::prepare_servers()?;
    let mut command = workspace::cargo();
    command.args(["bench", "--package", "hyperplane", "--bench", name, "--"]);
    command
        .args(["--output", &how.output])
        .args(how.quick.then_some("--quick"));
    process::run_on_terminal(&mut command)
}
