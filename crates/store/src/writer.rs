//! The one writer. Owns the order of things: judge, make durable, tell observers, publish, wake, answer. Has no thread
//! and no task of its own; who opened the store drives it.

use std::{collections::VecDeque, fmt, mem, sync::Arc};

use thiserror::Error;
use tokio::sync::{mpsc, oneshot};

use crate::{
    batch::{Conflict, Head},
    entry::{Event, Observer, Payload},
    log::{Log, LogError},
    store::{CommitError, Outcome, Phase, Request, Shared},
};

/// Why the writer stopped. The store is poisoned: commits fail, reads go on.
#[derive(Debug, Error)]
pub enum WriterError {
    /// The log could not be written.
    #[error("the log could not be written: free space or repair the disk, then start again")]
    Log(#[from] LogError),
}

/// Drives a store's writes. Without it commits wait.
#[must_use = "a store without its writer takes no writes"]
pub struct Writer<P> {
    pub(crate) shared: Arc<Shared<P>>,
    pub(crate) queue: mpsc::Receiver<Request<P>>,
    pub(crate) observers: Vec<Arc<dyn Observer<P>>>,
    pub(crate) head: Head<P>,
    /// None where nothing is to be kept.
    pub(crate) log: Option<Log>,
    pub(crate) waiting: VecDeque<Request<P>>,
    pub(crate) torn_bytes: u64,
}

impl<P> fmt::Debug for Writer<P> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Writer({})", self.head.revision)
    }
}

/// The transactions of one batch that wait for their answer, and what will be answered.
type Answers<P> = Vec<(oneshot::Sender<Outcome<P>>, Result<usize, Conflict<P>>)>;

impl<P: Payload> Writer<P> {
    /// Bytes of a last write that never finished, which opening the store cut off. Nobody was told that it was done;
    /// it says that a process or a machine ended without closing the store.
    pub fn torn_bytes(&self) -> u64 {
        self.torn_bytes
    }

    /// Writes until the store is closed and what waited is done, or until the disk fails.
    ///
    /// It blocks while the disk works: a runtime with other things to do gives it a thread. Dropping the future closes
    /// the store; what was acknowledged stays.
    pub async fn run(mut self) -> Result<(), WriterError> {
        while !self.waiting.is_empty() || self.receive().await {
            let turn = self.turn();
            self.poison_on_error(turn)?;
        }
        self.shared.advance(Phase::Closed);
        let end = self.log.as_mut().map_or(Ok(()), Log::close);
        self.poison_on_error(end)
    }

    /// Waits for transactions and takes all that are there. There are none when the store was closed and is drained.
    async fn receive(&mut self) -> bool {
        let most = self.shared.limits.batch_operations;
        let mut arrived = Vec::new();
        loop {
            let count = tokio::select! {
                biased;
                count = self.queue.recv_many(&mut arrived, most) => count,
                () = self.shared.closing.notified(), if !self.queue.is_closed() => {
                    self.queue.close();
                    continue;
                }
            };
            self.waiting.extend(arrived);
            return count > 0;
        }
    }

    /// One batch, from judgement to answers.
    fn turn(&mut self) -> Result<(), LogError> {
        let mut events = Vec::new();
        let answers = self.judge(&mut events);
        if !events.is_empty() {
            if let Err(error) = self.record(&events) {
                // Before the answers, so that whoever gets one finds the store poisoned.
                self.shared.advance(Phase::Failed);
                refuse(answers);
                return Err(error);
            }
            self.publish(&events);
        }
        answer(answers, &events);
        self.shared.history.expire(self.head.revision, &self.shared.limits);
        match &mut self.log {
            Some(log) => log.maintain(&self.head.state, self.head.revision),
            None => Ok(()),
        }
    }

    /// Applies as many waiting transactions as fit into a batch to the head.
    fn judge(&mut self, events: &mut Vec<Arc<Event<P>>>) -> Answers<P> {
        let limits = self.shared.limits;
        let mut answers = Vec::new();
        let mut bytes = 0;
        while let Some(request) = self.waiting.pop_front() {
            let operations = events.len() + request.operations.len();
            let is_full = operations > limits.batch_operations || bytes + request.weight > limits.batch_bytes;
            if is_full && !answers.is_empty() {
                self.waiting.push_front(request);
                break;
            }
            bytes += request.weight;
            self.shared.release(request.weight);
            let judgement = self.head.apply(request.operations, events);
            answers.push((request.reply, judgement.map(|()| events.len())));
        }
        answers
    }

    fn record(&mut self, events: &[Arc<Event<P>>]) -> Result<(), LogError> {
        match &mut self.log {
            Some(log) => log.append(events, &self.head.state, self.head.revision),
            None => Ok(()),
        }
    }

    /// Shows a durable batch to observers, then to readers, then to watchers.
    fn publish(&mut self, events: &[Arc<Event<P>>]) {
        for observer in &self.observers {
            observer.committed(events);
        }
        let mut snapshot = self.head.snapshot();
        let mut aftermath = None;
        self.shared.published.send_modify(|published| {
            // Under the lock of the snapshot, so that who sees the one always finds the other.
            aftermath = Some(self.shared.rings.push(events, &self.shared.limits));
            mem::swap(published, &mut snapshot);
        });
        if let Some(aftermath) = aftermath {
            aftermath.finish();
        }
    }

    fn poison_on_error(&self, result: Result<(), LogError>) -> Result<(), WriterError> {
        result
            .inspect_err(|_| self.shared.advance(Phase::Failed))
            .map_err(WriterError::Log)
    }
}

/// Answers every transaction of a durable batch. Who no longer listens has given up on the answer, not on the write.
fn answer<P>(answers: Answers<P>, events: &[Arc<Event<P>>]) {
    let mut start = 0;
    for (reply, judgement) in answers {
        let outcome = match judgement {
            Ok(end) => Ok(events[mem::replace(&mut start, end)..end].to_vec()),
            Err(Conflict { operation, current }) => Err(CommitError::Conflict { operation, current }),
        };
        drop(reply.send(outcome));
    }
}

fn refuse<P>(answers: Answers<P>) {
    for (reply, _) in answers {
        drop(reply.send(Err(CommitError::Failed)));
    }
}
