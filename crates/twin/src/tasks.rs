//! The tasks of hosted clusters and of connections to them. Every one ends with the twin; nothing outlives it.

use std::sync::{Arc, Mutex, PoisonError};

use tokio::task::{JoinError, JoinSet};

/// Where tasks run. Cheap to clone; every clone is the same group.
#[derive(Clone, Default)]
pub(crate) struct Tasks(Arc<Mutex<Group>>);

#[derive(Default)]
struct Group {
    tasks: JoinSet<()>,
    is_closed: bool,
}

/// Ends all tasks of a group when it is dropped: a twin that is dropped in the middle leaves nothing behind.
pub(crate) struct Guard(Tasks);

impl Tasks {
    /// Runs a task, unless the group has ended.
    pub(crate) fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        let mut group = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        while let Some(ended) = group.tasks.try_join_next() {
            report(ended);
        }
        if !group.is_closed {
            group.tasks.spawn(task);
        }
    }

    /// Who ends them all.
    pub(crate) fn guard(&self) -> Guard {
        Guard(self.clone())
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        let mut group = self.0.0.lock().unwrap_or_else(PoisonError::into_inner);
        group.is_closed = true;
        group.tasks.abort_all();
    }
}

impl<F> hyper::rt::Executor<F> for Tasks
where
    F: Future<Output = ()> + Send + 'static,
{
    fn execute(&self, task: F) {
        self.spawn(task);
    }
}

fn report(ended: Result<(), JoinError>) {
    if let Err(error) = ended
        && error.is_panic()
    {
        tracing::error!(%error, "A task of a hosted cluster ended by a panic.");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn tasks_end_with_their_guard() {
        let tasks = Tasks::default();
        let guard = tasks.guard();
        let (alive, gone) = tokio::sync::oneshot::channel::<()>();
        tasks.spawn(async move {
            futures::future::pending::<()>().await;
            drop(alive);
        });
        drop(guard);
        assert!(gone.await.is_err());
        let (alive, gone) = tokio::sync::oneshot::channel::<()>();
        tasks.spawn(async move { alive.send(()).unwrap() });
        assert!(gone.await.is_err(), "nothing begins after the end");
    }
}
