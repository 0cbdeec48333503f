//! A management cluster of real nodes that can host the releases of the catalogue: the test bed knows how to bring up a
//! cluster and how images are written, the catalogue knows what images are called. This crate knows both, and no step of
//! any test.

use std::{
    collections::BTreeMap,
    fs::{self, File},
    io::{self, BufWriter},
    path::{Path, PathBuf},
};

use hyperplane_planner::catalogue;
use hyperplane_testbed::{
    assets::{KUBERNETES_VERSION, PREVIOUS_KUBERNETES_VERSION},
    image::{
        self, Facts, LayerFormat,
        cluster::{Component, ImageNames},
    },
    pods::{self, ManagementCluster, Options, Programs},
};
use tempfile::TempDir;

/// Why there is no cluster.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The catalogue does not have the releases of the test bed.
    #[error(transparent)]
    Release(#[from] catalogue::UnknownRelease),
    /// An image could not be written.
    #[error("images of components")]
    Image(#[from] image::cluster::Error),
    /// There is no room for images.
    #[error("a directory for images")]
    Directory(#[source] io::Error),
    /// The image of the operators could not be written.
    #[error("the image of the operators, of {}", program.display())]
    Operators {
        /// The program that was to be put into it.
        program: PathBuf,
        /// The machine's answer.
        #[source]
        source: io::Error,
    },
    /// The cluster does not come up.
    #[error(transparent)]
    Cluster(#[from] pods::Error),
    /// A program was not built.
    #[error(transparent)]
    Program(#[from] hyperplane_testbed::assets::Error),
}

/// Archives of images, which go with this value.
pub struct Archives {
    /// Where they are.
    pub paths: Vec<PathBuf>,
    directory: TempDir,
}

impl Archives {
    /// Writes those of components, under the names that the two releases of the test bed have for them.
    pub fn write(components: &[Component]) -> Result<Self, Error> {
        let directory = tempfile::Builder::new()
            .prefix("hyperplane-images-")
            .tempdir()
            .map_err(Error::Directory)?;
        let written = image::cluster::write_all(directory.path(), components, &releases()?)?;
        Ok(Self {
            paths: written.into_iter().map(|archive| archive.path).collect(),
            directory,
        })
    }

    /// Adds that of the operators, with a program that needs no library.
    fn add_operators(&mut self, program: &Path) -> Result<(), Error> {
        let path = self.directory.path().join("hyperplane.tar");
        write_operators(program, &path).map_err(|source| Error::Operators {
            program: program.to_owned(),
            source,
        })?;
        self.paths.push(path);
        Ok(())
    }
}

fn write_operators(program: &Path, archive: &Path) -> io::Result<()> {
    let binary = fs::read(program)?;
    let image = image::hyperplane(&Facts::read(program)?, &binary);
    image::write(&image, LayerFormat::Plain, BufWriter::new(File::create(archive)?))
}

/// What is asked of a cluster.
#[derive(Clone, Copy, Debug)]
pub struct Wanted<'a> {
    /// How many nodes, one to three.
    pub nodes: u8,
    /// What the image of the operators is made of.
    pub operators: Operators<'a>,
    /// Whether it outlives this process.
    pub is_standing: bool,
}

/// What the image of the operators is made of.
#[derive(Clone, Copy, Debug)]
pub enum Operators<'a> {
    /// A program that needs no library.
    Program(&'a Path),
    /// An archive, as `cargo xtask image` writes it.
    Archive(&'a Path),
}

/// Brings up a cluster that can host control planes of both releases.
pub fn start(wanted: Wanted<'_>) -> Result<ManagementCluster, Error> {
    let mut archives = Archives::write(&Component::OF_CONTROL_PLANES)?;
    match wanted.operators {
        Operators::Program(program) => archives.add_operators(program)?,
        Operators::Archive(archive) => archives.paths.push(archive.to_owned()),
    }
    let options = Options {
        programs: Programs::locate()?,
        images: archives.paths.clone(),
        nodes: wanted.nodes,
        network_policies: true,
    };
    let cluster = if wanted.is_standing {
        ManagementCluster::stand(&options)?
    } else {
        ManagementCluster::start(&options)?
    };
    Ok(cluster)
}

/// What the catalogue calls the images of the releases that the test bed has programs of.
fn releases() -> Result<BTreeMap<String, ImageNames>, Error> {
    let named = |version: &str| {
        let components = &catalogue::by_version(version)?.components;
        let names = components
            .iter()
            .filter_map(|(name, component)| Some((name.clone(), component.image.clone()?)));
        Ok((version.to_owned(), names.collect()))
    };
    [PREVIOUS_KUBERNETES_VERSION, KUBERNETES_VERSION]
        .into_iter()
        .map(named)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn releases_name_what_nodes_of_the_management_cluster_need() {
        let releases = releases().unwrap();
        let newest = &releases[KUBERNETES_VERSION];
        assert_eq!(newest["pause"], pods::PAUSE_IMAGE);
        assert_eq!(newest["coredns"], pods::COREDNS_IMAGE);
        for version in [PREVIOUS_KUBERNETES_VERSION, KUBERNETES_VERSION] {
            let name = &releases[version]["kube-apiserver"];
            assert!(name.ends_with(&format!(":v{version}")), "{name}");
        }
    }
}
