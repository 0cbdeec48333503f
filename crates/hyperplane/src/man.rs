//! `hyperplane man`: writes manual pages, one for each command.

use std::{
    fs,
    io::Write,
    path::{Path, PathBuf},
};

use clap::{Args, CommandFactory as _};

use crate::{CommandLine, failing::wrong_use};

/// Where to.
#[derive(Args)]
pub struct Arguments {
    /// The directory; made if it is not there
    #[arg(value_name = "DIR")]
    directory: PathBuf,
}

/// Writes the pages, and says how to read them.
pub fn run(arguments: &Arguments, output: &mut impl Write) -> anyhow::Result<()> {
    let directory = &arguments.directory;
    write(directory).map_err(|error| {
        let what = format!("{} cannot be written", directory.display());
        wrong_use(what, error.to_string(), "give a directory that can be")
    })?;
    writeln!(output, "man {}", directory.join("hyperplane.1").display())?;
    Ok(())
}

fn write(directory: &Path) -> std::io::Result<()> {
    fs::create_dir_all(directory)?;
    clap_mangen::generate_to(CommandLine::command(), directory)
}
