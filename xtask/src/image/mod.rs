//! `cargo xtask image`: the image that `hyperplane install` names, as an archive that containerd, Podman, Docker and
//! registries take. It builds one binary that needs no library and puts it into an otherwise almost empty root.

mod archive;
mod build;
mod content;

use std::{fs, path::PathBuf, time::Instant};

use anyhow::{Context, Result};
use clap::Args;

use self::{archive::archive, build::Facts, content::Image};
use crate::workspace;

/// Where the archive goes below the build directory, if it is not said.
const OUTPUT: &str = "hyperplane-image.tar";

/// What image is wanted.
#[derive(Args)]
pub(crate) struct How {
    /// Take the debug profile, which is built in a fraction of the time
    #[arg(long)]
    debug: bool,
    /// Take this program, which needs no library, and build none
    #[arg(long, value_name = "FILE", conflicts_with = "debug")]
    binary: Option<PathBuf>,
    /// Where the archive goes [default: hyperplane-image.tar in the build directory]
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// Builds and writes the image.
pub(crate) fn run(how: &How) -> Result<()> {
    let start = Instant::now();
    let target = workspace::target_directory()?;
    let path = match &how.binary {
        Some(path) => path.clone(),
        None => build::run(&target, how.debug)?,
    };
    let facts = Facts::read(&path)?;
    let binary = fs::read(&path).with_context(|| format!("reading {}", path.display()))?;
    let image = Image::of_version(&facts.version, binary, facts.capabilities);
    let bytes = archive(&image)?;
    let output = how.output.clone().unwrap_or_else(|| target.join(OUTPUT));
    fs::write(&output, &bytes).with_context(|| format!("writing {}", output.display()))?;
    println!(
        "{} in {} ({} MiB, {} s)",
        image.name,
        output.display(),
        bytes.len() >> 20,
        start.elapsed().as_secs()
    );
    Ok(())
}
