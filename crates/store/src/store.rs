//! The handle that everybody holds: reads, commits, watches. Owns what is shared between handles and the writer; does
//! no I/O.

use std::{
    fmt,
    sync::{
        Arc,
        atomic::{AtomicU8, AtomicUsize, Ordering},
    },
};

use thiserror::Error;
use tokio::sync::{Notify, mpsc, oneshot, watch};

use crate::{
    entry::{Entry, Event, Operation, Payload},
    history::{AtError, History},
    key::Revision,
    limits::Limits,
    rings::Rings,
    snapshot::Snapshot,
    watcher::{TooOld, Watcher},
};

/// A store. Cheap to copy; every copy is the same store.
pub struct Store<P> {
    pub(crate) shared: Arc<Shared<P>>,
    pub(crate) queue: mpsc::Sender<Request<P>>,
}

impl<P> Clone for Store<P> {
    fn clone(&self) -> Self {
        Self {
            shared: Arc::clone(&self.shared),
            queue: self.queue.clone(),
        }
    }
}

impl<P> fmt::Debug for Store<P> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Store({})", self.shared.published.borrow().revision())
    }
}

/// What handles, watchers and the writer share.
pub(crate) struct Shared<P> {
    pub(crate) published: watch::Sender<Snapshot<P>>,
    pub(crate) rings: Rings<P>,
    pub(crate) history: History<P>,
    pub(crate) limits: Limits,
    /// Bytes that wait for the writer.
    pub(crate) queued_bytes: AtomicUsize,
    pub(crate) closing: Notify,
    phase: AtomicU8,
}

/// A transaction on its way to the writer.
pub(crate) struct Request<P> {
    pub(crate) operations: Vec<Operation<P>>,
    pub(crate) weight: usize,
    pub(crate) reply: oneshot::Sender<Outcome<P>>,
}

/// What became of a transaction.
pub(crate) type Outcome<P> = Result<Vec<Arc<Event<P>>>, CommitError<P>>;

/// Why a transaction did not happen.
#[derive(Error)]
pub enum CommitError<P> {
    /// An operation expected something else. Nothing happened; read again and decide anew.
    #[error("operation {operation} of the transaction found another state than it expected")]
    Conflict {
        /// Which operation, counted from zero.
        operation: usize,
        /// What is stored under its key.
        current: Option<Arc<Entry<P>>>,
    },
    /// The transaction is larger than the store takes at once. Nothing happened; make it smaller.
    #[error("the transaction is larger than the store takes at once: split it")]
    TooLarge,
    /// Too much waits for the writer. Nothing happened; try again later.
    #[error("too many transactions wait for the writer: try again later")]
    Overloaded,
    /// The store was closed. Nothing happened.
    #[error("the store is closed")]
    Closed,
    /// The disk failed. It may have happened, wholly, and then shows after the store was opened again.
    #[error("the disk failed: free space or repair it, then start again")]
    Failed,
}

impl<P> fmt::Debug for CommitError<P> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "CommitError({self})")
    }
}

impl<P: Payload> Store<P> {
    /// Makes all operations happen, in order and durably, or none. Each gets a revision of its own, one after the other.
    ///
    /// Once it was polled, dropping the future does not take the transaction back: it may or may not happen, wholly.
    pub async fn commit(&self, operations: Vec<Operation<P>>) -> Outcome<P> {
        if operations.is_empty() {
            return Ok(Vec::new());
        }
        let answer = self.enqueue(operations)?;
        answer.await.unwrap_or_else(|_| Err(self.shared.gone()))
    }

    /// The current state. It never waits for the writer's disk, and the writer never waits for who holds it.
    pub fn snapshot(&self) -> Snapshot<P> {
        self.shared.published.borrow().clone()
    }

    /// The state at exactly this revision, as long as history reaches. It is kept for some time, so that who reads page
    /// by page finds it again.
    pub fn at(&self, revision: Revision) -> Result<Snapshot<P>, AtError> {
        let head = self.snapshot();
        if revision > head.revision() {
            return Err(AtError::Future {
                current: head.revision(),
            });
        }
        let shared = &self.shared;
        shared.history.at(revision, head, &shared.rings, &shared.limits)
    }

