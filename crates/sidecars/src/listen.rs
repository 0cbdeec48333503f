//! Accepting connections, no more than so many at a time, until the end. Owns the tasks; knows nothing of what is said.

use std::{io, net::SocketAddr, sync::Arc, time::Duration};

use thiserror::Error;
use tokio::{
    net::{TcpListener, TcpStream},
    sync::{OwnedSemaphorePermit, Semaphore},
    task::{JoinError, JoinSet},
    time::{sleep, timeout},
};
use tokio_util::sync::CancellationToken;

/// How long to pause when the system has no room for a further connection.
const CROWDED: Duration = Duration::from_millis(100);

/// Why nothing can be served.
#[derive(Debug, Error)]
#[error("nothing can be served on {address}: choose another address, or end what listens there")]
pub struct ListenError {
    address: SocketAddr,
    #[source]
    source: io::Error,
}

/// Takes a port.
pub(crate) async fn bind(address: SocketAddr) -> Result<TcpListener, ListenError> {
    TcpListener::bind(address)
        .await
        .map_err(|source| ListenError { address, source })
}

/// Hands every connection to a task of its own. Beyond the limit, further ones wait in the queue of the kernel. At the
/// stop nothing more is accepted; connections may go on until they end or the farewell is over.
pub async fn accept<F>(
    listener: TcpListener,
    limit: usize,
    farewell: Duration,
    stop: &CancellationToken,
    serve: impl Fn(TcpStream, SocketAddr) -> F,
) where
    F: Future<Output = ()> + Send + 'static,
{
    let mut tasks = JoinSet::new();
    let room = Arc::new(Semaphore::new(limit));
    while let Some((stream, remote, place)) = next(&listener, &room, stop).await {
        while let Some(ended) = tasks.try_join_next() {
            report(ended);
        }
        let serving = serve(stream, remote);
        tasks.spawn(async move {
            serving.await;
            drop(place);
        });
    }
    drop(listener);
    let all = async {
        while let Some(ended) = tasks.join_next().await {
            report(ended);
        }
    };
    // What goes on beyond the farewell is cut off with its tasks.
    drop(timeout(farewell, all).await);
}

/// The next connection with its place among all that there may be; none at the stop.
async fn next(
    listener: &TcpListener,
    room: &Arc<Semaphore>,
    stop: &CancellationToken,
) -> Option<(TcpStream, SocketAddr, OwnedSemaphorePermit)> {
    let place = stop.run_until_cancelled(Arc::clone(room).acquire_owned()).await?;
    let place = place.expect("the semaphore is never closed");
    loop {
        match stop.run_until_cancelled(listener.accept()).await? {
            Ok((stream, remote)) => {
                // Without it small messages wait for each other; a connection that is gone already does not matter.
                stream.set_nodelay(true).ok();
                return Some((stream, remote, place));
            }
            Err(error) => {
                tracing::debug!(%error, "A connection could not be accepted.");
                stop.run_until_cancelled(sleep(CROWDED)).await?;
            }
        }
    }
}

fn report(ended: Result<(), JoinError>) {
    if let Err(error) = ended
        && error.is_panic()
    {
        tracing::error!(%error, "A connection ended by a panic.");
    }
}
