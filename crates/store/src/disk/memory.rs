//! The disk of a store that ends with its process: it keeps nothing, because nobody will read it.

use std::io;

use super::{Disk, DiskFile};

/// No disk at all. Snapshots and watches live in memory anyway; every byte is held once.
#[derive(Clone, Copy, Debug, Default)]
pub struct Memory;

impl Disk for Memory {
    fn list(&mut self) -> io::Result<Vec<String>> {
        Ok(Vec::new())
    }

    fn read(&mut self, _name: &str) -> io::Result<Vec<u8>> {
        Err(io::ErrorKind::NotFound.into())
    }

    fn create(&mut self, _name: &str) -> io::Result<Box<dyn DiskFile>> {
        Ok(Box::new(Self))
    }

    fn truncate(&mut self, _name: &str, _length: u64) -> io::Result<()> {
        Ok(())
    }

    fn rename(&mut self, _from: &str, _to: &str) -> io::Result<()> {
        Ok(())
    }

    fn remove(&mut self, _name: &str) -> io::Result<()> {
        Ok(())
    }

    fn sync_names(&mut self) -> io::Result<()> {
        Ok(())
    }

    fn is_forgetful(&self) -> bool {
        true
    }
}

impl DiskFile for Memory {
    fn append(&mut self, _bytes: &[u8]) -> io::Result<()> {
        Ok(())
    }

    fn sync(&mut self) -> io::Result<()> {
        Ok(())
    }
}
