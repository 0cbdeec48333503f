//! Reading the log. Owns which segments count, in which order, and the line between a write that never finished and
//! damage to what was durable. Changes nothing on disk.

use std::io;

use thiserror::Error;

use super::{
    frame::{self, Found},
    record::{Action, Record, Records},
    segment::{self, Header},
};
use crate::{disk::Disk, key::Revision, names};

/// Why a log cannot be read. Nothing of it was changed.
#[derive(Debug, Error)]
pub enum ReplayError {
    /// There is no log where one must be.
    #[error("the log is gone: restore a dump into an empty directory")]
    Absent,
    /// A segment in the middle is gone.
    #[error("segment {0} of the log is gone: restore a dump into an empty directory")]
    Missing(String),
    /// Something that was durable has changed.
    #[error("{segment} is damaged at byte {at}: {what}; restore a dump into an empty directory")]
    Damaged {
        /// The name of the file.
        segment: String,
        /// Where in it.
        at: usize,
        /// What is wrong.
        what: &'static str,
    },
    /// Whoever asked for the records refused one.
    #[error("{segment} holds an entry that cannot be used")]
    Refused {
        /// The name of the file.
        segment: String,
        /// Why.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The disk could not be read.
    #[error("reading {name}")]
    Io {
        /// The name of the file.
        name: String,
        /// What the system said.
        #[source]
        source: io::Error,
    },
}

/// What the log tells, in order.
#[derive(Clone, Copy)]
pub(crate) enum Step<'a> {
    /// A record. Before `Complete` the state that they make has holes.
    Record(Record<'a>),
    /// From here on the state is whole, at this revision.
    Complete(Revision),
}

/// Takes the log's story, step by step.
pub(crate) type Visit<'v> = dyn FnMut(Step<'_>) -> Result<(), Box<dyn std::error::Error + Send + Sync>> + 'v;

/// What was found while reading.
#[derive(Debug, Default)]
pub(crate) struct Summary {
    /// The oldest segment that counts, and the newest.
    pub(crate) oldest: u64,
    pub(crate) newest: u64,
    /// Where the content of the newest one ends.
    pub(crate) end: u64,
    /// Bytes after that end which are the rest of a write that never finished.
    pub(crate) torn_bytes: u64,
    /// The number of the next frame.
    pub(crate) frame: u64,
    /// The revision of the store.
    pub(crate) revision: Revision,
    /// Bytes of all segments that count, and of those since the state was whole.
    pub(crate) bytes: u64,
    pub(crate) bytes_since_complete: u64,
    /// Frames that were read.
    pub(crate) frames: u64,
    /// Segments that do not count: too old, or never finished.
    pub(crate) leftovers: Vec<u64>,
    is_complete: bool,
}

/// Tells the whole story of a log.
pub(crate) fn replay(disk: &mut dyn Disk, visit: &mut Visit<'_>) -> Result<Summary, ReplayError> {
    let mut summary = choose(disk)?;
    for number in summary.oldest..=summary.newest {
        let bytes = read(disk, number)?;
        let mut reader = Reader {
            name: names::segment(number),
            is_newest: number == summary.newest,
            summary: &mut summary,
            visit,
        };
        reader.segment(number, &bytes)?;
    }
    if !summary.is_complete {
        return Err(ReplayError::Missing(names::segment(summary.newest + 1)));
    }
    Ok(summary)
}

/// Finds the segments that count: the newest one with a whole header says which is the oldest.
fn choose(disk: &mut dyn Disk) -> Result<Summary, ReplayError> {
    let mut numbers = numbers(disk)?;
    let mut leftovers = Vec::new();
    loop {
        let newest = numbers.pop().ok_or(ReplayError::Absent)?;
        let bytes = read(disk, newest)?;
        if let Some(header) = Header::read(&bytes) {
            numbers.push(newest);
            return chain(numbers, header, leftovers);
        }
        if !leftovers.is_empty() || !segment::is_blank(&bytes) {
            return Err(damaged(names::segment(newest), 0, "its header is wrong"));
        }
        leftovers.push(newest);
    }
}

/// The chain of segments from the oldest that counts to the newest, which must have no gap.
fn chain(numbers: Vec<u64>, newest: Header, mut leftovers: Vec<u64>) -> Result<Summary, ReplayError> {
    let (old, used): (Vec<u64>, Vec<u64>) = numbers.into_iter().partition(|number| *number < newest.oldest);
    let gap = (newest.oldest..)
        .zip(&used)
        .find(|(expected, number)| expected != *number);
    if let Some((expected, _)) = gap {
        return Err(ReplayError::Missing(names::segment(expected)));
    }
    leftovers.extend(old);
    Ok(Summary {
        oldest: newest.oldest,
        newest: newest.number,
        leftovers,
        ..Summary::default()
    })
}

