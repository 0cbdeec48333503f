//! What is stored, what is asked for and what happened: entries, operations and events. Values only.

use std::{borrow::Cow, fmt, sync::Arc};

use thiserror::Error;

use crate::{
    key::{Key, Revision},
    snapshot::Snapshot,
};

/// What a store keeps under a key. The store never looks inside.
pub trait Payload: Send + Sync + Sized + 'static {
    /// The bytes that go to disk. Borrowed where the payload already is bytes, because it is asked on the hot path.
    fn encode(&self) -> Cow<'_, [u8]>;

    /// Reads back what `encode` gave, possibly an older release of this program.
    fn decode(key: &Key, bytes: &[u8]) -> Result<Self, DecodeError>;

    /// About how many bytes it takes, in memory and on disk. Limits count it; it must not change during its life.
    fn weight(&self) -> usize;
}

/// Why stored bytes are no payload.
#[derive(Debug, Error)]
#[error("{0}")]
pub struct DecodeError(String);

impl DecodeError {
    /// The reason, in lower case.
    pub fn new(reason: impl fmt::Display) -> Self {
        Self(reason.to_string())
    }
}

/// One version of what is stored under a key.
pub struct Entry<P> {
    /// Its name.
    pub key: Key,
    /// The operation that wrote this version.
    pub revision: Revision,
    /// The content.
    pub payload: P,
}

/// What one version costs besides its key and payload: its pointers, counters and the node that holds it.
const ENTRY_OVERHEAD: usize = 128;

impl<P: Payload> Entry<P> {
    /// About how many bytes it takes.
    pub(crate) fn weight(&self) -> usize {
        ENTRY_OVERHEAD + self.key.weight() + self.payload.weight()
    }
}

impl<P> fmt::Debug for Entry<P> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}@{}", self.key, self.revision)
    }
}

/// What must hold of a key for an operation to happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expect {
    /// Anything.
    Any,
    /// Nothing is stored under it.
    Absent,
    /// It was last written by this operation.
    Revision(Revision),
}

/// What an operation does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change<P> {
    /// Stores the payload, over what may be there.
    Put(P),
    /// Removes the entry. Where there is none the transaction conflicts.
    Delete,
}

/// One step of a transaction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Operation<P> {
    /// What it is about.
    pub key: Key,
    /// Under which condition.
    pub expect: Expect,
    /// What it does.
    pub change: Change<P>,
}

impl<P: Payload> Operation<P> {
    /// About how many bytes it brings along.
    pub(crate) fn weight(&self) -> usize {
        let payload = match &self.change {
            Change::Put(payload) => payload.weight(),
            Change::Delete => 0,
        };
        ENTRY_OVERHEAD + self.key.weight() + payload
    }
}

/// What an operation did to its key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventKind {
    /// There was nothing before.
    Created,
    /// There was a version before.
    Updated,
    /// The last version went.
    Deleted,
}

/// One operation that happened.
pub struct Event<P> {
    /// Of the operation; for a deletion it is younger than the entry's own.
    pub revision: Revision,
    /// What it did.
    pub kind: EventKind,
    /// The version that it wrote; for a deletion the last one that there was.
    pub entry: Arc<Entry<P>>,
    /// The version before, if there was one.
    pub previous: Option<Arc<Entry<P>>>,
}

impl<P> fmt::Debug for Event<P> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{:?} {} at {}", self.kind, self.entry.key, self.revision)
    }
}

/// An index beside the store that is never behind what readers see.
///
/// It is called by the writer, in order, after a batch is durable and before any reader or watcher can see it; so it
/// must be quick, and must not call the store.
pub trait Observer<P>: Send + Sync {
    /// Forget everything and start from this state.
    fn reset(&self, snapshot: &Snapshot<P>);
    /// These happened, in order.
    fn committed(&self, events: &[Arc<Event<P>>]);
}
