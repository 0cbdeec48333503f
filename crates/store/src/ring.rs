//! The recent events of one collection, bounded, and the bell that wakes who waits for more. Knows no watcher by name:
//! who reads keeps a cursor of its own.

use std::{
    collections::VecDeque,
    sync::{Arc, PoisonError, RwLock},
};

use tokio::sync::Notify;

use crate::{
    entry::{Event, Payload},
    key::Revision,
    limits::Limits,
};

/// How many events a reader takes at a time: enough that the lock is seldom taken, little enough to hold in memory.
const READ_EVENTS: usize = 64;

/// Recent events, oldest first.
pub(crate) struct Ring<P> {
    recent: RwLock<Recent<P>>,
    pub(crate) bell: Notify,
}

struct Recent<P> {
    events: VecDeque<Arc<Event<P>>>,
    bytes: usize,
    /// Everything after this revision is here.
    floor: Revision,
}

/// The cursor is so old that events after it are gone; `oldest` is the first cursor that would do.
#[derive(Debug)]
pub(crate) struct Behind {
    pub(crate) oldest: Revision,
}

impl<P: Payload> Ring<P> {
    pub(crate) fn new(floor: Revision) -> Self {
        Self {
            recent: RwLock::new(Recent {
                events: VecDeque::new(),
                bytes: 0,
                floor,
            }),
            bell: Notify::new(),
        }
    }

    /// Adds events and moves those that no longer fit to `evicted`, for the caller to drop where nobody waits.
    pub(crate) fn push(&self, events: &[Arc<Event<P>>], limits: &Limits, evicted: &mut Vec<Arc<Event<P>>>) {
        let mut recent = self.recent.write().unwrap_or_else(PoisonError::into_inner);
        for event in events {
            recent.bytes += event.entry.weight();
            recent.events.push_back(Arc::clone(event));
        }
        while recent.events.len() > limits.ring_events || (recent.bytes > limits.ring_bytes && recent.events.len() > 1)
        {
            let Some(event) = recent.events.pop_front() else { break };
            recent.bytes -= event.entry.weight();
            recent.floor = event.revision;
            evicted.push(event);
        }
    }

    /// Whether every event after a revision is still here.
    pub(crate) fn reaches(&self, after: Revision) -> Result<(), Behind> {
        self.recent
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .reaches(after)
    }

    /// Appends the next few events after a revision to `buffer`.
    pub(crate) fn read(&self, after: Revision, buffer: &mut VecDeque<Arc<Event<P>>>) -> Result<(), Behind> {
        let recent = self.recent.read().unwrap_or_else(PoisonError::into_inner);
        recent.reaches(after)?;
        let start = recent.position(after);
        buffer.extend(recent.events.range(start..).take(READ_EVENTS).cloned());
        Ok(())
    }

    /// The revision of the first event after a revision, if there is one.
    pub(crate) fn first_after(&self, after: Revision) -> Result<Option<Revision>, Behind> {
        let recent = self.recent.read().unwrap_or_else(PoisonError::into_inner);
        recent.reaches(after)?;
        Ok(recent.events.get(recent.position(after)).map(|event| event.revision))
    }

    /// The events with revisions after `after` and up to `until`, youngest first.
    pub(crate) fn between(&self, after: Revision, until: Revision) -> Result<Vec<Arc<Event<P>>>, Behind> {
        let recent = self.recent.read().unwrap_or_else(PoisonError::into_inner);
        recent.reaches(after)?;
        let (start, end) = (recent.position(after), recent.position(until));
        Ok(recent.events.range(start..end).rev().cloned().collect())
    }
}

impl<P> Recent<P> {
    fn reaches(&self, after: Revision) -> Result<(), Behind> {
        if after < self.floor {
            return Err(Behind { oldest: self.floor });
        }
        Ok(())
    }

    /// The place of the first event after a revision.
    fn position(&self, after: Revision) -> usize {
        self.events.partition_point(|event| event.revision <= after)
    }
}
