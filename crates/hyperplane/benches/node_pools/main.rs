//! What the machines of a node pool cost: the operators as a process of their own against a real API server, and one pool of
//! simulated machines that fetch their configuration and join a hosted cluster in this process. Run it by
//! `cargo xtask bench node-pools`. Requests are counted in the audit log of the API server, never by the operators. Owns the
//! order of things and the sizes.

#![allow(
    clippy::disallowed_methods,
    reason = "a benchmark is about real time on a real machine"
)]

#[path = "../common/mod.rs"]
mod common;
#[path = "../management/mod.rs"]
mod management;
mod pool;
mod programs;
mod report;

use std::{
    path::PathBuf,
    time::{Duration, Instant},
};

use anyhow::Result;
use clap::Parser;
use hyperplane_twin::MachineSettings;
use tokio::{runtime, time::sleep};

use crate::{
    common::Output,
    management::{audit::Count, ground::Ground, operator::Operator, say},
    pool::{NEW_VERSION, OLD_VERSION, Pool},
    report::{Report, Row, Step},
};

/// Threads for simulated machines and the hosted API server.
const THREADS: usize = 2;
/// Requests have ended for so long when something has come to rest.
const QUIET: Duration = Duration::from_secs(10);
/// What is known of nodes is looked at every two minutes and written once after they have come: that is not rest yet.
const FIRST_LOOK: Duration = Duration::from_secs(150);

/// Measures what the machines of a node pool cost.
#[derive(Parser)]
struct Arguments {
    /// Few machines and short rests: minutes, and numbers that only say whether something broke
    #[arg(long)]
    quick: bool,
    /// How to print the results
    #[arg(short, long, value_enum, default_value_t = Output::Text)]
    output: Output,
    /// How many machines, one number after the other [default: 100,1000, quick: 10,50]
    #[arg(long, value_delimiter = ',')]
    machines: Vec<usize>,
    /// Another binary of ours, such as one that was built in another way
    #[arg(long, value_name = "FILE", default_value = env!("CARGO_BIN_EXE_hyperplane"))]
    binary: PathBuf,
    /// Given by cargo
    #[arg(long, hide = true)]
    bench: bool,
}

impl Arguments {
    fn sizes(&self) -> Vec<usize> {
        match (self.machines.is_empty(), self.quick) {
            (false, _) => self.machines.clone(),
            (true, false) => vec![100, 1000],
            (true, true) => vec![10, 50],
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

/// Everything about one pool of so many machines, on a management cluster that has no others.
async fn measure(arguments: &Arguments, count: usize) -> Result<Row> {
    say(&format!("{count}: starting"));
    let ground = Ground::start(1, |settings, client, network| {
        // What machines take to boot is not what is measured.
        settings.machines = MachineSettings::kubevirt().instant();
        settings.programs = programs::all(settings, client, network);
    });
    let mut ground = ground.await?;
    let operator = Operator::start(&arguments.binary, &ground).await?;
    ground.until_led_by(operator.process).await?;
    let pool = Pool::new(&ground.administrator, count)?;
    pool.create_cluster().await?;
    ground.until_quiet(QUIET, |count| count.writes).await?;
    let resident_before = operator.memory()?;
    let mut measured = Measured {
        ground: &mut ground,
        operator: &operator,
        count,
    };
    let created = measured
        .step("created", async {
            pool.create().await?;
            pool.until_ready(OLD_VERSION).await
        })
        .await?;
    let resident = operator.memory()?;
    sleep(FIRST_LOOK).await;
    measured.ground.audit.take()?;
    sleep(arguments.rest()).await;
    let at_rest = measured.ground.audit.take()?;
    for (line, times) in &at_rest.lines {
        say(&format!("{count}: at rest: {times} x {line}"));
    }
    let rolled = measured
        .step("rolled", async {
            pool.roll().await?;
            pool.until_ready(NEW_VERSION).await
        })
        .await?;
    let removed = measured
        .step("removed", async {
            pool.scale_to_zero().await?;
            pool.until_empty().await
        })
        .await?;
    Ok(Row {
        machines: count,
        created,
        at_rest,
        rolled,
        removed,
        resident_before,
        resident,
    })
}

/// What steps are measured with.
struct Measured<'a> {
    ground: &'a mut Ground,
    operator: &'a Operator,
    count: usize,
}

impl Measured<'_> {
    /// Does something, and says what it cost until nothing was written any more.
    async fn step(&mut self, name: &str, work: impl Future<Output = Result<()>>) -> Result<Step> {
        self.ground.audit.take()?;
        let (began, before) = (Instant::now(), self.operator.time()?);
        work.await?;
        let wall = began.elapsed();
        say(&format!("{}: {name} after {wall:.1?}", self.count));
        let requests: Count = self.ground.until_quiet(QUIET, |count| count.writes).await?;
        Ok(Step {
            wall,
            cpu: self.operator.time()?.saturating_sub(before),
            requests,
        })
    }
}
