//! `cargo xtask test`: the whole truth about this work tree. It owns the order of steps; nothing is left out for want
//! of a server, and the last line of its output is always the count.

mod binaries;
mod outcome;
mod summary;

use std::{
    path::Path,
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use anyhow::{Context, Result, ensure};
use hyperplane_testbed::assets::{Environment, KUBERNETES_VERSION};

pub(crate) use self::binaries::Binary;
use self::{binaries::Ground, outcome::Outcome};
use crate::{kube_assets, process, workspace};

/// How long one binary may take before it counts as hung; the whole run has an hour and a quarter.
const BINARY_LIMIT: Duration = Duration::from_mins(30);

/// How much of a failed binary's output is shown; all of it is in its log.
const SHOWN_BYTES: usize = 256 * 1024;

/// Runs everything and says whether all went well. Whatever goes wrong becomes a failure in the count.
pub(crate) fn run() -> Result<bool> {
    let logs = workspace::log_directory()?;
    let mut outcomes = vec![
        check("format", || run_cargo(&["fmt", "--all", "--check"])),
        check("lints", || {
            run_cargo(&["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"])
        }),
        check("servers", prepare_servers),
    ];
    let mut binaries = Vec::new();
    outcomes.push(check("build", || {
        binaries = build(workspace::cargo())?;
        Ok(())
    }));
    let mut soaks = 0;
    for binary in &binaries {
        let left_out = binary.soaks().unwrap_or_else(|error| {
            // The same trouble fails the run of the binary below.
            println!("{error:#}");
            Vec::new()
        });
        soaks += left_out.len();
        let mut command = all_but(binary, &left_out);
        outcomes.push(run_tests(&mut command, binary.ground, &binary.label(), &logs));
    }
    if !binaries.is_empty() {
        outcomes.push(run_doc_tests(&logs));
    }
    println!("\n{}", summary::render(&outcomes, soaks));
    Ok(outcomes.iter().all(Outcome::is_success))
}

/// Builds all test binaries by a cargo and lists them.
pub(crate) fn build(mut cargo: Command) -> Result<Vec<Binary>> {
    let output = cargo
        .args([
            "test",
            "--workspace",
            "--no-run",
            "--message-format=json-render-diagnostics",
        ])
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
    let outcome = Outcome::of_check(result.is_ok(), start.elapsed());
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
    command
}

fn run_doc_tests(logs: &Path) -> Outcome {
    let mut command = workspace::cargo();
    command.args(["test", "--workspace", "--doc"]);
    run_tests(&mut command, Ground::Doc, "examples in documentation", logs)
}

fn run_tests(command: &mut Command, ground: Ground, label: &str, logs: &Path) -> Outcome {
    let log = logs.join(format!("{}.log", label.replace(": ", "-").replace(' ', "-")));
    let (output, is_success, elapsed) = match process::run(command, label, &log, BINARY_LIMIT) {
        Ok(finished) => (finished.output.clone(), finished.is_success(), finished.elapsed),
        Err(error) => (format!("{error:#}"), false, Duration::ZERO),
    };
    let outcome = Outcome::of_output(ground, &output, is_success, elapsed);
    report(ground.name(), label, &outcome);
    if !outcome.is_success() {
        println!("{}", shown(&output));
        println!("all of it: {}", log.display());
    }
    outcome
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
