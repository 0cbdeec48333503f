//! The one place where tasks are spawned. Every task has a name, is joined, and dies with its group.

use std::panic::AssertUnwindSafe;

use futures::FutureExt;
use tokio::task::JoinSet;

/// A group of named tasks; dropping it ends them all.
#[derive(Debug, Default)]
pub(crate) struct Tasks<T: 'static> {
    set: JoinSet<Result<T, Panicked>>,
}

/// A task ended by panic.
#[derive(Debug)]
pub(crate) struct Panicked {
    pub(crate) task: String,
    pub(crate) message: String,
}

impl<T: Send + 'static> Tasks<T> {
    pub(crate) fn new() -> Self {
        Self { set: JoinSet::new() }
    }

    pub(crate) fn spawn(&mut self, name: impl Into<String>, work: impl Future<Output = T> + Send + 'static) {
        let name = name.into();
        self.set.spawn(async move {
            let outcome = AssertUnwindSafe(work).catch_unwind().await;
            outcome.map_err(|payload| Panicked {
                task: name,
                message: panic_message(payload.as_ref()),
            })
        });
    }

    /// The result of the next task that ends; none if there is none left.
    pub(crate) async fn next(&mut self) -> Option<Result<T, Panicked>> {
        loop {
            // Only aborted tasks end with an error here: panics are caught above.
            if let Ok(result) = self.set.join_next().await? {
                return Some(result);
            }
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.set.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.set.is_empty()
    }

    /// Ends all tasks where they stand and waits until they are gone.
    pub(crate) async fn abort(&mut self) {
        self.set.shutdown().await;
    }
}

/// The text of a panic, as far as it has one.
pub(crate) fn panic_message(payload: &(dyn std::any::Any + Send)) -> String {
    let text = payload.downcast_ref::<&str>().map(ToString::to_string);
    text.or_else(|| payload.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "no message".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn results_and_panics_are_joined_and_dropping_ends_the_rest() {
        let mut tasks = Tasks::new();
        tasks.spawn("good", async { 1 });
        tasks.spawn("bad", async { panic!("on purpose") });
        let mut seen = Vec::new();
        while let Some(result) = tasks.next().await {
            seen.push(result.map_err(|panicked| (panicked.task, panicked.message)));
        }
        seen.sort();
        assert_eq!(seen, [Ok(1), Err(("bad".to_owned(), "on purpose".to_owned()))]);
        let (alive, gone) = tokio::sync::oneshot::channel::<()>();
        let mut tasks = Tasks::new();
        tasks.spawn("waits", async move {
            futures::future::pending::<()>().await;
            drop(alive);
        });
        drop(tasks);
        assert!(gone.await.is_err());
    }
}
