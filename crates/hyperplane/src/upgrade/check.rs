//! `hyperplane upgrade check`: judges a state, or a move between two.

use std::{
    io::{self, Write},
    path::{Path, PathBuf},
    process::ExitCode,
};

use clap::Args;
use hyperplane_planner::{
    check::{Choice, check},
    policy::{self, Policy},
    state::State,
};

use super::{
    files,
    live::{self, Moves},
    table,
};
use crate::{
    connection::{CLUSTERS, Connection},
    create::note,
    printing::Output,
    system,
};

/// What is judged, and by whom.
#[derive(Args)]
pub(super) struct Arguments {
    /// A hosted cluster that is there, in place of a file
    #[arg(value_name = "CLUSTER", required_unless_present = "file", conflicts_with = "file")]
    cluster: Option<String>,
    /// Its namespace
    #[arg(short, long, value_name = "NAME", default_value = CLUSTERS, conflicts_with = "file")]
    namespace: String,
    /// The version that its control plane would have
    #[arg(long, value_name = "VERSION", requires = "cluster")]
    to: Option<String>,
    /// The version that nodes of a pool would have; repeatable
    #[arg(long, value_name = "POOL=VERSION", requires = "cluster", value_parser = parse_pool)]
    pool: Vec<(String, String)>,
    #[command(flatten)]
    connection: Connection,
    /// The state as it is, in YAML or JSON; - is standard input
    #[arg(short, long = "filename", value_name = "STATE")]
    file: Option<PathBuf>,
    /// The state as it would be: it and the way to it are judged too. What it leaves out stays as it is
    #[arg(long, value_name = "STATE", requires = "file")]
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

fn parse_pool(text: &str) -> Result<(String, String), String> {
    let parts = text
        .split_once('=')
        .filter(|(name, version)| !name.is_empty() && !version.is_empty());
    let (name, version) = parts.ok_or("write POOL=VERSION, such as web=1.36.4")?;
    Ok((name.to_owned(), version.to_owned()))
}

/// What the code says when something is wrong with the state.
const NOT_GOOD: u8 = 3;

/// Judges and prints.
pub(super) fn run(arguments: &Arguments, output: &mut impl Write) -> anyhow::Result<ExitCode> {
    let (before, after, default) = match (&arguments.file, &arguments.cluster) {
        (Some(file), _) => of_files(arguments, file)?,
        (None, cluster) => of_cluster(arguments, cluster.as_deref().unwrap_or_default())?,
    };
    let choice = if arguments.policies.is_empty() {
        default
    } else {
        Choice::of(arguments.policies.iter().copied())
    };
    let report = check(&before, after.as_ref(), &choice);
    arguments.output.print(&report, || table::print(&report), output)?;
    Ok(if report.ok {
        ExitCode::SUCCESS
    } else {
        ExitCode::from(NOT_GOOD)
    })
}

/// What is judged, and by whom if nobody chooses.
type Judged = (State, Option<State>, Choice);

fn of_files(arguments: &Arguments, file: &Path) -> anyhow::Result<Judged> {
    let (before, after) = files::states(file, arguments.after.as_deref())?;
    let unread = before.unread.iter().chain(after.iter().flat_map(|after| &after.unread));
    for field in unread {
        // It decides nothing; who mistyped a field wants to know.
        writeln!(io::stderr(), "note: {field} is no field of a state, and was not read").ok();
    }
    let after = after.map(|after| after.state);
    let scheme = after.as_ref().unwrap_or(&before.state).distribution.scheme;
    Ok((before.state, after, Choice::default_for(scheme)))
}

fn of_cluster(arguments: &Arguments, name: &str) -> anyhow::Result<Judged> {
    system::log();
    let live = system::small_runtime()?.block_on(async {
        let client = arguments.connection.client().await?;
        live::read(&client, &arguments.namespace, name).await
    })?;
    for words in live.notes() {
        note(&words);
    }
    let before = live.state();
    let moves = Moves {
        to: arguments.to.clone(),
        pools: arguments.pool.clone(),
    };
    let after = live.after(&before, &moves)?;
    let scheme = after.as_ref().unwrap_or(&before).distribution.scheme;
    Ok((before, after, Choice::default_for_pools(scheme)))
}
