//! What runs beside a server in the same process. Owns the tasks; knows nothing of what they do.

use std::{future::pending, process::ExitCode};

use anyhow::anyhow;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use super::serve::Running;
use crate::{failing::DEFECT, signals::Heard};

/// Tasks that never end by themselves, and at most one piece of work whose end is that of the process. At first there is
/// nothing.
#[derive(Default)]
pub(crate) struct Parts {
    tasks: JoinSet<anyhow::Result<()>>,
    stop: CancellationToken,
    work: JoinSet<anyhow::Result<ExitCode>>,
    stop_work: CancellationToken,
}

impl Parts {
    /// Starts a part, which is told by the token when to end.
    pub(crate) fn start<F>(&mut self, part: impl FnOnce(CancellationToken) -> F)
    where
        F: Future<Output = anyhow::Result<()>> + Send + 'static,
    {
        self.tasks.spawn(part(self.stop.clone()));
    }

    /// Gives the process something to do: with its end the process ends, by its code. The token tells it to end before it
    /// is done.
    pub(crate) fn finish_with<F>(&mut self, work: impl FnOnce(CancellationToken) -> F)
    where
        F: Future<Output = anyhow::Result<ExitCode>> + Send + 'static,
    {
        self.work.spawn(work(self.stop_work.clone()));
    }

    /// Lives beside a server, if there is one, until a signal comes, the work is done or something ends that never should;
    /// then ends everything in order. A second signal ends the process at once.
    pub(crate) async fn live(mut self, mut server: Option<Running>, signals: &Heard) -> anyhow::Result<ExitCode> {
        let outcome = {
            let failed = async {
                match &mut server {
                    Some(server) => server.failed().await,
                    None => pending().await,
                }
            };
            tokio::select! {
                () = signals.told() => None,
                ended = self.ended() => Some(ended),
                error = failed => Some(Err(error)),
            }
        };
        signals.ending();
        let outcome = match outcome {
            Some(outcome) => outcome,
            None => self.interrupt().await,
        };
        self.end().await;
        match server {
            Some(server) => server.end().await.and(outcome),
            None => outcome,
        }
    }

    /// Waits until the work is done, or something ends that never should.
    async fn ended(&mut self) -> anyhow::Result<ExitCode> {
        let ended = tokio::select! {
            Some(done) = self.work.join_next() => return done?,
            Some(ended) = self.tasks.join_next() => ended?,
            else => return pending().await,
        };
        ended.and_then(|()| Err(anyhow!("a part ended: {DEFECT}")))
    }

    /// Tells the work to end before it is done, and waits until it has. Parts still run then: it may have something to put
    /// in order.
    async fn interrupt(&mut self) -> anyhow::Result<ExitCode> {
        self.stop_work.cancel();
        match self.work.join_next().await {
            Some(done) => done?,
            None => Ok(ExitCode::SUCCESS),
        }
    }

    /// Tells all of them to end, and waits until they have.
    async fn end(mut self) {
        self.work.shutdown().await;
        self.stop.cancel();
        while self.tasks.join_next().await.is_some() {}
    }
}
