//! Writes golden files anew. It owns the switch; the tests that compare with golden files honour it.

use anyhow::Result;

use crate::{process, workspace};

/// Set to 1, it makes a test write its golden file instead of comparing with it.
const SWITCH: &str = "HYPERPLANE_BLESS";

/// Writes the schemas of our kinds, which are compiled into everything else.
const SCHEMAS: &[&str] = &["test", "--package", "hyperplane-api", "--lib", "schema_files"];

/// Runs all tests that need no server with the switch on.
pub(crate) fn run() -> Result<bool> {
    let run = |arguments: &[&str]| process::run_on_terminal(workspace::cargo().args(arguments).env(SWITCH, "1"));
    let is_success = run(SCHEMAS)? && run(&["test", "--workspace"])?;
    if is_success {
        println!("golden files are written; read `git diff` before you commit them");
    }
    Ok(is_success)
}
