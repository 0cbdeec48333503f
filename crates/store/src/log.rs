//! The durable log: segments of frames of records. Owns when what is written, synchronised and removed; what the
//! records mean to a reader is not its business.

use std::{io, ops::Range, sync::Arc};

use thiserror::Error;

use crate::{
    disk::{Disk, DiskFile},
    entry::{Event, EventKind, Payload},
    key::Revision,
    limits::Limits,
    names,
    state::State,
};

mod frame;
mod record;
mod replay;
mod segment;
mod sweep;

pub(crate) use record::{Action, Record};
pub use replay::ReplayError;
pub(crate) use replay::{Step, Summary, replay};
use sweep::{Size, Sweep};

/// Bytes that the buffer for frames may keep between batches.
const BUFFER_BYTES: usize = 4 << 20;
/// Bytes per frame when a log is swept all at once.
const COMPACT_BYTES: usize = 1 << 20;

/// Why the log could not be written. What was being written may be there after a restart, wholly, or not at all.
#[derive(Debug, Error)]
pub enum LogError {
    /// A new segment could not be begun.
    #[error("beginning {name}")]
    Begin {
        /// The name of the file.
        name: String,
        /// What the system said.
        #[source]
        source: io::Error,
    },
    /// A batch could not be written or synchronised.
    #[error("writing {name}")]
    Write {
        /// The name of the file.
        name: String,
        /// What the system said.
        #[source]
        source: io::Error,
    },
    /// A segment that is no longer needed could not be removed, or the rest of an unfinished write not be cut off.
    #[error("tidying up {name}")]
    Tidy {
        /// The name of the file.
        name: String,
        /// What the system said.
        #[source]
        source: io::Error,
    },
}

/// A log that can be written.
pub(crate) struct Log {
    disk: Box<dyn Disk>,
    limits: Limits,
    /// None until the first write: what is opened and only read leaves no new segment behind.
    file: Option<Box<dyn DiskFile>>,
    oldest: u64,
    newest: u64,
    /// The number of the next frame.
    frame: u64,
    /// Bytes of the newest segment.
    length: u64,
    bytes: u64,
    bytes_since_sweep: u64,
    sweep: Option<Sweep>,
    /// Segments that no state needs any more. They go one by one: removing a large file holds up a disk.
    unneeded: Range<u64>,
    buffer: Vec<u8>,
}

impl Log {
    /// Goes on with a log that was read, after tidying up what the reader left aside.
    pub(crate) fn resume(mut disk: Box<dyn Disk>, limits: Limits, found: &Summary) -> Result<Self, LogError> {
        // Also where nothing is cut off: the process that wrote what was read may have ended before it synchronised the
        // newest segment or its name. Nothing may be built on it, or removed because of it, before it is durable.
        tidy(found.newest, disk.truncate(&names::segment(found.newest), found.end))?;
        tidy(found.newest, disk.sync_names())?;
        for number in &found.leftovers {
            tidy(*number, disk.remove(&names::segment(*number)))?;
        }
        Ok(Self::after(disk, limits, found))
    }

    /// A log for a directory that has none. The state that follows is not whole before `seal`.
    pub(crate) fn unsealed(disk: Box<dyn Disk>, limits: Limits) -> Self {
        Self::after(disk, limits, &Summary::default())
    }

    fn after(disk: Box<dyn Disk>, limits: Limits, found: &Summary) -> Self {
        Self {
            disk,
            limits,
            file: None,
            oldest: found.oldest,
            newest: found.newest,
            frame: found.frame,
            length: found.end,
            bytes: found.bytes,
            bytes_since_sweep: found.bytes_since_complete,
            sweep: None,
            unneeded: 0..0,
            buffer: Vec::new(),
        }
    }

    /// Declares the state whole that was carried since `unsealed`, at this revision.
    pub(crate) fn seal(&mut self, revision: Revision) -> Result<(), LogError> {
        self.oldest = 1;
        self.begin_segment(revision)
    }

