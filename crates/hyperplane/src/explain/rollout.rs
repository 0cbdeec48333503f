//! `hyperplane explain rollout`: what an edit would do to the nodes of pools.

use std::{
    io::{self, Write},
    path::PathBuf,
    process::ExitCode,
};

use clap::Args;

use super::{files, outlook, table};
use crate::printing::Output;

/// What is compared.
#[derive(Args)]
pub(super) struct Arguments {
    /// All objects as they are, in YAML or JSON: NodePools, HostedClusters, ConfigMaps, DistributionReleases; - is
    /// standard input
    #[arg(short, long = "filename", value_name = "FILE")]
    file: PathBuf,
    /// Objects as they would be. Those that it leaves out stay as they are
    #[arg(long, value_name = "FILE")]
    after: PathBuf,
    /// More DistributionReleases, known before and after; repeatable
    #[arg(long, value_name = "FILE")]
    releases: Vec<PathBuf>,
    /// What machines start from where neither their pool nor its release says
    #[arg(long, value_name = "IMAGE")]
    boot_image: Option<String>,
    /// How to print the result
    #[arg(short, long, value_enum, default_value_t = Output::Table)]
    output: Output,
}

/// What the code says when nodes would be replaced, or it cannot be said.
const NOT_GOOD: u8 = 3;

/// Compares and prints.
pub(super) fn run(arguments: &Arguments, output: &mut impl Write) -> anyhow::Result<ExitCode> {
    let read = files::read(&arguments.file, &arguments.after, &arguments.releases)?;
    for note in &read.notes {
        // It decides nothing; who mistyped a field wants to know.
        writeln!(io::stderr(), "note: {note}").ok();
    }
    let outlook = outlook::judge(&read.before, &read.after, arguments.boot_image.as_deref());
    arguments.output.print(&outlook, || table::print(&outlook), output)?;
    Ok(if outlook.stays() {
        ExitCode::SUCCESS
    } else {
        ExitCode::from(NOT_GOOD)
    })
}
