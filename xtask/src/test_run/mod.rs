//! `cargo xtask test`: the whole truth about this work tree. It owns the order of steps; nothing is left out for want
//! of a server, and the last line of its output is always the count.

mod binaries;
mod changed;
mod ground;
mod lanes;
mod outcome;
mod summary;

use std::{
    collections::BTreeSet,
    path::Path,
    process::{Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, ensure};
use clap::Args;
use hyperplane_testbed::assets::{Environment, KUBERNETES_VERSION};

pub(crate) use self::binaries::Binary;
use self::{ground::Ground, outcome::Outcome};
use crate::{kube_assets, needs, process, real_cluster, workspace};

/// How long one binary may take before it counts as hung: half of the budget, on a machine that is half as fast.
const BINARY_LIMIT: Duration = Duration::from_mins(30);

/// How much of a failed binary's output is shown; all of it is in its log.
const SHOWN_BYTES: usize = 256 * 1024;

/// Tests over sockets that run at a time in one binary.
const SOCKET_TESTS: usize = 4;

/// Tells the test of the image which program to put into it.
const IMAGE_BINARY: &str = "HYPERPLANE_IMAGE_BINARY";

/// Tells tests on real pods where an archive of that image is, if there is one already.
const IMAGE_ARCHIVE: &str = "HYPERPLANE_IMAGE_ARCHIVE";

/// What is tested.
#[derive(Args)]
pub(crate) struct Choice {
    /// Only what changed and what depends on it, without real servers
    #[arg(long)]
    quick: bool,
    /// With --quick: what counts as changed is what differs from this revision
    #[arg(long, default_value = "HEAD", requires = "quick")]
    since: String,
    /// Everything but what needs real kubelets and containers, and with them Linux and root
    #[arg(long, conflicts_with = "quick")]
    without_pods: bool,
}

/// Which programs of others a whole run has.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Reach {
    /// All that there are tests for.
    Everything,
    /// None that needs Linux and root.
    WithoutPods,
}

/// Runs what was chosen and says whether all went well. Whatever goes wrong becomes a failure in the count.
pub(crate) fn run(choice: &Choice) -> Result<bool> {
    let start = Instant::now();
    needs::check(!choice.quick)?;
    let reach = if choice.without_pods {
        Reach::WithoutPods
    } else {
        Reach::Everything
    };
    if !choice.quick && reach == Reach::Everything {
        real_cluster::prepare_machine().context("to test without real pods, add --without-pods")?;
    }
    let logs = workspace::log_directory()?;
    let (outcomes, soaks) = if choice.quick {
        let packages = changed::packages(&choice.since)?;
        if packages.is_empty() {
            println!("nothing changed since {} that a test could tell", choice.since);
        }
        (run_quick(&packages, &logs), 0)
    } else {
        run_everything(reach, &logs)
    };
    println!("\n{}", summary::render(&outcomes, soaks, start.elapsed()));
    Ok(outcomes.iter().all(Outcome::is_success))
}

/// Format, lints and tests of packages that need nothing but Rust.
fn run_quick(packages: &BTreeSet<String>, logs: &Path) -> Vec<Outcome> {
    let mut outcomes = vec![check("format", || run_cargo(&["fmt", "--all", "--check"]))];
    if packages.is_empty() {
        return outcomes;
    }
    let selected: Vec<&str> = packages.iter().flat_map(|name| ["--package", name]).collect();
    outcomes.push(check("lints", || {
        run_cargo(
            &[
                &["clippy", "--all-targets"],
                selected.as_slice(),
                &["--", "-D", "warnings"],
            ]
            .concat(),
        )
    }));
    let mut binaries = Vec::new();
    outcomes.push(check("build", || {
        let mut cargo = workspace::cargo();
        cargo.args(["test"]).args(&selected);
        binaries = build(&mut cargo)?;
        binaries.retain(|binary| !binary.ground.needs_servers());
        Ok(())
    }));
    outcomes.extend(run_binaries(binaries, |binary| {
        let mut command = binary.command();
        threads(binary, &mut command);
        run_tests(&mut command, binary.ground, &binary.label(), logs, Skipped::Allowed)
    }));
    outcomes
}

