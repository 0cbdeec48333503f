//! `cargo xtask <task>`: the repository's own tasks. This file owns the command line; each task is a module.
#![allow(
    clippy::disallowed_methods,
    reason = "tasks run on a real machine: they read its environment and its clock"
)]

mod bench;
mod bless;
mod image;
mod kube_assets;
mod law;
mod needs;
mod planted;
mod process;
mod real_cluster;
mod soak;
mod test_run;
mod workspace;

use std::{path::PathBuf, process::ExitCode};

use clap::{Parser, Subcommand};

use crate::kube_assets::Version;

/// Tasks of this repository.
#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
struct Arguments {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Build etcd and Kubernetes from Go modules into a cache outside of the work tree, once per version
    KubeAssets {
        /// The Kubernetes version [default: those that tests need]
        #[arg(long)]
        version: Option<Version>,
        /// Also what real nodes and pods need: kubelets, kube-proxy, CoreDNS and others
        #[arg(long, conflicts_with = "version")]
        pods: bool,
    },
    /// Format check, lints and all tests, those on a real control plane included
    Test(test_run::Choice),
    /// Run the long random tests in full
    Soak {
        /// How many seeds each of them tries
        #[arg(long, default_value_t = soak::DEFAULT_SEEDS)]
        seeds: u64,
    },
    /// Put known bugs into a copy of the code, one at a time, and have the simulation of node pools find each
    Planted {
        /// How many seeds each is looked for at most [default: as many as the table of bugs states]
        #[arg(long)]
        seeds: Option<u64>,
        /// Only bugs whose names begin with this
        #[arg(long)]
        only: Option<String>,
    },
    /// Have two real API servers, one with published definitions and one with ours, judge the same manifests
    Law {
        /// Holds the published definitions, and manifests to begin with, as YAML at any depth
        directory: PathBuf,
        /// How many changed manifests are judged
        #[arg(long, default_value_t = law::DEFAULT_SEEDS)]
        seeds: u64,
        /// The first seed
        #[arg(long, default_value_t = 0)]
        first: u64,
    },
    /// Measure, on a machine that does nothing else
    Bench {
        #[command(subcommand)]
        benchmark: bench::Benchmark,
    },
    /// A management cluster of real processes with real nodes on this machine, to try things on
    RealCluster {
        #[command(subcommand)]
        action: real_cluster::Action,
    },
    /// Write the image that `hyperplane install` names, as an archive that needs no registry
    Image(image::How),
    /// Write the golden files anew; look at the difference before you commit it
    Bless,
}

fn main() -> ExitCode {
    let outcome = match Arguments::parse().task {
        Task::KubeAssets { pods: true, .. } => kube_assets::run_for_pods().map(|()| true),
        Task::KubeAssets { version, .. } => kube_assets::run(version).map(|()| true),
        Task::Test(choice) => test_run::run(&choice),
        Task::Soak { seeds } => soak::run(seeds),
        Task::Planted { seeds, only } => planted::run(seeds, only.as_deref()),
        Task::Law {
            directory,
            seeds,
            first,
        } => law::run(&directory, seeds, first),
        Task::Bench { benchmark } => bench::run(&benchmark),
        Task::RealCluster { action } => real_cluster::run(&action),
        Task::Image(how) => image::run(&how).map(|()| true),
        Task::Bless => bless::run(),
    };
    match outcome {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}
