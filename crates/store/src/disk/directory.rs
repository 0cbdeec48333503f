//! A real directory, held by one process at a time. Owns the lock and how space is taken ahead of writes.

use std::{
    fs::{self, File, OpenOptions, TryLockError},
    io::{self, Seek, SeekFrom, Write},
    path::{Path, PathBuf},
};

use thiserror::Error;

use super::{Disk, DiskFile};
use crate::names;

/// Holds the lock; its content means nothing.
const LOCK: &str = "LOCK";

/// Space that is taken at a time. Overwriting zeros is synchronised in about half the time of growing a file, because
/// the file's length and blocks stay as they are.
const MOST_SPACE: u64 = 256 << 10;
/// Space that a new file takes: thousands of stores with little in them stay small.
const LEAST_SPACE: u64 = 16 << 10;

/// Why a directory cannot be used.
#[derive(Debug, Error)]
pub enum DirectoryError {
    /// Another process holds it.
    #[error("{} is in use by another process: stop that one first, or use another directory", .0.display())]
    Locked(PathBuf),
    /// Somebody else's files are in it.
    #[error(
        "{} is not empty and holds no store ({foreign} is not ours): use an empty directory",
        .path.display()
    )]
    Foreign {
        /// The directory.
        path: PathBuf,
        /// A file that we know nothing of.
        foreign: String,
    },
    /// The operating system refused.
    #[error("using the directory {}", .path.display())]
    Io {
        /// The directory.
        path: PathBuf,
        /// What it said.
        #[source]
        source: io::Error,
    },
}

/// A directory of this machine. The lock goes with this value, or with the process.
#[derive(Debug)]
pub struct Directory {
    path: PathBuf,
    handle: File,
    _lock: File,
}

impl Directory {
    /// Takes a directory for this process, and makes it if it is not there.
    pub fn open(path: impl Into<PathBuf>) -> Result<Self, DirectoryError> {
        let path = path.into();
        make(&path).map_err(|source| failed(&path, source))?;
        refuse_foreign(&path)?;
        let lock = lock(&path)?;
        let handle = File::open(&path).map_err(|source| failed(&path, source))?;
        Ok(Self {
            path,
            handle,
            _lock: lock,
        })
    }
}

fn failed(path: &Path, source: io::Error) -> DirectoryError {
    DirectoryError::Io {
        path: path.to_owned(),
        source,
    }
}

/// Makes a directory and what it is in, durably: a synchronised file in a directory that is gone is no help.
fn make(path: &Path) -> io::Result<()> {
    let path = std::path::absolute(path)?;
    let missing: Vec<&Path> = path.ancestors().take_while(|ancestor| !ancestor.exists()).collect();
    fs::create_dir_all(&path)?;
    for parent in missing.into_iter().filter_map(Path::parent) {
        File::open(parent)?.sync_all()?;
    }
    Ok(())
}

/// A directory with files, none of them ours, is somebody else's. Ours may hold files that we do not know.
fn refuse_foreign(path: &Path) -> Result<(), DirectoryError> {
    let names = list(path).map_err(|source| failed(path, source))?;
    if names.iter().any(|name| names::is_ours(name)) {
        return Ok(());
    }
    match names.into_iter().find(|name| !names::is_harmless(name)) {
        None => Ok(()),
        Some(foreign) => Err(DirectoryError::Foreign {
            path: path.to_owned(),
            foreign,
        }),
    }
}

fn lock(path: &Path) -> Result<File, DirectoryError> {
    let mut options = OpenOptions::new();
    let file = options.create(true).truncate(false).write(true).open(path.join(LOCK));
    let file = file.map_err(|source| failed(path, source))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(DirectoryError::Locked(path.to_owned())),
        Err(TryLockError::Error(source)) => Err(failed(path, source)),
    }
}

fn list(path: &Path) -> io::Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in fs::read_dir(path)? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        if name != LOCK {
            names.push(name);
        }
    }
    Ok(names)
}

impl Disk for Directory {
    fn list(&mut self) -> io::Result<Vec<String>> {
        list(&self.path)
    }

    fn read(&mut self, name: &str) -> io::Result<Vec<u8>> {
        fs::read(self.path.join(name))
    }

    fn create(&mut self, name: &str) -> io::Result<Box<dyn DiskFile>> {
        Ok(Box::new(Growing {
            file: File::create(self.path.join(name))?,
            length: 0,
            space: 0,
        }))
    }

    fn truncate(&mut self, name: &str, length: u64) -> io::Result<()> {
        let file = OpenOptions::new().write(true).open(self.path.join(name))?;
        file.set_len(length)?;
        file.sync_all()
    }

    fn rename(&mut self, from: &str, to: &str) -> io::Result<()> {
        fs::rename(self.path.join(from), self.path.join(to))
    }

    fn remove(&mut self, name: &str) -> io::Result<()> {
        fs::remove_file(self.path.join(name))
    }

    fn sync_names(&mut self) -> io::Result<()> {
        self.handle.sync_all()
    }
}

/// A file that takes its space ahead of its content.
struct Growing {
    file: File,
    length: u64,
    space: u64,
}

impl DiskFile for Growing {
    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.file.write_all(bytes)?;
        self.length += bytes.len() as u64;
        if self.length > self.space {
            self.take_space()?;
        }
        Ok(())
    }

    fn sync(&mut self) -> io::Result<()> {
        self.file.sync_data()
    }
}

impl Growing {
    /// Writes zeros behind the content, then goes back to its end.
    fn take_space(&mut self) -> io::Result<()> {
        let step = self.length.clamp(LEAST_SPACE, MOST_SPACE);
        self.space = (self.length + step).next_multiple_of(LEAST_SPACE);
        let zeros = usize::try_from(self.space - self.length).map_err(io::Error::other)?;
        self.file.write_all(&vec![0; zeros])?;
        self.file.seek(SeekFrom::Start(self.length))?;
        Ok(())
    }
}
