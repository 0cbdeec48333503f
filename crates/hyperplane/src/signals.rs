//! How the process is told to end: SIGTERM or SIGINT once, politely; twice, at once.

use std::{convert::Infallible, io, process};

use tokio::{
    signal::unix::{Signal, SignalKind, signal},
    task::JoinSet,
};
use tokio_util::sync::CancellationToken;

/// The signals that end the process.
pub(crate) struct Signals {
    terminate: Signal,
    interrupt: Signal,
}

impl Signals {
    /// From now on these signals no longer end the process by themselves.
    pub(crate) fn new() -> io::Result<Self> {
        Ok(Self {
            terminate: signal(SignalKind::terminate())?,
            interrupt: signal(SignalKind::interrupt())?,
        })
    }

    /// Waits for the next signal.
    pub(crate) async fn next(&mut self) {
        tokio::select! {
            _ = self.terminate.recv() => {}
            _ = self.interrupt.recv() => {}
        }
    }

    /// Ends the process at the next signal. What was acknowledged is on disk, whatever happens.
    pub(crate) async fn end_at_next(mut self) -> Infallible {
        self.next().await;
        tracing::warn!("Ended at once, as a second signal asked for.");
        process::exit(1);
    }
}

/// Signals that are heard whatever the program is busy with, also while it starts.
pub(crate) struct Heard {
    told: CancellationToken,
    /// Ends with this value.
    _listening: JoinSet<Infallible>,
}

impl Heard {
    /// Listens on a task of its own: a start that reads much data keeps its thread to itself.
    pub(crate) fn new() -> io::Result<Self> {
        let mut signals = Signals::new()?;
        let told = CancellationToken::new();
        let mut listening = JoinSet::new();
        let first = told.clone();
        listening.spawn(async move {
            tokio::select! {
                () = signals.next() => first.cancel(),
                () = first.cancelled() => {}
            }
            signals.end_at_next().await
        });
        Ok(Self {
            told,
            _listening: listening,
        })
    }

    /// Does something unless a signal comes, or has come. What is not done then is dropped.
    pub(crate) async fn unless_told<T>(&self, work: impl Future<Output = T>) -> Option<T> {
        self.told.run_until_cancelled(work).await
    }

    /// Waits until the process is told to end.
    pub(crate) async fn told(&self) {
        self.told.cancelled().await;
    }

    /// Says that the end has begun, for whatever reason: from now on the next signal ends the process at once.
    pub(crate) fn ending(&self) {
        self.told.cancel();
    }
}
