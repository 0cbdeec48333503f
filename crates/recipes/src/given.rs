//! What a recipe needs besides flags, read by whoever may read.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use hyperplane_api::hyperplane::distribution_release::DistributionRelease;

use crate::ssh::KeyPair;

/// A flag that names a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileFlag {
    /// The flag, with its dashes.
    pub flag: &'static str,
    /// The file.
    pub path: PathBuf,
}

impl FileFlag {
    /// A flag with its file, if it was given.
    pub(crate) fn of(flag: &'static str, path: Option<&PathBuf>) -> Option<Self> {
        path.map(|path| Self {
            flag,
            path: path.clone(),
        })
    }
}

/// What was read for a recipe. What is absent was not asked for, or nobody could tell.
#[derive(Clone, Debug, Default)]
pub struct Given {
    /// What files hold, by the flag that names them.
    pub files: BTreeMap<&'static str, String>,
    /// A key pair that was made for --generate-ssh.
    pub ssh: Option<KeyPair>,
    /// An address of a node of the management cluster.
    pub node_address: Option<String>,
    /// DistributionReleases of the management cluster.
    pub releases: Vec<DistributionRelease>,
    /// The minors that the management cluster can host, newest first.
    pub hosted: Option<Vec<String>>,
}

impl Given {
    /// What the file of a flag holds.
    pub(crate) fn file(&self, flag: &str) -> Option<&str> {
        self.files.get(flag).map(String::as_str)
    }
}

/// Every file that flags name.
pub(crate) fn files<'a>(flags: impl IntoIterator<Item = (&'static str, Option<&'a PathBuf>)>) -> Vec<FileFlag> {
    let named = flags.into_iter().filter_map(|(flag, path)| FileFlag::of(flag, path));
    named.collect()
}

impl AsRef<Path> for FileFlag {
    fn as_ref(&self) -> &Path {
        &self.path
    }
}
