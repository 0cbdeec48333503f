//! `hyperplane completion`: prints what shells complete command lines with.

use std::io::Write;

use clap::{Args, CommandFactory as _};
use clap_complete::Shell;

use crate::CommandLine;

/// For whom.
#[derive(Args)]
pub struct Arguments {
    /// The shell
    #[arg(value_enum)]
    shell: Shell,
}

/// Prints the script of a shell.
pub fn run(arguments: &Arguments, output: &mut impl Write) -> anyhow::Result<()> {
    let mut command = CommandLine::command();
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut command, "hyperplane", &mut script);
    output.write_all(&script)?;
    output.flush()?;
    Ok(())
}
