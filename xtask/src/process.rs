//! Child processes with a log, signs of life and a deadline. It knows nothing about what they do.

use std::{
    fs::{self, File},
    path::Path,
    process::{Child, Command, ExitStatus, Stdio},
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context, Result};

/// How often a child is looked after.
const LOOK: Duration = Duration::from_millis(20);

/// How often a long-running child is reported: often enough for a build server that ends silent jobs.
const REPORT: Duration = Duration::from_secs(30);

/// How a child ended.
pub(crate) struct Finished {
    /// Its status; none if it was killed because its time was over.
    pub(crate) status: Option<ExitStatus>,
    /// All that it printed, both streams together.
    pub(crate) output: String,
    /// How long it ran.
    pub(crate) elapsed: Duration,
}

impl Finished {
    /// Whether it ended by itself and well.
    pub(crate) fn is_success(&self) -> bool {
        self.status.is_some_and(|status| status.success())
    }
}

/// Runs a command with its output in a log file.
pub(crate) fn run(command: &mut Command, label: &str, log: &Path, limit: Duration) -> Result<Finished> {
    let output = File::create(log).with_context(|| format!("writing {}", log.display()))?;
    let errors = output
        .try_clone()
        .with_context(|| format!("writing {}", log.display()))?;
    let start = Instant::now();
    let mut child = command
        .stdin(Stdio::null())
        .stdout(output)
        .stderr(errors)
        .spawn()
        .with_context(|| starting(command))?;
    let status = wait(&mut child, label, start, limit)?;
    let bytes = fs::read(log).with_context(|| format!("reading {}", log.display()))?;
    Ok(Finished {
        status,
        output: String::from_utf8_lossy(&bytes).into_owned(),
        elapsed: start.elapsed(),
    })
}

/// Runs a command on the terminal and says whether it went well.
pub(crate) fn run_on_terminal(command: &mut Command) -> Result<bool> {
    Ok(command.status().with_context(|| starting(command))?.success())
}

fn wait(child: &mut Child, label: &str, start: Instant, limit: Duration) -> Result<Option<ExitStatus>> {
    let mut next_report = REPORT;
    loop {
        if let Some(status) = child.try_wait().context("waiting for a child process")? {
            return Ok(Some(status));
        }
        if start.elapsed() >= limit {
            child.kill().context("ending a child process")?;
            child.wait().context("waiting for a child process")?;
            return Ok(None);
        }
        if start.elapsed() >= next_report {
            println!("        {label}: at work for {} s", next_report.as_secs());
            next_report += REPORT;
        }
        thread::sleep(LOOK);
    }
}

fn starting(command: &Command) -> String {
    format!("starting {}", command.get_program().display())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str, limit: Duration) -> Finished {
        let directory = tempfile::tempdir().unwrap();
        let log = directory.path().join("log");
        run(Command::new("sh").args(["-c", script]), "test", &log, limit).unwrap()
    }

    #[test]
    fn both_streams_and_the_status_of_a_real_child_are_kept() {
        let finished = shell("echo out; echo err >&2; exit 3", Duration::from_mins(1));
        assert_eq!(finished.output, "out\nerr\n");
        assert_eq!(finished.status.and_then(|status| status.code()), Some(3));
        assert!(!finished.is_success());
    }

    #[test]
    fn a_real_child_is_killed_when_its_time_is_over() {
        let finished = shell("exec sleep 1000", Duration::from_millis(100));
        assert!(finished.status.is_none());
        assert!(!finished.is_success());
    }
}