fn numbers(disk: &mut dyn Disk) -> Result<Vec<u64>, ReplayError> {
    let listed = disk.list().map_err(|source| ReplayError::Io {
        name: "the directory".to_owned(),
        source,
    })?;
    let mut numbers: Vec<u64> = listed.iter().filter_map(|name| names::segment_number(name)).collect();
    numbers.sort_unstable();
    Ok(numbers)
}

fn read(disk: &mut dyn Disk, number: u64) -> Result<Vec<u8>, ReplayError> {
    let name = names::segment(number);
    disk.read(&name).map_err(|source| ReplayError::Io { name, source })
}

fn damaged(segment: String, at: usize, what: &'static str) -> ReplayError {
    ReplayError::Damaged { segment, at, what }
}

/// Reads one segment.
struct Reader<'r, 'v> {
    name: String,
    is_newest: bool,
    summary: &'r mut Summary,
    visit: &'r mut Visit<'v>,
}

impl Reader<'_, '_> {
    fn segment(&mut self, number: u64, bytes: &[u8]) -> Result<(), ReplayError> {
        self.header(number, bytes)?;
        let mut at = segment::HEADER_BYTES;
        loop {
            match frame::read(&bytes[at..]) {
                Found::End => break,
                Found::Whole(frame) => {
                    self.frame(&frame, at)?;
                    at += frame.length();
                }
                Found::Damaged => {
                    self.torn(&bytes[at..], at)?;
                    break;
                }
            }
        }
        self.summary.end = at as u64;
        self.summary.bytes += at as u64;
        self.summary.bytes_since_complete += if self.summary.is_complete { at as u64 } else { 0 };
        Ok(())
    }

    /// Checks that a segment goes on where the one before ended.
    fn header(&mut self, number: u64, bytes: &[u8]) -> Result<(), ReplayError> {
        let header = Header::read(bytes).ok_or_else(|| self.damaged(0, "its header is wrong"))?;
        let summary = &mut *self.summary;
        if number == summary.oldest {
            (summary.frame, summary.revision) = (header.frame, header.revision);
        }
        let follows = header.number == number && header.frame == summary.frame && header.revision == summary.revision;
        if !follows {
            return Err(self.damaged(0, "it does not follow the segment before"));
        }
        if header.oldest == summary.oldest && !summary.is_complete {
            summary.is_complete = true;
            self.tell(Step::Complete(header.revision))?;
        }
        Ok(())
    }

    fn frame(&mut self, frame: &frame::Frame<'_>, at: usize) -> Result<(), ReplayError> {
        if frame.number != self.summary.frame {
            return Err(self.damaged(at, "a frame is out of order"));
        }
        for record in Records(frame.body) {
            let record = record.map_err(|_| self.damaged(at, "a record makes no sense"))?;
            self.record(record, at)?;
        }
        self.summary.frame += 1;
        self.summary.frames += 1;
        Ok(())
    }

    fn record(&mut self, record: Record<'_>, at: usize) -> Result<(), ReplayError> {
        let is_in_order = match record.action {
            Action::Put(_) | Action::Delete => {
                self.summary.revision = self.summary.revision.next();
                record.revision == self.summary.revision
            }
            Action::Carry(_) => record.revision <= self.summary.revision,
        };
        if !is_in_order {
            return Err(self.damaged(at, "a revision is out of order"));
        }
        self.tell(Step::Record(record))
    }

    /// Accepts the rest of the newest segment as a write that never finished, or finds it damaged.
    fn torn(&mut self, rest: &[u8], at: usize) -> Result<(), ReplayError> {
        if !self.is_newest || frame::has_later(rest, self.summary.frame) {
            return Err(self.damaged(at, "a frame is wrong though later ones follow"));
        }
        let content = rest.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
        self.summary.torn_bytes = content as u64;
        Ok(())
    }

    fn tell(&mut self, step: Step<'_>) -> Result<(), ReplayError> {
        (self.visit)(step).map_err(|source| ReplayError::Refused {
            segment: self.name.clone(),
            source,
        })
    }

    fn damaged(&self, at: usize, what: &'static str) -> ReplayError {
        damaged(self.name.clone(), at, what)
    }
}