/// Everything within reach, and how many soaks were left out.
fn run_everything(reach: Reach, logs: &Path) -> (Vec<Outcome>, usize) {
    let mut outcomes = vec![
        check("format", || run_cargo(&["fmt", "--all", "--check"])),
        check("lints", || {
            run_cargo(&["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"])
        }),
        check("servers", prepare_servers),
    ];
    if reach == Reach::Everything {
        outcomes.push(check("programs for real pods", kube_assets::run_for_pods));
    }
    let mut binaries = Vec::new();
    outcomes.push(check("build", || {
        let mut cargo = workspace::cargo();
        cargo.args(["test", "--workspace"]);
        binaries = build(workspace::build_for_images(&mut cargo))?;
        binaries.retain(|binary| reach == Reach::Everything || binary.ground != Ground::Pods);
        Ok(())
    }));
    if binaries.is_empty() {
        return (outcomes, 0);
    }
    let soaks: Vec<String> = binaries.iter().flat_map(soaks_of).collect();
    outcomes.extend(run_binaries(binaries, |binary| {
        let mut command = all_but(binary, &left_out_of(binary));
        threads(binary, &mut command);
        run_tests(&mut command, binary.ground, &binary.label(), logs, Skipped::Wrong)
    }));
    outcomes.push(run_doc_tests(logs));
    (outcomes, soaks.len())
}

/// Runs binaries beside each other, as far as the cores go. Each ground that waits has a lane of its own.
fn run_binaries(binaries: Vec<Binary>, work: impl Fn(&Binary) -> Outcome + Sync) -> Vec<Outcome> {
    let cores = thread::available_parallelism().map_or(1, usize::from);
    lanes::run(
        binaries,
        cores,
        |binary| binary.ground.waits().then_some(binary.ground),
        work,
    )
}

fn soaks_of(binary: &Binary) -> Vec<String> {
    binary.soaks().unwrap_or_else(|error| {
        // The same trouble fails the run of the binary.
        println!("{error:#}");
        Vec::new()
    })
}

/// What a whole run leaves to tasks of its own: soaks, and what takes long on real pods.
fn left_out_of(binary: &Binary) -> Vec<String> {
    let long = binary.long_tests_on_pods().unwrap_or_default();
    [soaks_of(binary), long].concat()
}

/// Runs all tests on real pods on the terminal, the long ones included, and says whether all went well.
pub(crate) fn run_pods(image: Option<&Path>, only: Option<&str>) -> Result<bool> {
    let mut cargo = workspace::cargo();
    cargo.args(["test", "--workspace", "--test", "*_pods"]);
    let binaries = build(workspace::build_for_images(&mut cargo))?;
    let mut is_success = true;
    for binary in &binaries {
        let mut command = binary.command();
        command
            .args(["--include-ignored", "--nocapture", "--test-threads=1"])
            .args(only)
            .envs(image.map(|image| (IMAGE_ARCHIVE, image)))
            .envs(binary.program("hyperplane").map(|program| (IMAGE_BINARY, program)));
        is_success &= process::run_on_terminal(&mut command)?;
    }
    Ok(is_success)
}

/// Builds the test binaries that a `cargo test` selects, and lists them.
pub(crate) fn build(cargo: &mut Command) -> Result<Vec<Binary>> {
    let output = cargo
        .args(["--no-run", "--message-format=json-render-diagnostics"])
        .stderr(Stdio::inherit())
        .output()
        .context("running cargo")?;
    ensure!(output.status.success(), "the tests do not compile");
    let binaries = Binary::read_all(&String::from_utf8_lossy(&output.stdout))?;
    ensure!(!binaries.is_empty(), "cargo built no test binary");
    Ok(binaries)
}

fn check(label: &str, work: impl FnOnce() -> Result<()>) -> Outcome {
    let start = Instant::now();
    let result = work();
    if let Err(error) = &result {
        println!("{error:#}");
    }
    let outcome = Outcome::of_check(label, result.is_ok(), start.elapsed());
    report(outcome.ground.name(), label, &outcome);
    outcome
}

