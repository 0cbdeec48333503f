//! What runs beside a server in the same process. Owns the tasks; knows nothing of what they do.

use std::future::pending;

use anyhow::anyhow;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

/// Tasks that never end by themselves; at first there are none.
#[derive(Default)]
pub(crate) struct Parts {
    tasks: JoinSet<anyhow::Result<()>>,
    stop: CancellationToken,
}

impl Parts {
    /// Starts a part, which is told by the token when to end.
    pub(crate) fn start<F>(&mut self, part: impl FnOnce(CancellationToken) -> F)
    where
        F: Future<Output = anyhow::Result<()>> + Send + 'static,
    {
        self.tasks.spawn(part(self.stop.clone()));
    }

    /// Waits until something ends that never should.
    pub(super) async fn failed(&mut self) -> anyhow::Error {
        let ended = match self.tasks.join_next().await {
            Some(Ok(ended)) => ended,
            Some(Err(error)) => Err(error.into()),
            None => return pending().await,
        };
        ended
            .err()
            .unwrap_or_else(|| anyhow!("a part ended: this is a mistake of ours"))
    }

    /// Tells all of them to end, and waits until they have.
    pub(super) async fn end(mut self) {
        self.stop.cancel();
        while self.tasks.join_next().await.is_some() {}
    }
}
