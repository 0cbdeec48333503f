//! Following one collection. Owns a cursor over its ring; never holds up the writer, and is told when it fell behind.

use std::{collections::VecDeque, fmt, pin::pin, sync::Arc};

use thiserror::Error;

use crate::{
    entry::{Event, Payload},
    key::Revision,
    ring::Ring,
    store::Shared,
};

/// Every event of a collection after a revision, in order, none missing and none twice.
pub struct Watcher<P> {
    shared: Arc<Shared<P>>,
    ring: Arc<Ring<P>>,
    buffer: VecDeque<Arc<Event<P>>>,
    /// Everything up to here has been handed out.
    delivered: Revision,
}

/// The watcher was too slow: events that it has not seen are gone. Read a snapshot and watch from there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("events after the watcher's position are gone: list again and watch from there")]
pub struct Lagged;

/// The revision to watch from is so old that events after it are gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("too old: events are kept from revision {oldest} on; list again and watch from there")]
pub struct TooOld {
    /// The first revision that could be watched from.
    pub oldest: Revision,
}

impl<P> fmt::Debug for Watcher<P> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Watcher({})", self.delivered)
    }
}

impl<P: Payload> Watcher<P> {
    pub(crate) fn new(shared: Arc<Shared<P>>, collection: &str, after: Revision) -> Result<Self, TooOld> {
        let ring = shared.rings.of(collection);
        ring.reaches(after).map_err(|behind| TooOld { oldest: behind.oldest })?;
        Ok(Self {
            shared,
            ring,
            buffer: VecDeque::new(),
            delivered: after,
        })
    }

    /// The next event. It waits for as long as there is none, also when the store was closed; dropping the future
    /// loses nothing.
    pub async fn next(&mut self) -> Result<Arc<Event<P>>, Lagged> {
        let ring = Arc::clone(&self.ring);
        loop {
            // Listening starts before looking, so that nothing falls between the two.
            let mut bell = pin!(ring.bell.notified());
            bell.as_mut().enable();
            if let Some(event) = self.try_next()? {
                return Ok(event);
            }
            bell.await;
        }
    }

    /// The next event, if there is one.
    pub fn try_next(&mut self) -> Result<Option<Arc<Event<P>>>, Lagged> {
        if self.buffer.is_empty() {
            self.ring.read(self.delivered, &mut self.buffer).map_err(|_| Lagged)?;
        }
        let event = self.buffer.pop_front();
        if let Some(event) = &event {
            self.delivered = event.revision;
        }
        Ok(event)
    }

    /// The revision up to which everything has been handed out; a bookmark may claim it. It moves also when only other
    /// collections do.
    pub fn revision(&self) -> Revision {
        // Before looking for the next event: what is published later may have one for this watcher.
        let published = self.shared.published.borrow().revision();
        let next = match self.buffer.front() {
            Some(event) => Ok(Some(event.revision)),
            None => self.ring.first_after(self.delivered),
        };
        match next {
            Ok(None) => published.max(self.delivered),
            Ok(Some(next)) => Revision(next.0 - 1).min(published).max(self.delivered),
            Err(_) => self.delivered,
        }
    }
}
