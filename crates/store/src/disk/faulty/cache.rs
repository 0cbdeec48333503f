//! Files and names of a disk in memory, each twice: as programs see them, and as they would be after a power failure.
//! Owns what a power failure does; never fails by itself.

use std::{collections::BTreeMap, io};

/// What a power failure leaves whole or drops whole; disks write in such units.
const SECTOR: usize = 512;

/// Everything on the disk.
#[derive(Default)]
pub(super) struct Cache {
    files: Vec<File>,
    names: BTreeMap<String, usize>,
    durable_names: BTreeMap<String, usize>,
    unsynced_names: Vec<NameChange>,
}

/// A change of the directory.
#[derive(Clone, Debug)]
pub(super) enum NameChange {
    Set(String, usize),
    Rename(String, String),
    Remove(String),
}

#[derive(Default)]
struct File {
    content: Vec<u8>,
    durable: Vec<u8>,
    unsynced: Vec<Write>,
}

/// A change of a file.
enum Write {
    At(usize, Vec<u8>),
    Cut(usize),
}

impl Cache {
    pub(super) fn new_file(&mut self) -> usize {
        self.files.push(File::default());
        self.files.len() - 1
    }

    pub(super) fn find(&self, name: &str) -> io::Result<usize> {
        self.names
            .get(name)
            .copied()
            .ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    pub(super) fn names(&self) -> Vec<String> {
        self.names.keys().cloned().collect()
    }

    pub(super) fn content(&self, file: usize) -> &[u8] {
        &self.files[file].content
    }

    pub(super) fn contents(&self) -> BTreeMap<String, Vec<u8>> {
        let named = self.names.iter();
        named
            .map(|(name, file)| (name.clone(), self.files[*file].content.clone()))
            .collect()
    }

    pub(super) fn put(&mut self, name: &str, bytes: Vec<u8>) {
        self.files.push(File {
            content: bytes.clone(),
            durable: bytes,
            unsynced: Vec::new(),
        });
        self.names.insert(name.to_owned(), self.files.len() - 1);
        self.durable_names.insert(name.to_owned(), self.files.len() - 1);
    }

    pub(super) fn take(&mut self, name: &str) {
        self.names.remove(name);
        self.durable_names.remove(name);
    }

    pub(super) fn append(&mut self, file: usize, bytes: &[u8]) {
        let file = &mut self.files[file];
        file.change(Write::At(file.content.len(), bytes.to_vec()));
    }

    pub(super) fn cut(&mut self, file: usize, length: usize) {
        self.files[file].change(Write::Cut(length));
    }

    pub(super) fn sync(&mut self, file: usize) {
        let file = &mut self.files[file];
        file.durable.clone_from(&file.content);
        file.unsynced.clear();
    }

    pub(super) fn change_names(&mut self, change: NameChange) -> io::Result<()> {
        apply_names(&mut self.names, &change).ok_or(io::ErrorKind::NotFound)?;
        self.unsynced_names.push(change);
        Ok(())
    }

    pub(super) fn sync_names(&mut self) {
        self.durable_names.clone_from(&self.names);
        self.unsynced_names.clear();
    }

    /// Keeps of what was not synchronised what chance chooses.
    pub(super) fn lose_power(&mut self, random: &mut Random) {
        for file in &mut self.files {
            file.lose_power(random);
        }
        let mut lost: Vec<String> = Vec::new();
        for change in std::mem::take(&mut self.unsynced_names) {
            // Changes of one name happen in order: after a lost one none is left.
            let is_blocked = change.names().iter().any(|name| lost.iter().any(|other| other == name));
            if is_blocked || random.one_in(2) {
                lost.extend(change.names().into_iter().map(ToOwned::to_owned));
            } else {
                apply_names(&mut self.durable_names, &change);
            }
        }
        self.names.clone_from(&self.durable_names);
    }
}

impl NameChange {
    fn names(&self) -> Vec<&str> {
        match self {
            Self::Set(name, _) | Self::Remove(name) => vec![name],
            Self::Rename(from, to) => vec![from, to],
        }
    }
}

fn apply_names(names: &mut BTreeMap<String, usize>, change: &NameChange) -> Option<()> {
    match change {
        NameChange::Set(name, file) => {
            names.insert(name.clone(), *file);
        }
        NameChange::Rename(from, to) => {
            let file = names.remove(from)?;
            names.insert(to.clone(), file);
        }
        NameChange::Remove(name) => {
            names.remove(name)?;
        }
    }
    Some(())
}

impl File {
    fn change(&mut self, write: Write) {
        match &write {
            Write::At(at, bytes) => write_at(&mut self.content, *at, bytes),
            Write::Cut(length) => self.content.truncate(*length),
        }
        self.unsynced.push(write);
    }

    fn lose_power(&mut self, random: &mut Random) {
        for write in std::mem::take(&mut self.unsynced) {
            match write {
                Write::At(at, bytes) => tear(&mut self.durable, at, &bytes, random),
                Write::Cut(length) if random.one_in(2) => self.durable.truncate(length),
                Write::Cut(_) => {}
            }
        }
        self.content.clone_from(&self.durable);
    }
}

/// Writes all of it, nothing, a beginning, or some of its sectors.
fn tear(durable: &mut Vec<u8>, at: usize, bytes: &[u8], random: &mut Random) {
    match random.below(4) {
        0 => write_at(durable, at, bytes),
        1 => {}
        2 => write_at(durable, at, &bytes[..random.below(bytes.len() + 1)]),
        _ => {
            let mut start = 0;
            while start < bytes.len() {
                // Sectors are those of the file, not of the write.
                let end = bytes.len().min((at + start + 1).next_multiple_of(SECTOR) - at);
                if random.one_in(2) {
                    write_at(durable, at + start, &bytes[start..end]);
                }
                start = end;
            }
        }
    }
}

fn write_at(content: &mut Vec<u8>, at: usize, bytes: &[u8]) {
    let end = at + bytes.len();
    if content.len() < end {
        content.resize(end, 0);
    }
    content[at..end].copy_from_slice(bytes);
}

/// Chance from a seed (`SplitMix64`).
pub(super) struct Random(pub(super) u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, bound: usize) -> usize {
        usize::try_from(self.next() % (bound.max(1) as u64)).unwrap_or(0)
    }

    fn one_in(&mut self, chances: usize) -> bool {
        self.below(chances) == 0
    }
}
