//! What an image holds and says of itself. Values only.

use std::{
    borrow::Cow,
    collections::{BTreeMap, BTreeSet},
};

use serde_json::{Value, json};

/// The same for every build, so that equal files make equal images.
const CREATED: &str = "1970-01-01T00:00:00Z";

/// An image of one layer, for Linux on amd64.
#[derive(Clone, Debug, Default)]
pub struct Image<'a> {
    /// The names by which it is pulled, with their tags.
    pub names: Vec<String>,
    /// Who its process is, as `user:group`.
    pub user: String,
    /// Where its process looks for programs.
    pub path: String,
    /// What is started where a pod does not say.
    pub entrypoint: Vec<String>,
    /// What it says of itself.
    pub labels: BTreeMap<String, String>,
    /// Its files. Parents that are not named are directories that everybody may read.
    pub entries: Vec<Entry<'a>>,
}

/// A file, a directory or a link of an image.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry<'a> {
    /// Where it is, without a slash at either end.
    pub path: String,
    /// Its permission bits.
    pub mode: u32,
    /// What it is.
    pub content: Content<'a>,
}

/// What an entry is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Content<'a> {
    /// A directory.
    Directory,
    /// A file.
    File {
        /// Its bytes.
        bytes: Cow<'a, [u8]>,
        /// What its process may do that its user may not.
        capability: Option<Capability>,
    },
    /// A symbolic link to a path.
    Link(String),
}

/// A file capability, permitted and effective, as `setcap NAME=+ep` gives it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Capability {
    /// Listen on ports below 1024.
    NetBindService,
}

impl Capability {
    /// The extended attribute of a file that has it.
    pub const ATTRIBUTE: &str = "security.capability";

    /// Revision 2 of the format, with 64 bits and for every user namespace; include/uapi/linux/capability.h.
    const REVISION: u32 = 0x0200_0000;
    /// Permitted capabilities are effective from the start.
    const EFFECTIVE: u32 = 1;

    /// The value of the attribute: revision and flags, then permitted and inheritable, low words before high ones.
    pub fn attribute_value(self) -> [u8; 20] {
        let bits = 1_u64 << self.number();
        let (low, high) = (bits & u64::from(u32::MAX), bits >> 32);
        let words = [u64::from(Self::REVISION | Self::EFFECTIVE), low, 0, high, 0];
        let mut value = [0; 20];
        for (place, word) in value.chunks_exact_mut(4).zip(words) {
            place.copy_from_slice(&word.to_le_bytes()[..4]);
        }
        value
    }

    fn number(self) -> u32 {
        match self {
            Self::NetBindService => 10,
        }
    }
}

impl<'a> Entry<'a> {
    /// A directory that everybody may read.
    pub fn directory(path: &str) -> Self {
        Self {
            path: path.to_owned(),
            mode: 0o755,
            content: Content::Directory,
        }
    }

    /// A file that everybody may read.
    pub fn file(path: &str, bytes: impl Into<Cow<'a, [u8]>>) -> Self {
        Self {
            path: path.to_owned(),
            mode: 0o644,
            content: Content::File {
                bytes: bytes.into(),
                capability: None,
            },
        }
    }

    /// A file that everybody may run.
    pub fn program(path: &str, bytes: impl Into<Cow<'a, [u8]>>) -> Self {
        Self {
            mode: 0o755,
            ..Self::file(path, bytes)
        }
    }

    /// A symbolic link.
    pub fn link(path: &str, target: &str) -> Self {
        Self {
            path: path.to_owned(),
            mode: 0o777,
            content: Content::Link(target.to_owned()),
        }
    }

    /// The place for temporary files, for which nobody mounted a volume.
    pub fn temporary_directory() -> Self {
        Self {
            mode: 0o1777,
            ..Self::directory("tmp")
        }
    }

    /// The same file with a capability; what is not a file stays as it is.
    pub fn with_capability(mut self, wanted: Capability) -> Self {
        if let Content::File { capability, .. } = &mut self.content {
            *capability = Some(wanted);
        }
        self
    }
}

impl Image<'_> {
    /// The entries with all of their parents, each before what it holds.
    pub(super) fn all_entries(&self) -> Vec<Cow<'_, Entry<'_>>> {
        let mut known: BTreeSet<&str> = self.entries.iter().map(|entry| entry.path.as_str()).collect();
        let mut all = Vec::new();
        for entry in &self.entries {
            for (end, _) in entry.path.match_indices('/') {
                if known.insert(&entry.path[..end]) {
                    all.push(Cow::Owned(Entry::directory(&entry.path[..end])));
                }
            }
            all.push(Cow::Borrowed(entry));
        }
        all
    }

    /// How it runs and what it says of itself; `layer` is the digest of its files before they are compressed.
    pub(super) fn configuration(&self, layer: &str) -> Value {
        json!({
            "architecture": "amd64",
            "os": "linux",
            "created": CREATED,
            "config": {
                "User": self.user,
                "Env": [format!("PATH={}", self.path)],
                "Entrypoint": self.entrypoint,
                "WorkingDir": "/",
                "Labels": self.labels,
            },
            "rootfs": {"type": "layers", "diff_ids": [layer]},
            "history": [{"created": CREATED, "created_by": "cargo xtask image"}],
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_capability_is_what_setcap_writes() {
        // `setcap cap_net_bind_service=+ep FILE`, read back with `getfattr -e hex -n security.capability FILE`.
        let expected = [1, 0, 0, 2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
        assert_eq!(Capability::NetBindService.attribute_value(), expected);
    }

    #[test]
    fn parents_come_first_and_once() {
        let image = Image {
            entries: vec![
                Entry::temporary_directory(),
                Entry::program("usr/bin/one", b"1".as_slice()),
                Entry::link("usr/bin/two", "one"),
                Entry::file("tmp/three", b"3".as_slice()),
            ],
            ..Image::default()
        };
        let all = image.all_entries();
        let paths: Vec<&str> = all.iter().map(|entry| entry.path.as_str()).collect();
        assert_eq!(
            paths,
            ["tmp", "usr", "usr/bin", "usr/bin/one", "usr/bin/two", "tmp/three"]
        );
        assert_eq!((all[0].mode, all[1].mode), (0o1777, 0o755));
    }
}
