//! What a store needs of a disk: the seam between the log and the world. Knows nothing of what the files mean.

use std::io;

mod directory;
mod faulty;
mod memory;

pub use directory::{Directory, DirectoryError};
pub use faulty::{Fault, FaultyDisk};
pub use memory::Memory;

/// A flat directory of files that are written once, from beginning to end. Calls block.
///
/// A power failure may lose, tear or reorder whatever was not synchronised, contents and names alike.
pub trait Disk: Send {
    /// The names of all files, in any order.
    fn list(&mut self) -> io::Result<Vec<String>>;

    /// All of a file. It may end in zeros that nobody wrote.
    fn read(&mut self, name: &str) -> io::Result<Vec<u8>>;

    /// A new, empty file; one of that name is replaced. Its name lasts once `sync_names` was called.
    fn create(&mut self, name: &str) -> io::Result<Box<dyn DiskFile>>;

    /// Cuts a file, and makes durable all that is left of it.
    fn truncate(&mut self, name: &str, length: u64) -> io::Result<()>;

    /// Gives a file another name, in one step, over a file that may have it.
    fn rename(&mut self, from: &str, to: &str) -> io::Result<()>;

    /// Removes a file.
    fn remove(&mut self, name: &str) -> io::Result<()>;

    /// Makes creations, renames and removals durable.
    fn sync_names(&mut self) -> io::Result<()>;

    /// Whether nothing that is written will ever be read, so that there is no need to write it.
    fn is_forgetful(&self) -> bool {
        false
    }
}

/// A file that is being written.
pub trait DiskFile: Send {
    /// Adds bytes at the end. After an error nobody knows how many of them are there.
    fn append(&mut self, bytes: &[u8]) -> io::Result<()>;

    /// Makes what was appended durable. After an error nobody knows whether it is.
    fn sync(&mut self) -> io::Result<()>;
}
