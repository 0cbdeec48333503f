//! The data directory: which files it has, and that it belongs to one process. Knows no server.

use std::{
    fs::{self, DirBuilder},
    io,
    os::unix::fs::DirBuilderExt as _,
    path::{Path, PathBuf},
};

use anyhow::{Context as _, bail};
use hyperplane_store::Directory;

const STORE: &str = "store";
const PKI: &str = "pki";
const KUBECONFIG: &str = "kubeconfig";
/// The owner may enter, nobody else.
const PRIVATE: u32 = 0o700;
/// What a fresh file system has.
const HARMLESS: &str = "lost+found";

/// The first line of a kubeconfig of ours.
const SIGNATURE: &str = "# Written by hyperplane apiserver, and again at every start.\n";

/// The data directory of a server.
pub(super) struct Data {
    path: PathBuf,
}

impl Data {
    /// The data at a path.
    pub(super) fn at(path: &Path) -> Self {
        Self { path: path.to_owned() }
    }

    /// A directory with files, none of them ours, is somebody else's.
    pub(super) fn refuse_foreign(&self) -> anyhow::Result<()> {
        let names = match names(&self.path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            names => names.with_context(|| format!("{} cannot be used as a data directory", self.path.display()))?,
        };
        if names.iter().any(|name| [STORE, PKI].contains(&name.as_str())) {
            return Ok(());
        }
        if let Some(foreign) = names.iter().find(|name| *name != HARMLESS) {
            bail!(
                "{} is not empty and holds no data of an API server ({foreign} is not ours): use an empty directory",
                self.path.display()
            );
        }
        Ok(())
    }

    /// Takes the directory for this process, and makes it if it is not there. Whoever holds the store's directory holds
    /// the rest too.
    pub(super) fn take(&self) -> anyhow::Result<Directory> {
        let path = self.path.join(STORE);
        // Secrets are among the objects.
        let made = DirBuilder::new().recursive(true).mode(PRIVATE).create(&path);
        made.with_context(|| {
            format!(
                "{} cannot be made: look at the owner and mode of --data-dir",
                path.display()
            )
        })?;
        Directory::open(&path).context("the data directory cannot be used")
    }

    /// Takes a directory that must have a store.
    pub(super) fn take_existing(&self) -> anyhow::Result<Directory> {
        if !self.path.join(STORE).is_dir() {
            bail!(
                "{} holds no data of an API server: look at --data-dir",
                self.path.display()
            );
        }
        self.take()
    }

    /// Where credentials are kept.
    pub(super) fn pki(&self) -> PathBuf {
        self.path.join(PKI)
    }

    /// Where the kubeconfig goes if nothing else is asked for.
    pub(super) fn kubeconfig(&self) -> PathBuf {
        self.path.join(KUBECONFIG)
    }
}

fn names(path: &Path) -> io::Result<Vec<String>> {
    let entries = fs::read_dir(path)?;
    entries
        .map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned()))
        .collect()
}

/// Refuses to write over a kubeconfig that is somebody's own, such as ~/.kube/config.
pub(super) fn refuse_foreign_kubeconfig(path: &Path) -> anyhow::Result<()> {
    match fs::read(path) {
        Ok(content) if content.starts_with(SIGNATURE.as_bytes()) => Ok(()),
        Ok(_) => bail!(
            "{} is there and was not written by this command: choose another --kubeconfig-out, or remove it",
            path.display()
        ),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => {
            Err(error).with_context(|| format!("{} cannot be written: choose another --kubeconfig-out", path.display()))
        }
    }
}

/// Writes a kubeconfig that only its owner may read.
pub(super) fn write_kubeconfig(path: &Path, content: &str) -> anyhow::Result<()> {
    hyperplane_apiserver::pki::write_private(path, &format!("{SIGNATURE}{content}"))
        .with_context(|| format!("{} cannot be written: choose another --kubeconfig-out", path.display()))
}
