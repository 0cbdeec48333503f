//! A store on a disk that fails, its watchers, and the model beside them. Owns the contract: what was acknowledged
//! survives, what was not is invisible or whole, and no watcher misses or repeats anything.

use std::{collections::BTreeMap, sync::Arc};

use hyperplane_store::{
    AtError, CommitError, Event, FaultyDisk, Limits, OpenError, Revision, Snapshot, Store, Watcher, Writer,
    WriterError, fsck,
};
use tokio::{runtime, task::JoinHandle};

use crate::{
    model::{Entries, Happening, Model, Transaction},
    text::Text,
    workload::{COLLECTIONS, Workload},
};

/// Small enough that a short story has many segments, sweeps in several steps, and rings that overflow.
pub const LIMITS: Limits = Limits {
    queue_transactions: 64,
    queue_bytes: 1 << 20,
    transaction_operations: 8,
    transaction_bytes: 64 << 10,
    batch_operations: 6,
    batch_bytes: 8 << 10,
    ring_events: 12,
    ring_bytes: 16 << 10,
    pinned_snapshots: 3,
    pinned_revisions: 40,
    segment_bytes: 2 << 10,
    sweep_bytes: 2 << 10,
    sweep_step_bytes: 600,
};

/// Runs a story on a runtime of its own, where tasks take turns in a fixed order.
pub fn simulate<T>(story: impl AsyncFnOnce() -> T) -> T {
    let runtime = runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(story())
}

pub struct World {
    pub disk: FaultyDisk,
    pub model: Model,
    process: Option<Process>,
    /// Transactions that failed: they may have happened, wholly and in this order.
    doubtful: Vec<Transaction>,
    followers: BTreeMap<&'static str, Follower>,
}

/// An open store.
struct Process {
    store: Store<Text>,
    writer: JoinHandle<Result<(), WriterError>>,
}

/// A watcher, and everything that it was told.
struct Follower {
    watcher: Option<Watcher<Text>>,
    position: Revision,
}

impl World {
    pub fn new() -> Self {
        Self {
            disk: FaultyDisk::new(),
            model: Model::default(),
            process: None,
            doubtful: Vec::new(),
            followers: BTreeMap::new(),
        }
    }

    /// Opens the store and checks that it is what the model says, or a possible end of what was doubtful.
    pub fn open(&mut self) -> Result<(), OpenError> {
        let (store, writer): (Store<Text>, Writer<Text>) = Store::open(self.disk.clone(), LIMITS, Vec::new())?;
        self.settle_doubts(&store.snapshot());
        self.process = Some(Process {
            writer: tokio::spawn(writer.run()),
            store,
        });
        self.resume_followers();
        Ok(())
    }

    /// Ends the process where it stands.
    pub async fn abandon(&mut self) {
        for follower in self.followers.values_mut() {
            follower.watcher = None;
        }
        if let Some(process) = self.process.take() {
            process.writer.abort();
            drop(process.writer.await);
        }
    }

    /// Closes the store and waits for the writer.
    pub async fn close(&mut self) -> Result<(), WriterError> {
        let Some(process) = self.process.take() else {
            return Ok(());
        };
        process.store.close();
        let end = process.writer.await.unwrap();
        let late = process
            .store
            .commit(Workload::new(0).round(&self.model).remove(0))
            .await;
        assert!(matches!(late, Err(CommitError::Closed | CommitError::Failed)));
        assert_eq!(entries(&process.store.snapshot()), self.model.entries, "reads go on");
        end
    }

    pub fn store(&self) -> &Store<Text> {
        &self.process.as_ref().unwrap().store
    }

    /// Sends transactions at once and checks every answer. Says whether the disk is still fine.
    pub async fn round(&mut self, transactions: Vec<Transaction>) -> bool {
        let mut answers = Vec::new();
        for transaction in transactions {
            let (store, sent) = (self.store().clone(), transaction.clone());
            let answer = tokio::spawn(async move { store.commit(sent).await });
            answers.push((transaction, answer));
        }
        let mut is_fine = true;
        for (transaction, answer) in answers {
            let answer = answer.await.unwrap();
            if matches!(answer, Err(CommitError::Failed)) {
                self.doubtful.push(transaction);
                is_fine = false;
                continue;
            }
            assert!(is_fine, "after a failure everything fails");
            self.compare(&transaction, answer);
        }
        assert_eq!(entries(&self.store().snapshot()), self.model.entries);
        is_fine
    }

