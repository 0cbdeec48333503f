//! One connection from its handshake to its end. Owns timeouts and the order of the goodbye; knows nothing of listeners.

use std::{convert::Infallible, net::SocketAddr, pin::pin, sync::Arc};

use bytes::Bytes;
use http::{Request, Response};
use http_body::Body;
use hyper::{
    body::Incoming,
    server::conn::{http1, http2},
};
use hyper_util::{
    rt::{TokioIo, TokioTimer},
    server::graceful::GracefulConnection,
};
use rustls::pki_types::CertificateDer;
use tokio::{
    io::{AsyncRead, AsyncWrite},
    time::{Instant, sleep_until, timeout},
};
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::CancellationToken;
use tower::Service;

use super::{
    activity::Activity,
    limits::{ConnectionLimits, HEADERS},
    requests::{Context, RemoteAddress, requests},
    tasks::Tasks,
    tls::{HTTP_2, TlsSettings},
};
use crate::identity::PeerCertificates;

/// Serves one connection until its end: a socket, or a pipe in memory, where all timeouts follow tokio's clock and
/// certificates are judged by the clock of the settings. Once `stop` is cancelled it ends as soon as its requests do.
pub async fn serve_connection<I, S, B>(
    io: I,
    remote: SocketAddr,
    tls: TlsSettings,
    service: S,
    limits: ConnectionLimits,
    stop: CancellationToken,
) where
    I: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    S: Service<Request<Incoming>, Response = Response<B>, Error = Infallible, Future: Send + 'static>,
    S: Clone + Send + 'static,
    B: Body<Data = Bytes, Error = Infallible> + Send + 'static,
{
    let handshake = timeout(limits.handshake, TlsAcceptor::from(Arc::clone(&tls.config)).accept(io));
    let stream = match stop.run_until_cancelled(handshake).await {
        Some(Ok(Ok(stream))) => stream,
        Some(Ok(Err(error))) => return tracing::debug!(%remote, %error, "A handshake failed."),
        Some(Err(_)) => return tracing::debug!(%remote, "A handshake took too long."),
        None => return,
    };
    let (_, session) = stream.get_ref();
    let is_http_2 = session.alpn_protocol() == Some(HTTP_2);
    let activity = Arc::new(Activity::default());
    let context = Context {
        remote: RemoteAddress(remote),
        peer: session.peer_certificates().map(peer),
        clock: tls.clock,
        activity: Arc::clone(&activity),
    };
    let requests = requests(service, context);
    let drive = Drive { activity, limits, stop };
    let ended = if is_http_2 {
        let tasks = Tasks::default();
        let connection = http_2(&limits, tasks.clone()).serve_connection(TokioIo::new(stream), requests);
        let ended = drive.run(connection).await;
        tasks.abort();
        ended
    } else {
        drive
            .run(http_1(&limits).serve_connection(TokioIo::new(stream), requests))
            .await
    };
    if let Err(error) = ended {
        tracing::debug!(%remote, %error, "A connection broke.");
    }
}

fn peer(chain: &[CertificateDer<'_>]) -> PeerCertificates {
    PeerCertificates::new(chain.iter().map(|certificate| certificate.to_vec()).collect::<Vec<_>>())
}

fn http_1(limits: &ConnectionLimits) -> http1::Builder {
    let mut builder = http1::Builder::new();
    builder
        .timer(TokioTimer::new())
        .header_read_timeout(limits.idle)
        .max_buf_size(usize::try_from(limits.head_bytes).unwrap_or(usize::MAX))
        .max_headers(HEADERS)
        .auto_date_header(false);
    builder
}

fn http_2(limits: &ConnectionLimits, tasks: Tasks) -> http2::Builder<Tasks> {
    let mut builder = http2::Builder::new(tasks);
    builder
        .timer(TokioTimer::new())
        .max_concurrent_streams(limits.streams)
        .max_header_list_size(limits.head_bytes)
        .initial_stream_window_size(limits.stream_window_bytes)
        .initial_connection_window_size(limits.connection_window_bytes)
        .max_send_buf_size(limits.send_buffer_bytes)
        .keep_alive_interval(limits.ping_interval)
        .keep_alive_timeout(limits.ping_patience)
        .auto_date_header(false);
    builder
}

/// What decides how long a connection goes on.
struct Drive {
    activity: Arc<Activity>,
    limits: ConnectionLimits,
    stop: CancellationToken,
}

impl Drive {
    /// Runs a connection until it ends by itself, or was told to end and did, or did not in time.
    async fn run<C: GracefulConnection>(self, connection: C) -> Result<(), C::Error> {
        let mut connection = pin!(connection);
        tokio::select! {
            biased;
            ended = connection.as_mut() => return ended,
            () = self.until_unwanted() => connection.as_mut().graceful_shutdown(),
        }
        tokio::select! {
            biased;
            ended = connection.as_mut() => ended,
            () = self.until_given_up() => Ok(()),
        }
    }

    /// Waits until the server stops, or until the connection was without a request for some time.
    async fn until_unwanted(&self) {
        let idle = async {
            let mut before = None;
            loop {
                let changes = self.activity.changes();
                if before.replace(changes) == Some(changes) && self.activity.is_quiet() {
                    return;
                }
                sleep_until(Instant::now() + self.limits.idle).await;
            }
        };
        tokio::select! {
            biased;
            () = self.stop.cancelled() => {}
            () = idle => {}
        }
    }

    /// Waits until no request is under way any more, or too long.
    async fn until_given_up(&self) {
        let end = Instant::now() + self.limits.drain;
        loop {
            sleep_until((Instant::now() + self.limits.farewell).min(end)).await;
            if self.activity.is_quiet() || Instant::now() >= end {
                return;
            }
        }
    }
}
