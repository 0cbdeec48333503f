//! A store as lines of JSON, and back: what a person can read, keep and carry to another release. Owns that format;
//! payloads are text or base64, never parsed.

use std::{
    borrow::Cow,
    io::{self, BufRead, Write},
};

use base64::{Engine, engine::general_purpose::STANDARD};
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::{
    disk::Disk,
    entry::Payload,
    format::{self, FormatError, Origin},
    key::{Key, Revision},
    limits::Limits,
    log::{Action, Log, LogError, Record},
    names::RESTORING,
    snapshot::Snapshot,
};

/// The version of the lines.
const FORMAT: u32 = 1;

/// The largest revision that is accepted: clients read revisions as signed numbers, and there must be room to count on.
const MOST_REVISION: u64 = i64::MAX as u64 / 2;

/// Bytes of entries that go into one frame while restoring.
const FRAME_BYTES: usize = 1 << 20;

/// Why a dump could not be restored. The directory cannot be opened until it was emptied.
#[derive(Debug, Error)]
pub enum RestoreError {
    /// The directory is in use or not empty.
    #[error(transparent)]
    Format(#[from] FormatError),
    /// The dump could not be read.
    #[error("reading line {line} of the dump")]
    Read {
        /// Which line, counted from one.
        line: usize,
        /// What the system said.
        #[source]
        source: io::Error,
    },
    /// A line is not what a dump has there.
    #[error("line {line} of the dump makes no sense: make the dump again")]
    Line {
        /// Which line, counted from one.
        line: usize,
        /// What is wrong with it.
        #[source]
        source: serde_json::Error,
    },
    /// A line says something that cannot be.
    #[error("line {line} of the dump is wrong: {what}; make the dump again")]
    Content {
        /// Which line, counted from one.
        line: usize,
        /// What is wrong with it.
        what: &'static str,
    },
    /// The dump ends too early.
    #[error("the dump is cut off: make it again")]
    CutOff,
    /// The disk failed.
    #[error("marking the directory")]
    Mark(#[source] io::Error),
    /// The log could not be written.
    #[error(transparent)]
    Log(#[from] LogError),
}

/// The first line.
#[derive(Debug, Deserialize, Serialize)]
struct Head {
    format: u32,
    revision: u64,
}

/// One line per entry.
#[derive(Debug, Deserialize, Serialize)]
struct Line<'a> {
    #[serde(borrow)]
    collection: Cow<'a, str>,
    #[serde(borrow)]
    namespace: Cow<'a, str>,
    #[serde(borrow)]
    name: Cow<'a, str>,
    revision: u64,
    #[serde(borrow, flatten)]
    payload: Body<'a>,
}

/// A payload, readable where it is text.
#[derive(Debug, Deserialize, Serialize)]
enum Body<'a> {
    #[serde(rename = "payload", borrow)]
    Text(Cow<'a, str>),
    #[serde(rename = "base64", borrow)]
    Base64(Cow<'a, str>),
}

/// The last line: without it a dump was cut off.
#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct End {
    entries: u64,
}

/// Writes a state, entry by entry in the order of keys.
pub fn dump<P: Payload>(snapshot: &Snapshot<P>, mut output: impl Write) -> io::Result<()> {
    let head = Head {
        format: FORMAT,
        revision: snapshot.revision().0,
    };
    write_line(&mut output, &head)?;
    let mut entries = 0;
    for entry in snapshot.entries() {
        let bytes = entry.payload.encode();
        let payload = match std::str::from_utf8(&bytes) {
            Ok(text) => Body::Text(text.into()),
            Err(_) => Body::Base64(STANDARD.encode(&bytes).into()),
        };
        let line = Line {
            collection: (&*entry.key.collection).into(),
            namespace: (&*entry.key.namespace).into(),
            name: (&*entry.key.name).into(),
            revision: entry.revision.0,
            payload,
        };
        write_line(&mut output, &line)?;
        entries += 1;
    }
    write_line(&mut output, &End { entries })?;
    output.flush()
}

fn write_line(output: &mut impl Write, line: &impl Serialize) -> io::Result<()> {
    serde_json::to_writer(&mut *output, line)?;
    output.write_all(b"\n")
}

/// Makes a store from a dump, on a disk that has none. Every entry keeps its revision, and the next operation gets a
/// higher one than any before the dump: clients never see the counter run backwards.
pub fn restore(disk: impl Disk + 'static, input: impl BufRead) -> Result<Restored, RestoreError> {
    let mut disk: Box<dyn Disk> = Box::new(disk);
    if format::inspect(&mut *disk)? != Origin::Fresh {
        return Err(FormatError::Occupied.into());
    }
    mark(&mut *disk).map_err(RestoreError::Mark)?;
    let mut progress = Progress {
        log: Log::unsealed(disk, Limits::default()),
        revision: Revision::default(),
        last: None,
        pending: Vec::new(),
        pending_bytes: 0,
        entries: 0,
    };
    progress.read(input)?;
    progress.log.seal(progress.revision)?;
    let restored = Restored {
        revision: progress.revision,
        entries: progress.entries,
    };
    let mut disk = progress.log.into_disk();
    format::declare(&mut *disk)?;
    disk.remove(RESTORING)
        .and_then(|()| disk.sync_names())
        .map_err(RestoreError::Mark)?;
    Ok(restored)
}

/// What was restored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Restored {
    /// The revision of the store.
    pub revision: Revision,
    /// How many entries it has.
    pub entries: u64,
}

fn mark(disk: &mut dyn Disk) -> io::Result<()> {
    let mut file = disk.create(RESTORING)?;
    file.append(b"unfinished\n")?;
    file.sync()?;
    disk.sync_names()
}

struct Progress {
    log: Log,
    revision: Revision,
    last: Option<Key>,
    pending: Vec<(Key, Revision, Vec<u8>)>,
    pending_bytes: usize,
    entries: u64,
}

impl Progress {
    fn read(&mut self, input: impl BufRead) -> Result<(), RestoreError> {
        let mut has_ended = false;
        for (index, text) in input.lines().enumerate() {
            let line = index + 1;
            let text = text.map_err(|source| RestoreError::Read { line, source })?;
            if has_ended {
                return Err(RestoreError::Content {
                    line,
                    what: "it follows the end",
                });
            }
            if line == 1 {
                self.head(&text)?;
            } else if let Ok(end) = serde_json::from_str::<End>(&text) {
                self.end(&end, line)?;
                has_ended = true;
            } else {
                self.entry(&text, line)?;
            }
        }
        if has_ended { Ok(()) } else { Err(RestoreError::CutOff) }
    }

