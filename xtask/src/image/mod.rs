//! `cargo xtask image`: the image that `hyperplane install` names, as an archive that containerd, Podman, Docker and
//! registries take. It builds one binary that needs no library and puts it into an otherwise almost empty root.

mod build;

use std::{
    fs::{self, File},
    io::BufWriter,
    path::PathBuf,
    time::Instant,
};

use anyhow::{Context, Result};
use clap::Args;
use hyperplane_testbed::image::{self, Facts, LayerFormat};

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
    let facts = Facts::read(&path).with_context(|| format!("asking {}", path.display()))?;
    let binary = fs::read(&path).with_context(|| format!("reading {}", path.display()))?;
    let image = image::hyperplane(&facts, &binary);
    let output = how.output.clone().unwrap_or_else(|| target.join(OUTPUT));
    let writing = || format!("writing {}", output.display());
    let file = File::create(&output).with_context(writing)?;
    image::write(&image, LayerFormat::Gzip, BufWriter::new(file)).with_context(writing)?;
    let size = fs::metadata(&output).with_context(writing)?.len();
    println!(
        "{} in {} ({} MiB, {} s)",
        image.names.concat(),
        output.display(),
        size >> 20,
        start.elapsed().as_secs()
    );
    Ok(())
}
