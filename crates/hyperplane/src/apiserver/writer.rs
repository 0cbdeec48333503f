//! The thread of the store's writer, which blocks while the disk works.

use std::{io, thread};

use anyhow::anyhow;
use hyperplane_apiserver::Object;
use hyperplane_runtime::Disposition;
use hyperplane_store::Writer;
use tokio::{runtime, sync::oneshot};

use crate::failing::{DEFECT, in_order};

/// A writer that runs.
pub(super) struct WriterThread {
    /// Gone once somebody was told.
    ended: Option<oneshot::Receiver<anyhow::Result<()>>>,
}

impl WriterThread {
    /// Runs the writer on a thread of its own.
    pub(super) fn start(writer: Writer<Object>) -> io::Result<Self> {
        let runtime = runtime::Builder::new_current_thread().build()?;
        let (sender, ended) = oneshot::channel();
        let run = move || {
            let outcome = runtime.block_on(writer.run());
            let told = outcome.map_err(|error| in_order(Disposition::Fatal, "the store stopped", &error, DEFECT));
            // Nobody waits for it only when the process is about to end.
            sender.send(told).ok();
        };
        thread::Builder::new().name("store-writer".to_owned()).spawn(run)?;
        Ok(Self { ended: Some(ended) })
    }

    /// Waits until the writer has ended: after the store was closed and all that waited is written, or with an error, which
    /// is told once.
    pub(super) async fn ended(&mut self) -> anyhow::Result<()> {
        let Some(ended) = &mut self.ended else {
            return Ok(());
        };
        let outcome = ended.await;
        self.ended = None;
        outcome.unwrap_or_else(|_| Err(anyhow!("the store stopped by a panic: start again")))
    }
}
