//! The tasks of one connection: HTTP/2 runs every request on its own, so that they use all processors. They end with the
//! connection; nothing outlives it.

use std::sync::{Arc, Mutex, PoisonError};

use tokio::task::{JoinError, JoinSet};

/// Where requests of a connection run.
#[derive(Clone, Default)]
pub(super) struct Tasks(Arc<Mutex<JoinSet<()>>>);

impl Tasks {
    /// Ends all tasks at once.
    pub(super) fn abort(&self) {
        self.set(JoinSet::abort_all);
    }

    fn set<T>(&self, change: impl FnOnce(&mut JoinSet<()>) -> T) -> T {
        change(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl<F> hyper::rt::Executor<F> for Tasks
where
    F: Future<Output = ()> + Send + 'static,
{
    fn execute(&self, task: F) {
        self.set(|tasks| {
            while let Some(ended) = tasks.try_join_next() {
                report(ended);
            }
            tasks.spawn(task);
        });
    }
}

/// Says when a task ended by a panic: its request was not answered, all others go on.
pub(super) fn report(ended: Result<(), JoinError>) {
    if let Err(error) = ended
        && error.is_panic()
    {
        tracing::error!(%error, "A request ended by a panic.");
    }
}
