//! What all benchmarks share: how results are printed, and what processes cost.

pub mod process;

use std::io::{self, Write as _};

use anyhow::Result;
use clap::ValueEnum;
use serde_json::Value;

/// How results are printed.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Output {
    /// For people.
    Text,
    /// For programs.
    Json,
}

impl Output {
    /// Prints a result.
    pub fn print(self, table: impl FnOnce() -> String, json: impl FnOnce() -> Value) -> Result<()> {
        let text = match self {
            Self::Text => table(),
            Self::Json => format!("{:#}", json()),
        };
        writeln!(io::stdout(), "{text}")?;
        Ok(())
    }
}

/// Numbers here are far below those that a float cannot hold.
#[expect(clippy::cast_precision_loss, reason = "see above")]
pub fn number(value: u64) -> f64 {
    value as f64
}
