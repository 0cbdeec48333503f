//! The state at an old revision. Owns the snapshots that are kept for readers of pages, and how an old state is made:
//! from the nearest younger one, by taking back events.

use std::{
    collections::VecDeque,
    sync::{Mutex, PoisonError},
};

use thiserror::Error;

use crate::{entry::Payload, key::Revision, limits::Limits, rings::Rings, snapshot::Snapshot};

/// Why there is no state for a revision.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum AtError {
    /// Events that would have to be taken back are gone.
    #[error("too old: history is kept from revision {oldest} on; read the current state instead")]
    TooOld {
        /// The first revision whose state can be had.
        oldest: Revision,
    },
    /// It has not been written yet.
    #[error("the store is at revision {current}: wait until it gets there")]
    Future {
        /// The revision of the store.
        current: Revision,
    },
}

/// Snapshots that are kept, least recently used first.
pub(crate) struct History<P> {
    pinned: Mutex<VecDeque<Snapshot<P>>>,
}

impl<P> Default for History<P> {
    fn default() -> Self {
        Self {
            pinned: Mutex::default(),
        }
    }
}

impl<P: Payload> History<P> {
    /// Keeps a snapshot, and gives up those that are too many or too old.
    pub(crate) fn pin(&self, snapshot: Snapshot<P>, head: Revision, limits: &Limits) {
        let mut pinned = self.pinned.lock().unwrap_or_else(PoisonError::into_inner);
        pinned.retain(|other| {
            other.revision() != snapshot.revision()
                && head.0 - other.revision().0.min(head.0) <= limits.pinned_revisions
        });
        pinned.push_back(snapshot);
        while pinned.len() > limits.pinned_snapshots {
            pinned.pop_front();
        }
    }

    /// Gives up the snapshots that are too old; without readers nobody else would.
    pub(crate) fn expire(&self, head: Revision, limits: &Limits) {
        let mut pinned = self.pinned.lock().unwrap_or_else(PoisonError::into_inner);
        pinned.retain(|other| head.0 - other.revision().0.min(head.0) <= limits.pinned_revisions);
    }

    /// The state at a revision that is not younger than `head`, and keeps it for the next page.
    pub(crate) fn at(
        &self,
        revision: Revision,
        head: Snapshot<P>,
        rings: &Rings<P>,
        limits: &Limits,
    ) -> Result<Snapshot<P>, AtError> {
        let current = head.revision();
        let base = self.nearest(revision, head);
        if base.revision() > revision && revision < rings.floor() {
            return Err(AtError::TooOld { oldest: rings.floor() });
        }
        let snapshot = rewind(base, revision, rings)?;
        self.pin(snapshot.clone(), current, limits);
        Ok(snapshot)
    }

    /// The oldest snapshot that is not older than a revision.
    fn nearest(&self, revision: Revision, head: Snapshot<P>) -> Snapshot<P> {
        let pinned = self.pinned.lock().unwrap_or_else(PoisonError::into_inner);
        let younger = pinned.iter().filter(|snapshot| snapshot.revision() >= revision);
        younger
            .min_by_key(|snapshot| snapshot.revision())
            .cloned()
            .unwrap_or(head)
    }
}

/// Takes back everything that happened after a revision.
fn rewind<P: Payload>(base: Snapshot<P>, revision: Revision, rings: &Rings<P>) -> Result<Snapshot<P>, AtError> {
    if base.revision() == revision {
        return Ok(base);
    }
    let mut state = base.state.clone();
    // Collections do not overlap, so that each can be taken back by itself.
    for ring in rings.all() {
        let events = ring.between(revision, base.revision());
        for event in events.map_err(|behind| AtError::TooOld { oldest: behind.oldest })? {
            state.undo(&event);
        }
    }
    Ok(Snapshot::new(revision, state))
}
