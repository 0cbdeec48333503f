//! Where a hosted cluster keeps its data, and on which volumes that was. Owns the files beside the store.

use std::{
    collections::BTreeSet,
    fs, io,
    path::{Path, PathBuf},
};

use hyperplane_apiserver::{Controllers, Object, Server, Settings, Shared};
use hyperplane_store::{Directory, Memory, OpenError, Writer};

use crate::settings::Data;

const STORE: &str = "store";
/// The uids of the claims whose volumes the data is on, one a line.
const VOLUMES: &str = "volumes";

/// A server, and what has to be driven.
pub(super) type Opened = (Server, Writer<Object>, Controllers);

/// The place of one cluster.
pub(super) struct Place(Option<PathBuf>);

impl Place {
    /// The place of the cluster of a namespace. Names of namespaces are names of directories.
    pub(super) fn of(data: &Data, namespace: &str) -> Self {
        match data {
            Data::Memory => Self(None),
            Data::Directory(path) => Self(Some(path.join(namespace))),
        }
    }

    /// Removes data whose volumes are all gone, and notes on which volumes it is otherwise.
    pub(super) fn settle(&self, volumes: &BTreeSet<String>) -> Result<(), String> {
        let Some(path) = self.0.as_ref().filter(|path| path.is_dir()) else {
            return Ok(());
        };
        let noted: BTreeSet<String> = fs::read_to_string(path.join(VOLUMES))
            .unwrap_or_default()
            .lines()
            .map(str::to_owned)
            .collect();
        if is_lost(&noted, volumes) {
            self.remove();
        } else if noted != *volumes && !volumes.is_empty() {
            let lines: Vec<&str> = volumes.iter().map(String::as_str).collect();
            fs::write(path.join(VOLUMES), lines.join("\n")).map_err(|error| words(path, &error))?;
        }
        Ok(())
    }

    /// Opens a server here. The directory belongs to one process.
    pub(super) fn open(
        &self,
        shared: &Shared,
        settings: Settings,
        volumes: &BTreeSet<String>,
    ) -> Result<Opened, String> {
        let refused = |error: OpenError| format!("the store cannot be opened: {error}");
        let Some(path) = &self.0 else {
            return Server::open(shared, settings, Memory).map_err(refused);
        };
        self.settle(volumes)?;
        let store = path.join(STORE);
        make(&store).map_err(|error| words(&store, &error))?;
        self.settle(volumes)?;
        let directory = Directory::open(&store).map_err(|error| error.to_string())?;
        Server::open(shared, settings, directory).map_err(refused)
    }

    /// Removes everything.
    pub(super) fn remove(&self) {
        let Some(path) = &self.0 else { return };
        match fs::remove_dir_all(path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                tracing::warn!(path = %path.display(), %error, "The data of a hosted cluster could not be removed.");
            }
            _ => {}
        }
    }
}

/// Whether data that was on some volumes is on none of those that there are.
pub(super) fn is_lost(noted: &BTreeSet<String>, volumes: &BTreeSet<String>) -> bool {
    !noted.is_empty() && noted.is_disjoint(volumes)
}

/// Secrets are among the data: nobody else may enter.
#[cfg(unix)]
fn make(path: &Path) -> io::Result<()> {
    use std::os::unix::fs::DirBuilderExt as _;

    fs::DirBuilder::new().recursive(true).mode(0o700).create(path)
}

#[cfg(not(unix))]
fn make(path: &Path) -> io::Result<()> {
    fs::create_dir_all(path)
}

fn words(path: &Path, error: &io::Error) -> String {
    format!("{} cannot be used: {error}", path.display())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(names: &[&str]) -> BTreeSet<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    #[test]
    fn data_lives_as_long_as_one_of_its_volumes() {
        let root = tempfile::tempdir().unwrap();
        let place = Place::of(&Data::Directory(root.path().to_owned()), "clusters-a");
        let store = root.path().join("clusters-a/store");
        make(&store).unwrap();
        for (volumes, is_there) in [(&["a", "b", "c"][..], true), (&["b", "d"], true), (&["e"], false)] {
            place.settle(&set(volumes)).unwrap();
            assert_eq!(store.is_dir(), is_there, "{volumes:?}");
        }
    }
}
