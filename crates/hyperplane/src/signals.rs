//! How the process is told to end: SIGTERM or SIGINT once, politely; twice, at once.

use std::{convert::Infallible, io, process};

use tokio::signal::unix::{Signal, SignalKind, signal};

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
