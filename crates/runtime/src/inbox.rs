//! The queue of one controller, shared between the watches that fill it and the runner that empties it. Owns the
//! lock, the wake-up and the queue's metrics; adding never waits.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Mutex,
    time::Duration,
};

use serde::Serialize;
use tokio::{sync::Notify, time::Instant};

use hyperplane_seams::Random;

use crate::{
    cache::Change,
    metrics::{ControllerMetrics, to_gauge},
    object_key::ObjectKey,
    queue::{Outcome, Popped, Priority, Queue},
    store::lock,
    trigger::is_edit,
};

/// Objects shown in diagnostics at most, so that the page stays readable by machines.
const SHOWN_LIMIT: usize = 10_000;

pub(crate) struct Inbox {
    pub(crate) name: String,
    pub(crate) metrics: ControllerMetrics,
    queue: Mutex<Queue<ObjectKey>>,
    wake: Notify,
    started: Instant,
    heartbeat: Mutex<Instant>,
    /// Why the last run of a key did not reach its goal.
    failures: Mutex<BTreeMap<ObjectKey, String>>,
}

/// What is known about one controller, for diagnostics.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ControllerStatus {
    /// Its name.
    pub name: String,
    /// Seconds since its loop last went round.
    pub heartbeat_age_seconds: u64,
    /// Objects that could run now.
    pub depth: usize,
    /// Every object with its failures and its next run.
    pub objects: Vec<ObjectStatus>,
}

/// What is known about one object of a controller.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ObjectStatus {
    /// Namespace and name.
    pub object: String,
    /// Retries in a row.
    pub failures: u32,
    /// Why the last run did not reach its goal.
    pub last_failure: Option<String>,
    /// Seconds until the next run that is due without a change.
    pub due_in_seconds: Option<u64>,
    /// Seconds since the run under way began.
    pub running_seconds: Option<u64>,
}

impl Inbox {
    pub(crate) fn new(name: &str, random: Random, metrics: ControllerMetrics) -> Self {
        Self {
            name: name.to_owned(),
            metrics,
            queue: Mutex::new(Queue::new(random)),
            wake: Notify::new(),
            started: Instant::now(),
            heartbeat: Mutex::new(Instant::now()),
            failures: Mutex::default(),
        }
    }

    /// Takes in changes of the controller's own kind; those of a status only if they are wanted.
    pub(crate) fn take(&self, changes: &[Change], wants_status: bool) {
        let (first, later): (Vec<_>, Vec<_>) = changes.iter().partition(|change| change.is_first_list);
        let (edits, others): (Vec<_>, Vec<_>) = later.into_iter().partition(|change| is_edit(change));
        let others = others.into_iter().filter(|_| wants_status);
        let others: BTreeSet<ObjectKey> = others.map(|change| change.key.clone()).collect();
        self.add(first.len() + edits.len() + others.len(), |queue, now| {
            queue.ramp(first.iter().map(|change| change.key.clone()), now);
            for change in edits {
                queue.add(change.key.clone(), Priority::Edited, now);
            }
            queue.add_related(others, now);
        });
    }

    /// Takes in keys that a related change concerns.
    pub(crate) fn take_related(&self, keys: BTreeSet<ObjectKey>) {
        self.add(keys.len(), |queue, now| queue.add_related(keys, now));
    }

    pub(crate) fn pop(&self) -> Option<Popped<ObjectKey>> {
        let popped = self.with(Queue::pop);
        if let Some(popped) = &popped {
            self.metrics.queue_duration.observe(popped.queued.as_secs_f64());
        }
        popped
    }

    /// Says how far apart runs of a key start at least, as long as nobody edits it.
    pub(crate) fn space(&self, key: &ObjectKey, gap: Duration) {
        self.with(|queue, _| queue.space(key, gap));
    }

    /// Reports the end of a run, with the failure that it had; hands back how often the key has failed in a row.
    pub(crate) fn done(&self, key: &ObjectKey, outcome: Outcome, failure: Option<String>) -> u32 {
        match failure {
            Some(failure) => lock(&self.failures).insert(key.clone(), failure),
            None => lock(&self.failures).remove(key),
        };
        self.with(|queue, now| {
            queue.done(key, outcome, now);
            queue.failures(key)
        })
    }

    pub(crate) fn put_back(&self, key: &ObjectKey) {
        self.with(|queue, now| queue.put_back(key, now));
    }

    /// Ends when something was added since it was last called.
    pub(crate) async fn added(&self) {
        self.wake.notified().await;
    }

    pub(crate) fn next_due(&self) -> Option<Instant> {
        let due = lock(&self.queue).next_due()?;
        self.started.checked_add(due)
    }

    pub(crate) fn beat(&self) {
        *lock(&self.heartbeat) = Instant::now();
    }

    pub(crate) fn heartbeat_age(&self) -> Duration {
        lock(&self.heartbeat).elapsed()
    }

    /// Brings the metrics up to date that are not counted but measured.
    pub(crate) fn measure(&self) {
        let (depth, runs) = self.with(|queue, now| {
            let runs: Vec<Duration> = queue.running_since().map(|since| now.saturating_sub(since)).collect();
            (queue.depth(now), runs)
        });
        self.metrics.depth.set(to_gauge(depth));
        self.metrics
            .unfinished_work
            .set(runs.iter().sum::<Duration>().as_secs_f64());
        let longest = runs.iter().max().copied().unwrap_or_default();
        self.metrics.longest_running.set(longest.as_secs_f64());
    }

    pub(crate) fn status(&self) -> ControllerStatus {
        let heartbeat_age_seconds = self.heartbeat_age().as_secs();
        let failures = lock(&self.failures).clone();
        self.with(|queue, now| ControllerStatus {
            name: self.name.clone(),
            heartbeat_age_seconds,
            depth: queue.depth(now),
            objects: queue
                .states()
                .take(SHOWN_LIMIT)
                .map(|state| ObjectStatus {
                    object: state.key.to_string(),
                    failures: state.failures,
                    last_failure: failures.get(&state.key).cloned(),
                    due_in_seconds: state.due.map(|due| due.saturating_sub(now).as_secs()),
                    running_seconds: state.running_since.map(|since| now.saturating_sub(since).as_secs()),
                })
                .collect(),
        })
    }

    fn add(&self, count: usize, change: impl FnOnce(&mut Queue<ObjectKey>, Duration)) {
        if count == 0 {
            return;
        }
        self.metrics.adds.inc_by(count as u64);
        self.with(change);
        // A permit is kept if nobody listens right now, so no wake-up is lost.
        self.wake.notify_one();
    }

    fn with<T>(&self, work: impl FnOnce(&mut Queue<ObjectKey>, Duration) -> T) -> T {
        let mut queue = lock(&self.queue);
        // Read under the lock, so that the queue never sees time run backwards.
        let now = self.started.elapsed();
        work(&mut queue, now)
    }
}
