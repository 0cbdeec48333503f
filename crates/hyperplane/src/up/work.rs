//! What is done while everything runs: nothing, a story that is told, or a fleet that is made. Owns what is asked for on
//! the command line, and how it is shown; what happens is decided elsewhere.

use std::{
    fs,
    io::{self, Write},
    path::PathBuf,
    process::ExitCode,
    time::Duration,
};

use clap::Args;
use hyperplane_demo::{
    Event, PATIENCE, Plan, Speed, Stage, fleet, manifests, play,
    render::{Live, Plain, Style, outcome_text},
};
use hyperplane_runtime::{Clock, Disposition, Reach};
use hyperplane_twin::TwinSettings;
use kube::Client;
use serde::Serialize;
use tokio_util::sync::CancellationToken;

use super::cost::{self, Cost};
use crate::{
    apiserver::{Output, Parts},
    failing::{failed, in_order},
    system::{self, Screen},
};

/// The name of the cluster of the story.
const CLUSTER: &str = "demo";
/// The file with what the story applies.
const FILE: &str = "demo.yaml";
/// How many control planes of a fleet have room on one simulated machine of the management cluster.
const CONTROL_PLANES_PER_NODE: usize = 10;
/// How long a fleet may take, for each of its clusters: many times what one takes alone on a slow machine.
const PATIENCE_PER_CLUSTER: Duration = Duration::from_mins(1);
/// What the code says when a claim did not hold, or something did not come.
const NOT_GOOD: u8 = 3;

/// What to do.
#[derive(Args)]
#[command(next_help_heading = "To see it work")]
pub(super) struct Work {
    /// Play a story and end: a hosted cluster with two pools is made, upgraded and held back; every claim about it is read
    /// again from the API.
    #[arg(long)]
    demo: bool,
    /// Say of every claim how it was checked and what was found.
    #[arg(long, requires = "demo")]
    explain: bool,
    /// Make so many hosted clusters, say what they cost, and go on.
    #[arg(long, value_name = "N", conflicts_with = "demo")]
    clusters: Option<usize>,
    /// How many nodes each of them has.
    #[arg(long, value_name = "M", requires = "clusters", default_value_t = 3)]
    nodes: usize,
    /// How many of them are under way at a time.
    #[arg(long, value_name = "N", requires = "clusters", default_value_t = fleet::AT_ONCE)]
    at_once: usize,
    /// End when the clusters are there.
    #[arg(long, requires = "clusters")]
    exit: bool,
}

/// Where it is done.
pub(super) struct Ground {
    /// The administrator of the management cluster.
    pub(super) client: Client,
    /// The way to hosted API servers.
    pub(super) reach: Reach,
    /// Wall time.
    pub(super) clock: Clock,
    /// How fast simulated things are.
    pub(super) speed: Speed,
    /// Where files for people go.
    pub(super) directory: PathBuf,
}

impl Work {
    /// Whether there is nothing to do but to serve.
    pub(super) const fn is_none(&self) -> bool {
        !self.demo && self.clusters.is_none()
    }

    /// How to say that everything is ready: programs are told what came of the work, and nothing else.
    pub(super) const fn greeting_output(&self, asked: Output) -> Output {
        if self.is_none() { asked } else { Output::Text }
    }

    /// Makes a simulated management cluster large enough.
    pub(super) fn furnish(&self, settings: &mut TwinSettings) {
        let needed = self.clusters.unwrap_or_default().div_ceil(CONTROL_PLANES_PER_NODE);
        settings.nodes.count = settings.nodes.count.max(needed);
    }

    /// Refuses what cannot be done, before anything is started for it.
    pub(super) fn check(&self) -> anyhow::Result<()> {
        let planned = self.clusters.map(|clusters| self.fleet(clusters));
        planned.transpose().map(drop)
    }

    fn fleet(&self, clusters: usize) -> anyhow::Result<fleet::FleetPlan> {
        fleet::FleetPlan::new(clusters, self.nodes, self.at_once).map_err(|error| {
            let flag = match error {
                fleet::FleetError::Clusters(_) => "--clusters",
                fleet::FleetError::Nodes(_) => "--nodes",
                fleet::FleetError::AtOnce => "--at-once",
                fleet::FleetError::Plan(_) => return error.into(),
            };
            in_order(Disposition::User, flag, &error, "give another number")
        })
    }

    /// Starts it.
    pub(super) fn start(&self, ground: Ground, output: Output, parts: &mut Parts) -> anyhow::Result<()> {
        let screen = system::screen();
        if self.demo {
            let stage = stage(ground)?;
            let explain = self.explain;
            parts.finish_with(|stop| async move { demonstrate(&stage, explain, output, screen, &stop).await });
        } else if let Some(clusters) = self.clusters {
            let plan = self.fleet(clusters)?;
            let patience = PATIENCE.max(PATIENCE_PER_CLUSTER * u32::try_from(clusters).unwrap_or(u32::MAX));
            let stage = fleet::FleetStage {
                client: ground.client,
                plan,
                patience,
            };
            let exit = self.exit;
            parts.finish_with(|stop| async move { raise(&stage, exit, output, screen, &stop).await });
        }
        Ok(())
    }
}

