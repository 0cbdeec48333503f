//! Sweeping: the live entries are repeated at the end of the log, a few with every batch, until all that is older than
//! the beginning of the sweep can go. Owns how far a sweep has come and how fast it goes; knows no disk.

use super::record::{Action, Record};
use crate::{entry::Payload, key::Key, limits::Limits, state::State};

/// Bytes that are carried per byte of a batch. A sweep then ends before half of the live bytes were written again, and
/// a batch gets at most three times as long.
const PACE: usize = 2;
/// How many segments there may be beyond those that sizes explain before a sweep begins; with twice as many it is done at
/// once, while the store is opened. A process that often starts and writes little makes many small ones.
const SPARE_SEGMENTS: u64 = 64;
/// How many times the live bytes a log may have before it is swept at once, while the store is opened. A log that gets
/// through its sweeps stays below; one whose process never lived long enough does not.
const BLOAT: u64 = 6;

/// A sweep under way.
pub(super) struct Sweep {
    /// The segment that it began with: older ones can go when it is done.
    pub(super) start: u64,
    /// Bytes of those older ones.
    pub(super) bytes_before: u64,
    cursor: Option<Key>,
    pub(super) is_done: bool,
}

/// How large a log is.
#[derive(Clone, Copy)]
pub(super) struct Size {
    pub(super) bytes: u64,
    pub(super) bytes_since_sweep: u64,
    pub(super) segments: u64,
}

impl Size {
    /// Whether it is time to begin a sweep.
    pub(super) fn wants_sweep(self, live_bytes: u64, limits: &Limits) -> bool {
        let spare = self.spare_segments(live_bytes, limits);
        self.bytes_since_sweep > live_bytes.max(limits.sweep_bytes) || spare > SPARE_SEGMENTS
    }

    /// Whether it is so large that it should be swept before anything else.
    pub(super) fn is_bloated(self, live_bytes: u64, limits: &Limits) -> bool {
        let spare = self.spare_segments(live_bytes, limits);
        self.bytes > BLOAT * live_bytes.max(limits.sweep_bytes) || spare > 2 * SPARE_SEGMENTS
    }

    /// How many segments there are beyond those that sizes explain.
    fn spare_segments(self, live_bytes: u64, limits: &Limits) -> u64 {
        self.segments
            .saturating_sub(BLOAT * live_bytes / limits.segment_bytes.max(1))
    }
}

impl Sweep {
    pub(super) fn new(start: u64, bytes_before: u64) -> Self {
        Self {
            start,
            bytes_before,
            cursor: None,
            is_done: false,
        }
    }

    /// How many bytes to carry with a batch of that many.
    pub(super) fn budget(batch_bytes: usize, limits: &Limits) -> usize {
        limits.sweep_step_bytes.max(PACE * batch_bytes)
    }

    /// Repeats the next entries, about as many bytes as the budget says.
    ///
    /// What is written while the sweep goes on is in a younger segment anyway, whether the cursor has passed or not.
    pub(super) fn carry<P: Payload>(&mut self, state: &State<P>, budget: usize, body: &mut Vec<u8>) {
        let end = body.len() + budget;
        let mut last = None;
        for entry in state.entries_after(self.cursor.as_ref()) {
            if body.len() >= end {
                self.cursor = last;
                return;
            }
            let payload = entry.payload.encode();
            Record::new(&entry.key, entry.revision, Action::Carry(&payload)).write(body);
            last = Some(entry.key.clone());
        }
        self.is_done = true;
    }
}
