//! The data directory: which files it has, and that it belongs to one process. Knows no server.

use std::{
    fs::{self, DirBuilder},
    io,
    os::unix::fs::DirBuilderExt as _,
    path::{Path, PathBuf},
};

use hyperplane_runtime::Disposition;
use hyperplane_store::{Directory, FormatError, OpenError};

use crate::failing::{in_order, wrong_use};

const STORE: &str = "store";
const PKI: &str = "pki";
const KUBECONFIG: &str = "kubeconfig";
/// The owner may enter, nobody else.
const PRIVATE: u32 = 0o700;
/// What a fresh file system has.
const HARMLESS: &str = "lost+found";

/// What to do about a directory that the system does not give us.
const USE_ANOTHER: &str = "look at the owner and mode of --data-dir, or use another directory";

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
            names => names.map_err(|error| {
                let what = format!("{} cannot be used as a data directory", self.path.display());
                wrong_use(what, error.to_string(), USE_ANOTHER)
            })?,
        };
        if names.iter().any(|name| [STORE, PKI].contains(&name.as_str())) {
            return Ok(());
        }
        if let Some(foreign) = names.iter().find(|name| *name != HARMLESS) {
            return Err(wrong_use(
                self.path.display().to_string(),
                format!("is not empty and holds no data of an API server ({foreign} is not ours)"),
                "use an empty directory",
            ));
        }
        Ok(())
    }

    /// Takes the directory for this process, and makes it if it is not there. Whoever holds the store's directory holds
    /// the rest too.
    pub(super) fn take(&self) -> anyhow::Result<Directory> {
        let path = self.path.join(STORE);
        // Secrets are among the objects.
        let made = DirBuilder::new().recursive(true).mode(PRIVATE).create(&path);
        made.map_err(|error| {
            let what = format!("{} cannot be made", path.display());
            wrong_use(what, error.to_string(), USE_ANOTHER)
        })?;
        Directory::open(&path).map_err(|error| {
            in_order(
                Disposition::User,
                "the data directory cannot be used",
                &error,
                USE_ANOTHER,
            )
        })
    }

    /// Takes a directory that must have a store.
    pub(super) fn take_existing(&self) -> anyhow::Result<Directory> {
        if !self.path.join(STORE).is_dir() {
            return Err(wrong_use(
                self.path.display().to_string(),
                "holds no data of an API server",
                "look at --data-dir",
            ));
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
        Ok(_) => Err(wrong_use(
            path.display().to_string(),
            "is there and was not written by this command",
            "choose another --kubeconfig-out, or remove it",
        )),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(not_writable(path, &error)),
    }
}

/// Writes a kubeconfig that only its owner may read.
pub(super) fn write_kubeconfig(path: &Path, content: &str) -> anyhow::Result<()> {
    hyperplane_apiserver::pki::write_private(path, &format!("{SIGNATURE}{content}"))
        .map_err(|error| not_writable(path, &error))
}

fn not_writable(path: &Path, error: &io::Error) -> anyhow::Error {
    let what = format!("{} cannot be written", path.display());
    wrong_use(what, error.to_string(), "choose another --kubeconfig-out")
}

/// That the store of a directory cannot be opened: the wrong directory for this release, or data that is damaged.
pub(super) fn unusable(error: &OpenError) -> anyhow::Error {
    let disposition = match error {
        OpenError::Format(format) => of_format(format),
        OpenError::Replay(_) | OpenError::Log(_) => Disposition::Fatal,
    };
    let otherwise = "see hyperplane apiserver fsck";
    in_order(disposition, "the data cannot be used", error, otherwise)
}

/// Whether another directory or another release is what helps.
pub(super) const fn of_format(error: &FormatError) -> Disposition {
    match error {
        FormatError::Newer { .. } | FormatError::Older { .. } | FormatError::Restoring | FormatError::Occupied => {
            Disposition::User
        }
        FormatError::Unreadable(_) | FormatError::Missing | FormatError::Io { .. } => Disposition::Fatal,
    }
}
