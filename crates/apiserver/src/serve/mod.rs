//! The server on sockets: listeners, TLS, connections. Owns everything between the network and the tower service, which
//! it is generic over; knows nothing of Kubernetes.
//!
//! Nothing leaks: every connection is a task of the future that [`serve`] returns, and every request a task of its
//! connection. Dropping the future ends them all.

mod activity;
mod asking;
mod connection;
mod date;
mod limits;
mod requests;
mod tasks;
mod tls;

use std::{convert::Infallible, io, net::SocketAddr, time::Duration};

use bytes::Bytes;
use http::{Request, Response};
use http_body::Body;
use hyper::body::Incoming;
use tokio::{
    net::{TcpListener, TcpStream},
    task::JoinSet,
};
use tokio_util::sync::CancellationToken;
use tower::Service;

pub use self::{
    connection::serve_connection,
    limits::ConnectionLimits,
    requests::RemoteAddress,
    tls::{TlsError, TlsSettings},
};

/// How long to wait after the system refused to accept: it is out of files or memory, and asking at once again would take
/// the processor from those who could free some.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// Accepts connections and serves them until `stop` is cancelled and the last one ended; that takes no longer than the
/// limits' `drain`. Long answers such as watches have to be ended by the service itself, or are cut then.
pub async fn serve<S, B>(
    listener: TcpListener,
    tls: TlsSettings,
    service: S,
    limits: ConnectionLimits,
    stop: CancellationToken,
) where
    S: Service<Request<Incoming>, Response = Response<B>, Error = Infallible, Future: Send + 'static>,
    S: Clone + Send + 'static,
    B: Body<Data = Bytes, Error = Infallible> + Send + 'static,
{
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            () = stop.cancelled() => break,
            Some(ended) = connections.join_next() => tasks::report(ended),
            accepted = accept(&listener), if connections.len() < limits.connections => {
                let Some((stream, remote)) = accepted else { continue };
                let stop = stop.clone();
                connections.spawn(serve_connection(stream, remote, tls.clone(), service.clone(), limits, stop));
            }
        }
    }
    drop(listener);
    while let Some(ended) = connections.join_next().await {
        tasks::report(ended);
    }
}

async fn accept(listener: &TcpListener) -> Option<(TcpStream, SocketAddr)> {
    match listener.accept().await {
        Ok((stream, remote)) => {
            // Answers and events are whole when they are written: waiting for more would only delay them.
            if let Err(error) = stream.set_nodelay(true) {
                tracing::debug!(%remote, %error, "A connection broke.");
                return None;
            }
            Some((stream, remote))
        }
        // The peer left before it was its turn.
        Err(error) if is_of_one_peer(&error) => None,
        Err(error) => {
            tracing::warn!(%error, "No connection can be accepted for the moment.");
            tokio::time::sleep(ACCEPT_PAUSE).await;
            None
        }
    }
}

fn is_of_one_peer(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::ConnectionAborted | io::ErrorKind::ConnectionReset | io::ErrorKind::ConnectionRefused
    )
}