    fn head(&mut self, text: &str) -> Result<(), RestoreError> {
        let head: Head = serde_json::from_str(text).map_err(|source| RestoreError::Line { line: 1, source })?;
        if head.format != FORMAT {
            return Err(RestoreError::Content {
                line: 1,
                what: "this release does not know its format",
            });
        }
        if head.revision > MOST_REVISION {
            return Err(RestoreError::Content {
                line: 1,
                what: "its revision leaves no room to count on",
            });
        }
        self.revision = Revision(head.revision);
        Ok(())
    }

    fn entry(&mut self, text: &str, line: usize) -> Result<(), RestoreError> {
        let wrong = |what| RestoreError::Content { line, what };
        let read: Line<'_> = serde_json::from_str(text).map_err(|source| RestoreError::Line { line, source })?;
        let payload = match read.payload {
            Body::Text(text) => text.into_owned().into_bytes(),
            Body::Base64(text) => STANDARD.decode(&*text).map_err(|_| wrong("its payload is no base64"))?,
        };
        let key = Key::new(&*read.collection, &*read.namespace, &*read.name);
        if self.last.as_ref().is_some_and(|last| *last >= key) {
            return Err(wrong("it is out of order"));
        }
        if read.revision == 0 || read.revision > self.revision.0 {
            return Err(wrong("its revision is outside of the dump's"));
        }
        self.last = Some(key.clone());
        self.entries += 1;
        self.pending_bytes += payload.len();
        self.pending.push((key, Revision(read.revision), payload));
        if self.pending_bytes >= FRAME_BYTES {
            self.flush()
        } else {
            Ok(())
        }
    }

    fn end(&mut self, end: &End, line: usize) -> Result<(), RestoreError> {
        if end.entries != self.entries {
            return Err(RestoreError::Content {
                line,
                what: "it counts other entries than there are",
            });
        }
        self.flush()
    }

    fn flush(&mut self) -> Result<(), RestoreError> {
        let records = self
            .pending
            .iter()
            .map(|(key, revision, payload)| Record::new(key, *revision, Action::Carry(payload)));
        self.log.carry(records, self.revision)?;
        self.pending.clear();
        self.pending_bytes = 0;
        Ok(())
    }
}
