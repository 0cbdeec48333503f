//! Opening a store: from what is on disk to the state in memory, the recent events and the writer. Owns recovery.

use std::{
    collections::{BTreeSet, VecDeque},
    sync::Arc,
};

use thiserror::Error;
use tokio::sync::mpsc;

use crate::{
    batch::Head,
    disk::Disk,
    entry::{DecodeError, Entry, Event, EventKind, Observer, Payload},
    format::{self, FormatError, Origin},
    key::{Key, Revision},
    limits::Limits,
    log::{self, Action, Log, LogError, Record, ReplayError, Step},
    rings::Rings,
    state::State,
    store::{Shared, Store},
    writer::Writer,
};

/// Why a store cannot be opened.
#[derive(Debug, Error)]
pub enum OpenError {
    /// The directory is not one that this release can use.
    #[error(transparent)]
    Format(#[from] FormatError),
    /// The log cannot be read.
    #[error(transparent)]
    Replay(#[from] ReplayError),
    /// The log cannot be written.
    #[error(transparent)]
    Log(#[from] LogError),
}

/// An entry of the log that does not fit.
#[derive(Debug, Error)]
enum Misfit {
    #[error("{key} at revision {revision} cannot be decoded")]
    Payload {
        key: Key,
        revision: Revision,
        #[source]
        source: DecodeError,
    },
    #[error("{key} is repeated at revision {revision} but the log says otherwise")]
    Carried { key: Key, revision: Revision },
    #[error("{key} is deleted at revision {revision} but was not there")]
    Deleted { key: Key, revision: Revision },
}

impl<P: Payload> Store<P> {
    /// Opens the store on a disk, or begins one there. Commits wait until the writer runs.
    pub fn open(
        disk: impl Disk + 'static,
        limits: Limits,
        observers: Vec<Arc<dyn Observer<P>>>,
    ) -> Result<(Self, Writer<P>), OpenError> {
        let recovered = if disk.is_forgetful() {
            Recovered::empty(limits)
        } else {
            Recovered::read(Box::new(disk), limits)?
        };
        let snapshot = recovered.head.snapshot();
        for observer in &observers {
            observer.reset(&snapshot);
        }
        let shared = Arc::new(Shared::new(snapshot, recovered.rings, limits));
        let (sender, queue) = mpsc::channel(limits.queue_transactions);
        let writer = Writer {
            shared: Arc::clone(&shared),
            queue,
            observers,
            head: recovered.head,
            log: recovered.log,
            waiting: VecDeque::new(),
            torn_bytes: recovered.torn_bytes,
        };
        Ok((Self { shared, queue: sender }, writer))
    }
}

/// What a disk gave.
struct Recovered<P> {
    head: Head<P>,
    rings: Rings<P>,
    log: Option<Log>,
    torn_bytes: u64,
}

impl<P: Payload> Recovered<P> {
    fn empty(limits: Limits) -> Self {
        let Builder { head, rings, .. } = Builder::new(limits);
        Self {
            head,
            rings,
            log: None,
            torn_bytes: 0,
        }
    }

    fn read(mut disk: Box<dyn Disk>, limits: Limits) -> Result<Self, OpenError> {
        if format::inspect(&mut *disk)? == Origin::Fresh {
            let mut log = Log::unsealed(disk, limits);
            log.seal(Revision::default())?;
            disk = log.into_disk();
        }
        format::declare(&mut *disk)?;
        let mut builder = Builder::new(limits);
        let found = log::replay(&mut *disk, &mut |step| builder.step(step).map_err(Into::into))?;
        builder.head.revision = found.revision;
        let mut log = Log::resume(disk, limits, &found)?;
        log.compact_bloated(&builder.head.state, found.revision)?;
        Ok(Self {
            head: builder.head,
            rings: builder.rings,
            log: Some(log),
            torn_bytes: found.torn_bytes,
        })
    }
}

/// Builds the state and the recent events from the log.
struct Builder<P> {
    head: Head<P>,
    rings: Rings<P>,
    limits: Limits,
    is_complete: bool,
    /// Collections and namespaces, each once: most keys share them.
    words: BTreeSet<Arc<str>>,
}

impl<P: Payload> Builder<P> {
    fn new(limits: Limits) -> Self {
        Self {
            head: Head {
                state: State::default(),
                revision: Revision::default(),
            },
            rings: Rings::new(Revision::default()),
            limits,
            is_complete: false,
            words: BTreeSet::new(),
        }
    }

    fn step(&mut self, step: Step<'_>) -> Result<(), Misfit> {
        match step {
            Step::Complete(revision) => {
                self.is_complete = true;
                self.rings = Rings::new(revision);
                Ok(())
            }
            Step::Record(record) => self.record(record),
        }
    }

    fn record(&mut self, record: Record<'_>) -> Result<(), Misfit> {
        let key = Key {
            collection: self.word(record.collection),
            namespace: self.word(record.namespace),
            name: record.name.into(),
        };
        match record.action {
            Action::Put(bytes) => self.put(key, record.revision, bytes),
            Action::Delete => self.delete(key, record.revision),
            Action::Carry(bytes) => self.carry(key, record.revision, bytes),
        }
    }

    fn put(&mut self, key: Key, revision: Revision, bytes: &[u8]) -> Result<(), Misfit> {
        let event = self.head.put(entry(key, revision, bytes)?);
        self.remember(event);
        Ok(())
    }

    fn delete(&mut self, key: Key, revision: Revision) -> Result<(), Misfit> {
        let Some(entry) = self.head.state.remove(&key) else {
            // A sweep had not come to the entry when it was deleted, and the segment with it is gone.
            return if self.is_complete {
                Err(Misfit::Deleted { key, revision })
            } else {
                Ok(())
            };
        };
        self.remember(Event {
            revision,
            kind: EventKind::Deleted,
            previous: Some(Arc::clone(&entry)),
            entry,
        });
        Ok(())
    }

    /// A repeated entry is either what the log said before, or news from before the log begins.
    fn carry(&mut self, key: Key, revision: Revision, bytes: &[u8]) -> Result<(), Misfit> {
        match self.head.state.get(&key) {
            Some(entry) if entry.revision == revision => Ok(()),
            None if !self.is_complete => {
                self.head.state.put(entry(key, revision, bytes)?);
                Ok(())
            }
            _ => Err(Misfit::Carried { key, revision }),
        }
    }

    /// Keeps an event for watchers. Before the state is whole, what was before an event is not known.
    fn remember(&mut self, event: Event<P>) {
        if self.is_complete {
            self.rings.push(&[Arc::new(event)], &self.limits).finish();
        }
    }

    fn word(&mut self, word: &str) -> Arc<str> {
        if let Some(known) = self.words.get(word) {
            return Arc::clone(known);
        }
        let word: Arc<str> = word.into();
        self.words.insert(Arc::clone(&word));
        word
    }
}

fn entry<P: Payload>(key: Key, revision: Revision, bytes: &[u8]) -> Result<Arc<Entry<P>>, Misfit> {
    match P::decode(&key, bytes) {
        Ok(payload) => Ok(Arc::new(Entry { key, revision, payload })),
        Err(source) => Err(Misfit::Payload { key, revision, source }),
    }
}
