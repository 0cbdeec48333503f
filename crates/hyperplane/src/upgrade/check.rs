//! `hyperplane upgrade check`: judges a state, or a move between two.

use std::{
    io::{self, Write},
    path::PathBuf,
    process::ExitCode,
};

use clap::Args;
use hyperplane_planner::{
    check::{Choice, check},
    policy::{self, Policy},
};

use super::{files, table};
use crate::printing::Output;

/// What is judged, and by whom.
#[derive(Args)]
pub(super) struct Arguments {
    /// The state as it is, in YAML or JSON; - is standard input
    #[arg(short, long = "filename", value_name = "STATE")]
    file: PathBuf,
    /// The state as it would be: it and the way to it are judged too. What it leaves out stays as it is
    #[arg(long, value_name = "STATE")]
    after: Option<PathBuf>,
    /// A policy that judges; repeatable. The default depends on the scheme of the distribution
    #[arg(long = "policy", value_name = "NAME", value_parser = parse_policy)]
    policies: Vec<&'static Policy>,
    /// How to print the result
    #[arg(short, long, value_enum, default_value_t = Output::Table)]
    output: Output,
}

fn parse_policy(name: &str) -> Result<&'static Policy, String> {
    let names: Vec<&str> = policy::ALL.iter().map(|policy| policy.name).collect();
    policy::named(name).ok_or_else(|| format!("there is none; there are {}", names.join(", ")))
}

/// What the code says when something is wrong with the state.
const NOT_GOOD: u8 = 3;

/// Judges and prints.
pub(super) fn run(arguments: &Arguments, output: &mut impl Write) -> anyhow::Result<ExitCode> {
    let (before, after) = files::states(&arguments.file, arguments.after.as_deref())?;
    let unread = before.unread.iter().chain(after.iter().flat_map(|after| &after.unread));
    for field in unread {
        // It decides nothing; who mistyped a field wants to know.
        writeln!(io::stderr(), "note: {field} is no field of a state, and was not read").ok();
    }
    let asked_for = after.as_ref().map(|after| &after.state);
    let choice = if arguments.policies.is_empty() {
        Choice::default_for(asked_for.unwrap_or(&before.state).distribution.scheme)
    } else {
        Choice::of(arguments.policies.iter().copied())
    };
    let report = check(&before.state, asked_for, &choice);
    arguments.output.print(&report, || table::print(&report), output)?;
    Ok(if report.ok {
        ExitCode::SUCCESS
    } else {
        ExitCode::from(NOT_GOOD)
    })
}