    /// Writes frames that hold only entries which are there already.
    pub(crate) fn carry<'a>(
        &mut self,
        records: impl Iterator<Item = Record<'a>>,
        revision: Revision,
    ) -> Result<(), LogError> {
        if self.file.is_none() || self.length >= self.limits.segment_bytes {
            self.begin_segment(revision)?;
        }
        frame::begin(&mut self.buffer);
        records.for_each(|record| record.write(&mut self.buffer));
        self.write_frame()
    }

    /// Makes the events of a batch durable; `state` and `revision` are those after it.
    pub(crate) fn append<P: Payload>(
        &mut self,
        events: &[Arc<Event<P>>],
        state: &State<P>,
        revision: Revision,
    ) -> Result<(), LogError> {
        if self.file.is_none() {
            self.begin_segment(Revision(revision.0 - events.len() as u64))?;
        }
        frame::begin(&mut self.buffer);
        for event in events {
            write_event(event, &mut self.buffer);
        }
        if let Some(sweep) = self.sweep.as_mut().filter(|sweep| !sweep.is_done) {
            sweep.carry(state, Sweep::budget(self.buffer.len(), &self.limits), &mut self.buffer);
        }
        self.write_frame()
    }

    /// What can wait until a batch was answered: new segments, and the beginning and end of sweeps.
    pub(crate) fn maintain<P: Payload>(&mut self, state: &State<P>, revision: Revision) -> Result<(), LogError> {
        if self.file.is_none() {
            return Ok(());
        }
        self.remove_unneeded()?;
        match &self.sweep {
            Some(sweep) if sweep.is_done => self.finish_sweep(revision),
            None if self.size().wants_sweep(state.weight() as u64, &self.limits) => self.begin_sweep(revision),
            _ if self.length >= self.limits.segment_bytes => self.begin_segment(revision),
            _ => Ok(()),
        }
    }

    /// Sweeps the whole log at once if it has grown out of all proportion.
    pub(crate) fn compact_bloated<P: Payload>(&mut self, state: &State<P>, revision: Revision) -> Result<(), LogError> {
        if !self.size().is_bloated(state.weight() as u64, &self.limits) {
            return Ok(());
        }
        self.begin_sweep(revision)?;
        while let Some(sweep) = self.sweep.as_mut().filter(|sweep| !sweep.is_done) {
            frame::begin(&mut self.buffer);
            sweep.carry(state, COMPACT_BYTES, &mut self.buffer);
            self.write_frame()?;
            self.maintain(state, revision)?;
        }
        self.remove_all_unneeded()
    }

    /// Ends with an empty frame: from now on damage to the last batch is told from a write that never finished.
    pub(crate) fn close(&mut self) -> Result<(), LogError> {
        if self.file.is_none() {
            return Ok(());
        }
        frame::begin(&mut self.buffer);
        self.write_frame()?;
        self.remove_all_unneeded()
    }

    /// Gives the disk back, for what else is on it.
    pub(crate) fn into_disk(self) -> Box<dyn Disk> {
        self.disk
    }

    fn size(&self) -> Size {
        Size {
            bytes: self.bytes,
            bytes_since_sweep: self.bytes_since_sweep,
            segments: self.newest - self.oldest + 1,
        }
    }

    fn remove_all_unneeded(&mut self) -> Result<(), LogError> {
        while !self.unneeded.is_empty() {
            self.remove_unneeded()?;
        }
        Ok(())
    }

    /// Removes one of the segments that no state needs any more.
    fn remove_unneeded(&mut self) -> Result<(), LogError> {
        match self.unneeded.next() {
            Some(number) => tidy(number, self.disk.remove(&names::segment(number))),
            None => Ok(()),
        }
    }

    fn begin_sweep(&mut self, revision: Revision) -> Result<(), LogError> {
        let bytes_before = self.bytes;
        self.begin_segment(revision)?;
        self.sweep = Some(Sweep::new(self.newest, bytes_before));
        Ok(())
    }

    /// Begins a segment that no longer needs what is older than the sweep.
    fn finish_sweep(&mut self, revision: Revision) -> Result<(), LogError> {
        let Some(sweep) = self.sweep.take() else { return Ok(()) };
        // Whatever was left of the last sweep comes before.
        let first = if self.unneeded.is_empty() {
            self.oldest
        } else {
            self.unneeded.start
        };
        self.oldest = sweep.start;
        self.begin_segment(revision)?;
        self.unneeded = first..sweep.start;
        self.bytes -= sweep.bytes_before;
        self.bytes_since_sweep = 0;
        Ok(())
    }

    /// Begins the next segment, durable with its name before anything is written into it.
    fn begin_segment(&mut self, revision: Revision) -> Result<(), LogError> {
        let header = segment::Header {
            number: self.newest + 1,
            oldest: self.oldest,
            frame: self.frame,
            revision,
        };
        let name = names::segment(header.number);
        let file = self
            .create(&name, &header)
            .map_err(|source| LogError::Begin { name, source })?;
        self.file = Some(file);
        self.newest = header.number;
        self.length = segment::HEADER_BYTES as u64;
        self.bytes += self.length;
        Ok(())
    }

    fn create(&mut self, name: &str, header: &segment::Header) -> io::Result<Box<dyn DiskFile>> {
        let mut file = self.disk.create(name)?;
        file.append(&header.write())?;
        file.sync()?;
        self.disk.sync_names()?;
        Ok(file)
    }

    /// Writes and synchronises the frame in the buffer.
    fn write_frame(&mut self) -> Result<(), LogError> {
        frame::finish(&mut self.buffer, self.frame);
        let written = match &mut self.file {
            Some(file) => file.append(&self.buffer).and_then(|()| file.sync()),
            None => Err(io::ErrorKind::NotFound.into()),
        };
        written.map_err(|source| LogError::Write {
            name: names::segment(self.newest),
            source,
        })?;
        let length = self.buffer.len() as u64;
        self.frame += 1;
        self.length += length;
        self.bytes += length;
        self.bytes_since_sweep += length;
        self.buffer.shrink_to(BUFFER_BYTES);
        Ok(())
    }
}

fn write_event<P: Payload>(event: &Event<P>, body: &mut Vec<u8>) {
    let key = &event.entry.key;
    match event.kind {
        EventKind::Created | EventKind::Updated => {
            let payload = event.entry.payload.encode();
            Record::new(key, event.revision, Action::Put(&payload)).write(body);
        }
        EventKind::Deleted => Record::new(key, event.revision, Action::Delete).write(body),
    }
}

/// Whether a segment has no frame.
pub(crate) fn is_blank_segment(bytes: &[u8]) -> bool {
    segment::is_blank(bytes)
}

fn tidy(number: u64, result: io::Result<()>) -> Result<(), LogError> {
    result.map_err(|source| LogError::Tidy {
        name: names::segment(number),
        source,
    })
}