    fn compare(&mut self, transaction: &Transaction, answer: Result<Vec<Arc<Event<Text>>>, CommitError<Text>>) {
        match (answer, self.model.apply(transaction)) {
            (Ok(events), Ok(happened)) => assert_eq!(happenings(&events), happened),
            (Err(CommitError::Conflict { operation, current }), Err((index, version))) => {
                assert_eq!(operation, index);
                assert_eq!(current.map(|entry| (entry.revision, entry.payload.0.clone())), version);
            }
            (answer, expected) => panic!("the store says {answer:?}, the model says {expected:?}"),
        }
    }

    /// Lets every watcher catch up and compares what it is told with the model.
    pub fn follow(&mut self) {
        for (collection, follower) in &mut self.followers {
            let Some(watcher) = &mut follower.watcher else { continue };
            let mut told = Vec::new();
            let lagged = loop {
                match watcher.try_next() {
                    Ok(Some(event)) => told.push(event),
                    Ok(None) => break false,
                    Err(_) => break true,
                }
            };
            let expected = self.model.events(collection, follower.position);
            assert_eq!(happenings(&told), expected[..told.len()], "events of {collection}");
            follower.position = watcher.revision();
            if lagged {
                assert!(
                    expected.len() > LIMITS.ring_events / 2,
                    "a watcher was cut that had not fallen behind"
                );
                follower.watcher = None;
            } else {
                assert_eq!(told.len(), expected.len(), "a watcher was told too little");
                assert_eq!(follower.position, self.model.revision(), "a bookmark is behind");
            }
        }
        self.resume_followers();
    }

    /// Compares the state at an old revision with the model, if it can still be had.
    pub fn look_back(&self, revision: Revision) {
        match self.store().at(revision) {
            Ok(snapshot) => {
                assert_eq!(snapshot.revision(), revision);
                assert_eq!(entries(&snapshot), self.model.at(revision), "at revision {revision}");
            }
            Err(AtError::TooOld { oldest }) => assert!(revision < oldest && oldest <= self.model.revision()),
            Err(AtError::Future { current }) => {
                assert!(revision > current);
                assert_eq!(current, self.model.revision());
            }
        }
    }

    pub fn assert_clean(&self) {
        let report = fsck(&mut self.disk.clone());
        assert!(report.is_clean(), "{report}");
        let files = self.disk.files().into_keys().filter(|name| name.starts_with("log-"));
        assert_eq!(
            report.segments,
            files.count() as u64,
            "segments that nobody needs are left"
        );
        assert_eq!(report.revision, self.model.revision());
        assert_eq!(report.entries, self.model.entries.len());
    }

    /// What failed may have happened: in order, a whole number of transactions, judged like any other.
    fn settle_doubts(&mut self, snapshot: &Snapshot<Text>) {
        for transaction in std::mem::take(&mut self.doubtful) {
            if self.model.revision() >= snapshot.revision() {
                break;
            }
            let _conflict = self.model.apply(&transaction);
        }
        assert_eq!(snapshot.revision(), self.model.revision());
        assert_eq!(entries(snapshot), self.model.entries);
    }

    /// Watches on from where each follower was; one that is too far behind reads the state and goes on from there.
    fn resume_followers(&mut self) {
        let store = self.store().clone();
        for collection in COLLECTIONS {
            let follower = self.followers.entry(collection).or_insert(Follower {
                watcher: None,
                position: Revision::default(),
            });
            if follower.watcher.is_none() {
                follower.watcher = Some(store.watch(collection, follower.position).unwrap_or_else(|too_old| {
                    assert!(too_old.oldest > follower.position);
                    follower.position = store.snapshot().revision();
                    store.watch(collection, follower.position).unwrap()
                }));
            }
        }
    }
}

/// Everything in a snapshot, read in every way that there is.
pub fn entries(snapshot: &Snapshot<Text>) -> Entries {
    let mut all = Entries::new();
    for collection in snapshot.collections() {
        let before = all.len();
        for entry in snapshot.range(collection, None, None) {
            assert_eq!(
                snapshot.get(&entry.key).map(|found| found.revision),
                Some(entry.revision)
            );
            all.insert(entry.key.clone(), (entry.revision, entry.payload.0.clone()));
        }
        assert_eq!(all.len() - before, snapshot.count(collection));
    }
    assert_eq!(snapshot.entries().count(), all.len());
    all
}

fn happenings(events: &[Arc<Event<Text>>]) -> Vec<Happening> {
    let happening = |event: &Arc<Event<Text>>| Happening {
        revision: event.revision,
        kind: event.kind,
        key: event.entry.key.clone(),
        version: (event.entry.revision, event.entry.payload.0.clone()),
        previous: event
            .previous
            .as_ref()
            .map(|entry| (entry.revision, entry.payload.0.clone())),
    };
    events.iter().map(happening).collect()
}