fn run_cargo(arguments: &[&str]) -> Result<()> {
    let is_success = process::run_on_terminal(workspace::cargo().args(arguments))?;
    ensure!(is_success, "`cargo {}` complains", arguments.join(" "));
    Ok(())
}

/// Sees to it that there are servers to test with; those that the user brings are taken as they are.
pub(crate) fn prepare_servers() -> Result<()> {
    let environment = Environment::read();
    if environment.kubebuilder_assets.is_some() {
        environment.locate(KUBERNETES_VERSION)?;
        // Nobody brings two versions.
        return kube_assets::run_previous();
    }
    kube_assets::run(None)
}

/// All tests of a binary, those that plain `cargo test` leaves out included, except for soaks.
fn all_but(binary: &Binary, soaks: &[String]) -> Command {
    let mut command = binary.command();
    command.args(["--include-ignored", "--exact"]);
    for soak in soaks {
        command.args(["--skip", soak]);
    }
    if let Some(program) = binary.program("hyperplane") {
        command.env(IMAGE_BINARY, program);
    }
    command
}

fn run_doc_tests(logs: &Path) -> Outcome {
    let mut command = workspace::cargo();
    command.args(["test", "--workspace", "--doc"]);
    workspace::build_for_images(&mut command);
    run_tests(
        &mut command,
        Ground::Doc,
        "examples in documentation",
        logs,
        Skipped::Wrong,
    )
}

/// What a test that was left out means.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Skipped {
    /// It needs what this run does without.
    Allowed,
    /// It should have run.
    Wrong,
}

/// How many tests of a binary run at a time. Binaries that compute run beside each other, one to a core; programs over
/// sockets wait for each other more than they compute.
fn threads(binary: &Binary, command: &mut Command) {
    let threads = match binary.ground {
        // Each has a management cluster of its own, with all that a control plane computes.
        Ground::Pods => 1,
        ground if ground.waits() => return,
        _ if binary.has_sockets() => SOCKET_TESTS,
        _ => 1,
    };
    command.arg(format!("--test-threads={threads}"));
}

fn run_tests(command: &mut Command, ground: Ground, label: &str, logs: &Path, skipped: Skipped) -> Outcome {
    let log = logs.join(format!("{}.log", label.replace(": ", "-").replace(' ', "-")));
    if ground != Ground::Doc {
        tell_times(command);
    }
    let (output, is_success, elapsed) = match process::run(command, label, &log, BINARY_LIMIT) {
        Ok(finished) => (finished.output.clone(), finished.is_success(), finished.elapsed),
        Err(error) => (format!("{error:#}"), false, Duration::ZERO),
    };
    let mut outcome = Outcome::of_output(label, ground, &output, is_success, elapsed);
    if skipped == Skipped::Allowed {
        outcome.counts.skipped = 0;
    }
    report(ground.name(), label, &outcome);
    if !outcome.is_success() {
        println!("{}", shown(&output));
        println!("all of it: {}", log.display());
    }
    outcome
}

/// Has a test binary say how long each test took. The flag is not stable yet, and the variable is how stable binaries are
/// told that this is known; the line that is read is checked, so without it only the times would be missing.
fn tell_times(command: &mut Command) {
    command
        .env("RUSTC_BOOTSTRAP", "1")
        .args(["-Zunstable-options", "--report-time"]);
}

fn report(ground: &str, label: &str, outcome: &Outcome) {
    let verdict = if outcome.is_success() { "ok" } else { "FAILED" };
    let seconds = outcome.elapsed.as_secs_f64();
    let passed = outcome.counts.passed;
    println!("{verdict:<7} {ground:<11} {label:<37} {passed:>5} passed {seconds:>7.1} s");
    if let Some(complaint) = outcome.complaint {
        println!("        {label}: {complaint}");
    }
}

/// The end of an output that is too long.
fn shown(output: &str) -> &str {
    let start = output.ceil_char_boundary(output.len().saturating_sub(SHOWN_BYTES));
    &output[start..]
}
