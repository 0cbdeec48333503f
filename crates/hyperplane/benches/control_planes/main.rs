//! What control planes cost: the operators as a process of their own against a real API server, with real controllers and
//! a real scheduler, and simulated kubelets in this process. Run it by `cargo xtask bench control-planes`. Requests are
//! counted in the audit log of the API server, never by the operators. Owns the order of things and the sizes.

#![allow(
    clippy::disallowed_methods,
    reason = "a benchmark is about real time on a real machine"
)]

mod clusters;
#[path = "../common/mod.rs"]
mod common;
#[path = "../management/mod.rs"]
mod management;
mod report;

use std::{
    path::PathBuf,
    time::{Duration, Instant},
};

use anyhow::Result;
use clap::Parser;
use tokio::{runtime, time::sleep};

use crate::{
    clusters::Clusters,
    common::Output,
    management::{audit::Count, ground::Ground, operator::Operator, say},
    report::{Report, Row},
};

/// Threads for simulated kubelets and hosted API servers.
const THREADS: usize = 2;
/// Requests have ended for so long when something has come to rest.
const QUIET: Duration = Duration::from_secs(10);

/// Measures what control planes cost.
#[derive(Parser)]
struct Arguments {
    /// Few clusters and short rests: minutes, and numbers that only say whether something broke
    #[arg(long)]
    quick: bool,
    /// How to print the results
    #[arg(short, long, value_enum, default_value_t = Output::Text)]
    output: Output,
    /// How many clusters, one number after the other [default: 1,10,100, quick: 1,5]
    #[arg(long, value_delimiter = ',')]
    clusters: Vec<usize>,
    /// The availability policy of the clusters
    #[arg(long, default_value = "HighlyAvailable")]
    policy: String,
    /// Another binary of ours, such as one that was built in another way
    #[arg(long, value_name = "FILE", default_value = env!("CARGO_BIN_EXE_hyperplane"))]
    binary: PathBuf,
    /// Given by cargo
    #[arg(long, hide = true)]
    bench: bool,
}

impl Arguments {
    fn sizes(&self) -> Vec<usize> {
        match (self.clusters.is_empty(), self.quick) {
            (false, _) => self.clusters.clone(),
            (true, false) => vec![1, 10, 100],
            (true, true) => vec![1, 5],
        }
    }

    /// How long nothing is done, and what is written then is counted.
    fn rest(&self) -> Duration {
        Duration::from_secs(if self.quick { 30 } else { 120 })
    }
}

fn main() -> Result<()> {
    let arguments = Arguments::parse();
    let runtime = runtime::Builder::new_multi_thread()
        .worker_threads(THREADS)
        .enable_all()
        .build()?;
    let mut report = Report::new(arguments.quick, arguments.rest());
    for count in arguments.sizes() {
        report.rows.push(runtime.block_on(measure(&arguments, count))?);
    }
    arguments.output.print(|| report.table(), || report.json())
}

/// Everything about so many clusters, on a management cluster that has no others.
async fn measure(arguments: &Arguments, count: usize) -> Result<Row> {
    say(&format!("{count}: starting"));
    let mut ground = Ground::start(count, |_, _, _| {}).await?;
    let operator = Operator::start(&arguments.binary, &ground).await?;
    ground.until_led_by(operator.process).await?;
    ground.until_quiet(QUIET, Count::all).await?;
    let clusters = Clusters::new(&ground.administrator, count, &arguments.policy);
    let (cpu, memory) = (operator.time()?, operator.memory()?);
    ground.audit.take()?;
    let began = Instant::now();
    clusters.create().await?;
    clusters.until_complete().await?;
    let wall = began.elapsed();
    say(&format!("{count}: all complete after {wall:.1?}"));
    let requests = ground.until_quiet(QUIET, |count| count.writes).await?;
    let mut row = Row {
        clusters: count,
        wall,
        cpu: operator.time()?.saturating_sub(cpu),
        requests,
        resident_before: memory,
        resident: operator.memory()?,
        ..Row::default()
    };
    sleep(arguments.rest()).await;
    row.at_rest = ended("rest", &mut ground)?;
    clusters.touch().await?;
    sleep(arguments.rest() / 4).await;
    row.after_touch = ended("touch", &mut ground)?;
    drop(operator);
    let operator = Operator::start(&arguments.binary, &ground).await?;
    ground.until_led_by(operator.process).await?;
    row.after_restart = ground.until_quiet(arguments.rest() / 4, Count::all).await?;
    tell("restart", &row.after_restart);
    drop(operator);
    Ok(row)
}

/// What was asked since the last look.
fn ended(what: &str, ground: &mut Ground) -> Result<Count> {
    let count = ground.audit.take()?;
    tell(what, &count);
    Ok(count)
}

/// What was written that should not have been.
fn tell(what: &str, count: &Count) {
    for (line, times) in &count.lines {
        say(&format!("{what}: {times} x {line}"));
    }
}
