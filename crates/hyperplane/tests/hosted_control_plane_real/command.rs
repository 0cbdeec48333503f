//! Programs of the system that are run to their end.

use std::process::Stdio;

use anyhow::{Context as _, Result, ensure};
use tokio::process::Command;

/// Runs a command line without quotes, and wants it to go well.
pub async fn run(line: &str) -> Result<String> {
    let mut words = line.split_whitespace();
    let program = words.next().context("a command line has a program")?;
    let output = Command::new(program)
        .args(words)
        .stdin(Stdio::null())
        .output()
        .await
        .with_context(|| line.to_owned())?;
    let errors = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "{line}: {} {errors}", output.status);
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}
