//! The loop of one controller: takes keys from the queue, runs them with bounds, and turns each ending into what
//! comes next. It knows keys and futures; the kind is hidden behind [`Prepare`].

use std::{
    collections::BTreeSet,
    panic::AssertUnwindSafe,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use futures::{FutureExt, future::BoxFuture};
use k8s_openapi::api::core::v1::ObjectReference;
use thiserror::Error;
use tokio::time::{Instant, sleep_until, timeout};
use tokio_util::sync::CancellationToken;
use tracing::Instrument;

use hyperplane_seams::Random;

use crate::{
    events::{EventType, Note, Recorder},
    failure::{Disposition, Failure},
    fence::Fence,
    inbox::Inbox,
    ledger::CONFIRM_WITHIN,
    metrics::to_gauge,
    object_key::ObjectKey,
    queue::Outcome,
    reconciler::Next,
    tasks::{Panicked, Tasks, panic_message},
};

/// Runs under way at a time, per controller. Unbounded runs have exhausted memory and file descriptors in the field.
pub const CONCURRENCY: usize = 8;
/// A run may take this long; then it is dropped and retried, so that one hung call does not hold a slot.
pub const DEADLINE: Duration = Duration::from_mins(2);
/// Every object is looked at this often although nothing seems to have changed.
pub const RESYNC: Duration = Duration::from_hours(1);
/// How far a resync moves to either side, in percent, so that objects do not keep step.
const RESYNC_SPREAD_PERCENT: u32 = 20;
/// The loop goes round at least this often, to show that it lives.
const HEARTBEAT: Duration = Duration::from_secs(15);
/// Retries are expected noise; people hear of them from this many in a row.
const REPORT_RETRIES_FROM: u32 = 3;

/// Finds the object of a key and makes its run; none if there is no such object.
pub(crate) type Prepare = Arc<dyn Fn(&ObjectKey) -> Option<Prepared> + Send + Sync>;

/// A run that is about to start.
pub(crate) struct Prepared {
    pub(crate) about: ObjectReference,
    /// There is no such object: only what is left of it is removed.
    pub(crate) is_sweep: bool,
    pub(crate) is_unconfirmed: Arc<AtomicBool>,
    /// How far from this one the next run starts at least.
    pub(crate) gap: Duration,
    pub(crate) work: BoxFuture<'static, Result<Next, Failure>>,
}

/// Everything the loop needs.
pub(crate) struct Runner {
    pub(crate) inbox: Arc<Inbox>,
    pub(crate) prepare: Prepare,
    pub(crate) synced: Vec<CancellationToken>,
    pub(crate) fence: Fence,
    pub(crate) recorder: Recorder,
    pub(crate) random: Random,
    pub(crate) concurrency: usize,
    pub(crate) deadline: Duration,
    pub(crate) resync: Duration,
    pub(crate) drain: Duration,
}

/// A run that has ended.
struct Ended {
    key: ObjectKey,
    about: ObjectReference,
    is_sweep: bool,
    is_unconfirmed: bool,
    took: Duration,
    result: Result<Next, Failure>,
}

#[derive(Debug, Error)]
enum RunError {
    #[error("the reconcile took longer than {0:?}")]
    DeadlineExceeded(Duration),
    #[error("the reconcile panicked: {0}; this is a defect, please report it")]
    Panicked(String),
}

impl Runner {
    /// Runs until `stop`, then lets the runs under way finish for a while.
    pub(crate) async fn run(mut self, stop: CancellationToken) {
        self.inbox.metrics.concurrency.set(to_gauge(self.concurrency));
        let mut turns = self.fence.subscribe();
        let (mut tasks, mut running) = (Tasks::new(), BTreeSet::new());
        if !self.wait_until_synced(&stop).await {
            return;
        }
        loop {
            self.inbox.beat();
            self.start(&mut tasks, &mut running);
            let wake = self.next_wake(running.len());
            tokio::select! {
                biased;
                () = stop.cancelled() => break,
                Ok(()) = turns.changed() => self.turn(&mut tasks, &mut running).await,
                Some(ended) = tasks.next(), if !tasks.is_empty() => self.finish(ended, &mut running),
                () = self.inbox.added() => {}
                () = sleep_until(wake) => {}
            }
        }
        self.finish_all(&mut tasks, &mut running).await;
    }

    /// Reads are true only when every cache of the controller has had its first list. False if stopped before.
    async fn wait_until_synced(&self, stop: &CancellationToken) -> bool {
        for synced in &self.synced {
            loop {
                self.inbox.beat();
                tokio::select! {
                    biased;
                    () = stop.cancelled() => return false,
                    () = synced.cancelled() => break,
                    () = tokio::time::sleep(HEARTBEAT) => {}
                }
            }
        }
        true
    }

    /// Starts whatever is due, within the bounds.
    fn start(&self, tasks: &mut Tasks<Ended>, running: &mut BTreeSet<ObjectKey>) {
        while running.len() < self.concurrency && self.fence.is_leader() {
            let Some(popped) = self.inbox.pop() else {
                break;
            };
            let key = popped.key;
            match (self.prepare)(&key) {
                Some(prepared) => {
                    self.inbox.space(&key, prepared.gap);
                    running.insert(key.clone());
                    tasks.spawn(format!("{} {key}", self.inbox.name), self.guarded(key, prepared));
                }
                None => {
                    self.inbox.done(&key, Outcome::Gone, None);
                }
            }
        }
        self.inbox.metrics.active_workers.set(to_gauge(running.len()));
    }

    /// A run with its deadline and its panics caught: neither concerns any other object.
    fn guarded(&self, key: ObjectKey, prepared: Prepared) -> impl Future<Output = Ended> + Send + 'static {
        let deadline = self.deadline;
        let resource_version = prepared.about.resource_version.as_deref();
        let span = tracing::info_span!("reconcile", controller = %self.inbox.name, object = %key, resource_version);
        let run = async move {
            let started = Instant::now();
            let result = match timeout(deadline, AssertUnwindSafe(prepared.work).catch_unwind()).await {
                Ok(Ok(result)) => result,
                Ok(Err(payload)) => Err(Failure::fatal(RunError::Panicked(panic_message(payload.as_ref())))),
                Err(_) => Err(Failure::retry(RunError::DeadlineExceeded(deadline))),
            };
            Ended {
                key,
                about: prepared.about,
                is_sweep: prepared.is_sweep,
                is_unconfirmed: prepared.is_unconfirmed.load(Ordering::Relaxed),
                took: started.elapsed(),
                result,
            }
        };
        run.instrument(span)
    }

    fn next_wake(&self, running: usize) -> Instant {
        let heartbeat = Instant::now() + HEARTBEAT;
        let may_start = running < self.concurrency && self.fence.is_leader();
        let due = may_start.then(|| self.inbox.next_due()).flatten();
        due.map_or(heartbeat, |due| due.min(heartbeat))
    }

    /// Losing the lease ends every run where it stands: another process may be doing the same work by now.
    async fn turn(&self, tasks: &mut Tasks<Ended>, running: &mut BTreeSet<ObjectKey>) {
        if !self.fence.is_leader() {
            self.abort(tasks, running).await;
        }
    }

    async fn abort(&self, tasks: &mut Tasks<Ended>, running: &mut BTreeSet<ObjectKey>) {
        tasks.abort().await;
        for key in std::mem::take(running) {
            self.inbox.put_back(&key);
        }
        self.inbox.metrics.active_workers.set(0);
    }

    async fn finish_all(&mut self, tasks: &mut Tasks<Ended>, running: &mut BTreeSet<ObjectKey>) {
        let deadline = Instant::now() + self.drain;
        while !tasks.is_empty() {
            tokio::select! {
                biased;
                Some(ended) = tasks.next() => self.finish(ended, running),
                () = sleep_until(deadline) => {
                    tracing::warn!(controller = %self.inbox.name, left = tasks.len(), "Runs were cut short at shutdown.");
                    self.abort(tasks, running).await;
                }
            }
        }
    }

    fn finish(&mut self, ended: Result<Ended, Panicked>, running: &mut BTreeSet<ObjectKey>) {
        let ended = match ended {
            Ok(ended) => ended,
            Err(panicked) => {
                // The run itself is caught inside; only a defect of the runner comes here.
                tracing::error!(task = %panicked.task, message = %panicked.message, "Task panicked.");
                return;
            }
        };
        running.remove(&ended.key);
        self.inbox.metrics.active_workers.set(to_gauge(running.len()));
        if !self.fence.is_leader() {
            self.inbox.put_back(&ended.key);
            return;
        }
        let outcome = self.outcome(&ended);
        let failure = ended.result.as_ref().err().map(Failure::report);
        let failures = self.inbox.done(&ended.key, outcome, failure);
        match &ended.result {
            Ok(next) => {
                let word = if *next == Next::OnChange {
                    "success"
                } else {
                    "requeue_after"
                };
                self.inbox.metrics.reconciled(word, ended.took);
                tracing::debug!(controller = %self.inbox.name, object = %ended.key, "Reconciled.");
            }
            Err(failure) => {
                let is_wait = failure.disposition() == Disposition::Wait;
                let word = if is_wait { "requeue" } else { "error" };
                self.inbox.metrics.reconciled(word, ended.took);
                self.report(&ended, failure, failures);
            }
        }
    }

    fn outcome(&mut self, ended: &Ended) -> Outcome {
        let resync = self.random.spread(self.resync, RESYNC_SPREAD_PERCENT);
        let after = match &ended.result {
            Err(Failure::Retry(_)) => return Outcome::Backoff,
            // Nothing is left of it, not even a reason to look again.
            Ok(_) if ended.is_sweep => return Outcome::Gone,
            Ok(Next::After(after)) | Err(Failure::WaitUntil { after, .. }) => resync.min(*after),
            Ok(Next::OnChange) | Err(_) => resync,
        };
        // What was written and is not in the caches yet may have been undone before they could show it; then no
        // event will ever come, so the next look must not depend on one.
        Outcome::Again(if ended.is_unconfirmed {
            after.min(CONFIRM_WITHIN)
        } else {
            after
        })
    }

    fn report(&self, ended: &Ended, failure: &Failure, failures: u32) {
        let disposition = failure.disposition();
        self.inbox.metrics.failed(disposition);
        let (controller, object, error) = (&self.inbox.name, &ended.key, failure.report());
        let type_ = match disposition {
            Disposition::Fatal => {
                if let Failure::Fatal(source) = failure
                    && matches!(source.downcast_ref(), Some(RunError::Panicked(_)))
                {
                    self.inbox.metrics.panics.inc();
                }
                tracing::error!(%controller, %object, %error, "Reconcile failed for good.");
                EventType::Warning
            }
            Disposition::User => {
                tracing::info!(%controller, %object, %error, "Input is invalid.");
                EventType::Warning
            }
            Disposition::Wait => {
                tracing::debug!(%controller, %object, %error, "Reconcile waits.");
                EventType::Normal
            }
            // What passes with the next attempts is no news: conflicts, servers that restart.
            Disposition::Retry if failures < REPORT_RETRIES_FROM => {
                tracing::debug!(%controller, %object, %error, failures, "Reconcile failed and will be retried.");
                EventType::Warning
            }
            Disposition::Retry => {
                tracing::warn!(%controller, %object, %error, failures, "Reconcile failed and will be retried.");
                EventType::Warning
            }
        };
        if disposition != Disposition::Retry || failures >= REPORT_RETRIES_FROM {
            self.recorder.record(Note {
                about: ended.about.clone(),
                type_,
                reason: disposition.meaning().event_reason,
                message: error,
            });
        }
    }
}