    /// Keeps a snapshot for `at`, whatever is written meanwhile: who hands out the first page of a list does this.
    pub fn pin(&self, snapshot: &Snapshot<P>) {
        let head = self.shared.published.borrow().revision();
        self.shared.history.pin(snapshot.clone(), head, &self.shared.limits);
    }

    /// The events of a collection after a revision, those that were and those to come.
    pub fn watch(&self, collection: &str, after: Revision) -> Result<Watcher<P>, TooOld> {
        Watcher::new(Arc::clone(&self.shared), collection, after)
    }

    /// Waits until readers see at least this revision; for ever if it is never written.
    pub async fn reached(&self, revision: Revision) {
        let mut published = self.shared.published.subscribe();
        let is_gone = published
            .wait_for(|snapshot| snapshot.revision() >= revision)
            .await
            .is_err();
        if is_gone {
            // Nobody can publish any more.
            std::future::pending::<()>().await;
        }
    }

    /// Whether transactions are taken: the store is not closed, and its disk has not failed.
    pub fn is_writable(&self) -> bool {
        self.shared.phase() == Phase::Open
    }

    /// Takes no more transactions. Those that wait are still done, then the writer ends. Reads go on.
    pub fn close(&self) {
        self.shared.advance(Phase::Closed);
        self.shared.closing.notify_one();
    }

    fn enqueue(&self, operations: Vec<Operation<P>>) -> Result<oneshot::Receiver<Outcome<P>>, CommitError<P>> {
        let limits = &self.shared.limits;
        let weight = operations.iter().map(Operation::weight).sum();
        if operations.len() > limits.transaction_operations || weight > limits.transaction_bytes {
            return Err(CommitError::TooLarge);
        }
        if self.shared.phase() != Phase::Open {
            return Err(self.shared.gone());
        }
        let (reply, answer) = oneshot::channel();
        let request = Request {
            operations,
            weight,
            reply,
        };
        self.shared.reserve(weight)?;
        self.queue.try_send(request).map_err(|error| {
            self.shared.release(weight);
            match error {
                mpsc::error::TrySendError::Full(_) => CommitError::Overloaded,
                mpsc::error::TrySendError::Closed(_) => self.shared.gone(),
            }
        })?;
        Ok(answer)
    }
}

/// Whether a store takes transactions. It only moves downwards in this list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Phase {
    Open,
    Closed,
    Failed,
}

impl<P> Shared<P> {
    pub(crate) fn new(snapshot: Snapshot<P>, rings: Rings<P>, limits: Limits) -> Self {
        Self {
            published: watch::Sender::new(snapshot),
            rings,
            history: History::default(),
            limits,
            queued_bytes: AtomicUsize::new(0),
            closing: Notify::new(),
            phase: AtomicU8::new(Phase::Open as u8),
        }
    }

    pub(crate) fn advance(&self, phase: Phase) {
        self.phase.fetch_max(phase as u8, Ordering::AcqRel);
    }

    pub(crate) fn release(&self, weight: usize) {
        self.queued_bytes.fetch_sub(weight, Ordering::Relaxed);
    }

    fn reserve(&self, weight: usize) -> Result<(), CommitError<P>> {
        let before = self.queued_bytes.fetch_add(weight, Ordering::Relaxed);
        if before != 0 && before + weight > self.limits.queue_bytes {
            self.release(weight);
            return Err(CommitError::Overloaded);
        }
        Ok(())
    }

    fn phase(&self) -> Phase {
        match self.phase.load(Ordering::Acquire) {
            0 => Phase::Open,
            1 => Phase::Closed,
            _ => Phase::Failed,
        }
    }

    /// Why there is no writer any more.
    fn gone(&self) -> CommitError<P> {
        match self.phase() {
            Phase::Open | Phase::Closed => CommitError::Closed,
            Phase::Failed => CommitError::Failed,
        }
    }
}