/// Where the story is played. What it applies is put into a file, for people to look at and to apply again.
fn stage(ground: Ground) -> anyhow::Result<Stage> {
    let plan = Plan::new(CLUSTER)?;
    let path = ground.directory.join(FILE);
    fs::write(&path, manifests(&plan)).map_err(|error| {
        let remedy = "look at the owner and mode of its directory, and whether the disk is full";
        failed(format!("{} cannot be written", path.display()), error, remedy)
    })?;
    Ok(Stage {
        client: ground.client,
        reach: ground.reach,
        clock: ground.clock,
        speed: ground.speed,
        plan,
        file: path.display().to_string(),
        patience: PATIENCE,
    })
}

/// Shows an event.
type Show = dyn FnMut(&Event) -> io::Result<()> + Send;

async fn demonstrate(
    stage: &Stage,
    explain: bool,
    output: Output,
    screen: Screen,
    stop: &CancellationToken,
) -> anyhow::Result<ExitCode> {
    let style = style(screen);
    let mut show: Box<Show> = match output {
        Output::Json => Box::new(|_| Ok(())),
        Output::Text if screen.is_terminal => {
            let mut live = Live::new(io::stdout(), style);
            Box::new(move |event| live.take(event))
        }
        Output::Text => {
            let mut plain = Plain::new(io::stdout(), style);
            Box::new(move |event| plain.take(event))
        }
    };
    // Nobody may be listening; the story goes on, and its code says what came of it.
    let outcome = play(stage, stop, &mut |event| drop(show(event))).await;
    let text = match output {
        Output::Json => as_json(&outcome)?,
        Output::Text => outcome_text(&outcome, explain, style),
    };
    print(&text)?;
    Ok(code(outcome.is_success()))
}

/// What came of a fleet, and what it cost.
#[derive(Serialize)]
struct Raised<'a> {
    #[serde(flatten)]
    outcome: &'a fleet::FleetOutcome,
    #[serde(flatten)]
    cost: Cost,
}

async fn raise(
    stage: &fleet::FleetStage,
    exit: bool,
    output: Output,
    screen: Screen,
    stop: &CancellationToken,
) -> anyhow::Result<ExitCode> {
    let is_text = matches!(output, Output::Text);
    let mut tell = |counts: &fleet::Counts| {
        let line = fleet::counts_line(counts);
        let (start, end) = if screen.is_terminal {
            ("\r\u{1b}[K", "")
        } else {
            ("", "\n")
        };
        if is_text {
            // Nobody may be listening.
            write!(io::stdout(), "{start}{line}{end}")
                .and_then(|()| io::stdout().flush())
                .ok();
        }
    };
    let outcome = fleet::raise(stage, stop, &mut tell).await;
    let cost = cost::of_this_process();
    let text = match output {
        Output::Json => as_json(&Raised {
            outcome: &outcome,
            cost,
        })?,
        Output::Text => format!(
            "{}{}{}",
            if screen.is_terminal { "\n" } else { "" },
            fleet::outcome_text(&outcome, style(screen)),
            cost_text(&cost, &outcome)
        ),
    };
    print(&text)?;
    if outcome.is_success() && !exit {
        stop.cancelled().await;
    }
    Ok(code(outcome.is_success()))
}

/// What everything cost, in all and for each cluster. All of it is one process: the management cluster, the operators and
/// what is simulated.
#[expect(
    clippy::cast_precision_loss,
    reason = "numbers for people, far below the precision of a float"
)]
fn cost_text(cost: &Cost, outcome: &fleet::FleetOutcome) -> String {
    let clusters = outcome.numbers.counts.done.max(1) as f64;
    let processor = cost.processor_seconds.map(|seconds| {
        let each = seconds / clusters;
        format!("Processor time of all of it: {seconds:.1} s, {each:.2} s for each cluster.\n")
    });
    let memory = cost.peak_resident_mib.map(|mib| {
        let each = mib as f64 / clusters;
        format!("Memory of all of it, at most: {mib} MiB, {each:.1} MiB for each cluster.\n")
    });
    [processor, memory].into_iter().flatten().collect()
}

fn as_json(value: &impl Serialize) -> anyhow::Result<String> {
    Ok(format!("{}\n", serde_json::to_string_pretty(value)?))
}

fn print(text: &str) -> anyhow::Result<()> {
    let mut output = io::stdout().lock();
    output.write_all(text.as_bytes())?;
    output.flush()?;
    Ok(())
}

const fn style(screen: Screen) -> Style {
    Style {
        is_coloured: screen.is_coloured,
    }
}

fn code(is_success: bool) -> ExitCode {
    if is_success {
        ExitCode::SUCCESS
    } else {
        ExitCode::from(NOT_GOOD)
    }
}
