//! Files that hold secrets: readable by their owner only, and whole or not there, whatever happens meanwhile.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Read as _, Write as _},
    os::unix::fs::OpenOptionsExt as _,
    path::{Path, PathBuf},
};

/// The owner reads and writes, nobody else.
const PRIVATE: u32 = 0o600;
/// The longest file that is read. A chain of certificates has a few kilobytes.
const LONGEST: u64 = 256 << 10;

/// Writes a file that only its owner may read, in one step: whoever opens it finds the old content or the new, also after
/// a crash.
pub fn write_private(path: &Path, content: &str) -> io::Result<()> {
    let draft = draft(path);
    remove_if_there(&draft)?;
    create_private(&draft, content)?;
    fs::rename(&draft, path)?;
    sync_parent(path)
}

/// Writes a file that is not there yet, whose name lasts once its directory was synchronised.
pub(super) fn create_private(path: &Path, content: &str) -> io::Result<()> {
    let mut options = OpenOptions::new();
    let mut file = options.write(true).create_new(true).mode(PRIVATE).open(path)?;
    file.write_all(content.as_bytes())?;
    file.sync_all()
}

/// Reads a file, up to a length that none of ours has.
pub(super) fn read(path: &Path) -> io::Result<String> {
    let mut text = String::new();
    let length = File::open(path)?.take(LONGEST + 1).read_to_string(&mut text)?;
    if length as u64 > LONGEST {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "the file is too long"));
    }
    Ok(text)
}

/// Makes a change of the names in the directory of this one last.
pub(super) fn sync_parent(path: &Path) -> io::Result<()> {
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    sync_directory(parent.unwrap_or(Path::new(".")))
}

/// Makes a change of the names in this directory last.
pub(super) fn sync_directory(path: &Path) -> io::Result<()> {
    File::open(path)?.sync_all()
}

/// The name of a file or directory while it is made: in the same place, so that it can be renamed.
pub(super) fn draft(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".new");
    name.into()
}

fn remove_if_there(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}
