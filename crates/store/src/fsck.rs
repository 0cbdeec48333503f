//! Checking a store that nobody has open: every checksum, the order of everything, and whether what was repeated is what
//! was written. Changes nothing, and does not look into payloads.

use std::{collections::BTreeMap, fmt};

use thiserror::Error;

use crate::{
    disk::Disk,
    format::{self, FormatError, Origin},
    key::{Key, Revision},
    log::{self, Action, Record, Step},
};

/// What a check found.
#[derive(Debug, Default)]
pub struct Report {
    /// The revision of the store.
    pub revision: Revision,
    /// The first revision from which the log tells every event.
    pub oldest: Revision,
    /// How many entries it has.
    pub entries: usize,
    /// How many segments were read.
    pub segments: u64,
    /// How many frames were read.
    pub frames: u64,
    /// Bytes of the log.
    pub bytes: u64,
    /// Bytes of a last write that never finished. That is no damage: nobody was told that it was done.
    pub torn_bytes: u64,
    /// What is wrong; nothing in a sound store.
    pub problem: Option<Problem>,
}

impl Report {
    /// Whether the store is sound.
    pub fn is_clean(&self) -> bool {
        self.problem.is_none()
    }
}

impl fmt::Display for Report {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            formatter,
            "revision {}, events since revision {}",
            self.revision, self.oldest
        )?;
        writeln!(
            formatter,
            "{} entries; {} bytes in {} frames and {} segments",
            self.entries, self.bytes, self.frames, self.segments
        )?;
        if self.torn_bytes > 0 {
            writeln!(formatter, "{} bytes of a write that never finished", self.torn_bytes)?;
        }
        match &self.problem {
            None => write!(formatter, "clean"),
            Some(problem) => write!(formatter, "not clean: {}", explain(problem)),
        }
    }
}

/// A mistake and its causes, in one line.
fn explain(error: &dyn std::error::Error) -> String {
    match error.source() {
        None => error.to_string(),
        Some(source) => format!("{error}: {}", explain(source)),
    }
}

/// What is wrong with a store.
#[derive(Debug, Error)]
pub enum Problem {
    /// The directory holds no store.
    #[error("there is no store")]
    Absent,
    /// The directory is not one that this release can read.
    #[error(transparent)]
    Format(#[from] FormatError),
    /// The log is damaged.
    #[error(transparent)]
    Replay(#[from] log::ReplayError),
}

/// Two records that cannot both be true.
#[derive(Debug, Error)]
enum Contradiction {
    #[error("{0} is repeated at revision {1} with another content or revision than it was written with")]
    Carried(Key, Revision),
    #[error("{0} is deleted at revision {1} but was not there")]
    Deleted(Key, Revision),
}

/// Reads everything on a disk and compares it with itself.
pub fn fsck(disk: &mut dyn Disk) -> Report {
    let mut report = Report::default();
    report.problem = check(disk, &mut report).err();
    report
}

fn check(disk: &mut dyn Disk, report: &mut Report) -> Result<(), Problem> {
    if format::inspect(disk)? == Origin::Fresh {
        return Err(Problem::Absent);
    }
    let mut checker = Checker::default();
    let found = log::replay(disk, &mut |step| checker.step(step).map_err(Into::into))?;
    report.revision = found.revision;
    report.oldest = checker.oldest.unwrap_or_default();
    report.entries = checker.entries.len();
    report.segments = found.newest - found.oldest + 1;
    report.frames = found.frames;
    report.bytes = found.bytes;
    report.torn_bytes = found.torn_bytes;
    Ok(())
}

/// What the log said so far: of each entry its revision, length and checksum.
#[derive(Default)]
struct Checker {
    entries: BTreeMap<Key, (Revision, usize, u32)>,
    /// Known once the state is whole.
    oldest: Option<Revision>,
}

impl Checker {
    fn step(&mut self, step: Step<'_>) -> Result<(), Contradiction> {
        match step {
            Step::Complete(revision) => {
                self.oldest = Some(revision);
                Ok(())
            }
            Step::Record(record) => self.record(&record),
        }
    }

    fn record(&mut self, record: &Record<'_>) -> Result<(), Contradiction> {
        let key = Key::new(record.collection, record.namespace, record.name);
        match record.action {
            Action::Put(bytes) => {
                self.entries.insert(key, digest(record.revision, bytes));
            }
            Action::Delete => {
                let entry = self.entries.remove(&key);
                if entry.is_none() && self.oldest.is_some() {
                    return Err(Contradiction::Deleted(key, record.revision));
                }
            }
            Action::Carry(bytes) => return self.carry(key, digest(record.revision, bytes)),
        }
        Ok(())
    }

    fn carry(&mut self, key: Key, carried: (Revision, usize, u32)) -> Result<(), Contradiction> {
        match self.entries.get(&key) {
            Some(known) if *known == carried => Ok(()),
            None if self.oldest.is_none() => {
                self.entries.insert(key, carried);
                Ok(())
            }
            _ => Err(Contradiction::Carried(key, carried.0)),
        }
    }
}

fn digest(revision: Revision, bytes: &[u8]) -> (Revision, usize, u32) {
    (revision, bytes.len(), crc32fast::hash(bytes))
}
