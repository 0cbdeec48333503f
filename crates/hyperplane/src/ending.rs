//! How programs end. One that waits for something has failed when it is told to end before; one that serves has not.

use anyhow::bail;
use tokio_util::sync::CancellationToken;

use crate::signals::Signals;

/// Runs what ends by itself. A container that is told to end before must not look as if it were done: what comes after
/// it would start.
pub(crate) async fn finish<T, E>(work: impl Future<Output = Result<T, E>>, mut signals: Signals) -> anyhow::Result<T>
where
    E: Into<anyhow::Error>,
{
    tokio::select! {
        done = work => done.map_err(Into::into),
        () = signals.next() => bail!("told to end before it was done: start it again"),
    }
}

/// Runs what never ends by itself and has nothing to finish.
pub(crate) async fn until_told(work: impl Future<Output = ()>, mut signals: Signals) {
    tokio::select! {
        () = work => {}
        () = signals.next() => {}
    }
}

/// Runs what has something to finish once it is told to end. A second signal ends it at once.
pub(crate) async fn serve<E, F>(
    program: impl FnOnce(CancellationToken) -> F,
    mut signals: Signals,
) -> anyhow::Result<()>
where
    E: Into<anyhow::Error>,
    F: Future<Output = Result<(), E>>,
{
    let stop = CancellationToken::new();
    let mut program = std::pin::pin!(program(stop.clone()));
    let ended = tokio::select! {
        ended = &mut program => ended,
        () = signals.next() => {
            stop.cancel();
            tokio::select! {
                ended = program => ended,
                never = signals.end_at_next() => match never {},
            }
        }
    };
    ended.map_err(Into::into)
}
