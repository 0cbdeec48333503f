//! A real management cluster to measure on: the API server with its audit log, the operators as a process of their own, and
//! simulated machines in this process. What is measured is not known here.

pub mod audit;
pub mod ground;
pub mod operator;

use std::io::{self, Write as _};

/// Progress for people. Nobody may be listening.
pub fn say(line: &str) {
    writeln!(io::stderr(), "{line}").ok();
}
