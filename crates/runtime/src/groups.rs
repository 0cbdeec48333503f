//! The tasks of a running manager, in groups that end one after the other. Knows the order of shutdown and nothing of
//! what the tasks do.

use std::time::Duration;

use tokio_util::sync::CancellationToken;

use crate::tasks::{Panicked, Tasks};

/// How long events may take to be written at shutdown.
const FLUSH: Duration = Duration::from_secs(3);

/// All tasks, by the order in which they end.
#[derive(Default)]
pub(crate) struct Groups {
    pub(crate) controllers: Group,
    pub(crate) watches: Group,
    pub(crate) events: Group,
    pub(crate) lease: Group,
}

/// Tasks that are stopped together.
#[derive(Default)]
pub(crate) struct Group {
    tasks: Tasks<String>,
    stop: CancellationToken,
}

impl Groups {
    /// The first task that ends, although none should.
    pub(crate) async fn next(&mut self) -> Result<String, Panicked> {
        tokio::select! {
            biased;
            Some(ended) = self.controllers.tasks.next() => ended,
            Some(ended) = self.watches.tasks.next() => ended,
            Some(ended) = self.lease.tasks.next() => ended,
            Some(ended) = self.events.tasks.next() => ended,
            else => std::future::pending().await,
        }
    }

    /// Ends everything in order: runs finish while the caches live, events are written, the lease goes last.
    pub(crate) async fn shut_down(mut self) {
        self.controllers.finish().await;
        self.watches.tasks.abort().await;
        if tokio::time::timeout(FLUSH, self.events.finish()).await.is_err() {
            tracing::warn!("Some events were not written at shutdown.");
        }
        self.lease.finish().await;
    }
}

impl Group {
    pub(crate) fn spawn<F>(&mut self, name: impl Into<String>, run: impl FnOnce(CancellationToken) -> F)
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let name = name.into();
        let run = run(self.stop.clone());
        self.tasks.spawn(name.clone(), async move {
            run.await;
            name
        });
    }

    async fn finish(&mut self) {
        self.stop.cancel();
        while self.tasks.next().await.is_some() {}
    }
}
