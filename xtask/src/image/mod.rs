//! `cargo xtask image`: the image that `hyperplane install` names, as an archive that containerd, Podman, Docker and
//! registries take. It builds one binary that needs no library and puts it into an otherwise almost empty root.

mod archive;
mod build;
mod content;

use std::{fs, path::PathBuf, time::Instant};

use anyhow::{Context, Result};
use clap::Args;

use self::{archive::archive, content::Image};
use crate::workspace;

/// Where the archive goes below the build directory, if it is not said.
const OUTPUT: &str = "hyperplane-image.tar";

/// What image is wanted.
#[derive(Args)]
pub(crate) struct How {
    /// Take the debug profile, which is built in a fraction of the time
    #[arg(long)]
    debug: bool,
    /// Where the archive goes [default: hyperplane-image.tar in the build directory]
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// Builds and writes the image.
pub(crate) fn run(how: &How) -> Result<()> {
    let start = Instant::now();
    let target = workspace::target_directory()?;
    let built = build::run(&target, how.debug)?;
    let binary = fs::read(&built.binary).with_context(|| format!("reading {}", built.binary.display()))?;
    let image = Image::of_version(&built.version, binary, built.capabilities()?);
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
