//! One connection from its beginning to its end. Owns all limits in time and size; knows nothing of what is answered.

use std::{convert::Infallible, pin::pin, time::Duration};

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::Full;
use hyper::{body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    time::timeout,
};
use tokio_util::sync::CancellationToken;

use crate::{service::Service, tls::Certificate};

/// How long a handshake may take.
const HANDSHAKE: Duration = Duration::from_secs(10);
/// How long a request's head may take to arrive, and a connection may be silent.
const HEAD: Duration = Duration::from_secs(10);
/// Bytes of a request's head; the least that hyper takes.
const HEAD_BYTES: usize = 8 << 10;
/// How long a connection may last: a megabyte over a slow line, and no more.
const LIFE: Duration = Duration::from_mins(5);

/// Serves a machine over TLS: a socket, or a pipe in memory. Once `stop` is cancelled, the connection ends as soon as its
/// request does.
pub async fn serve_machine<I>(io: I, certificate: Certificate, service: Service, stop: CancellationToken)
where
    I: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let handshake = timeout(HANDSHAKE, certificate.acceptor().accept(io));
    match stop.run_until_cancelled(handshake).await {
        Some(Ok(Ok(stream))) => serve(stream, true, &stop, |request| service.respond(request)).await,
        Some(Ok(Err(error))) => tracing::debug!(%error, "A handshake failed."),
        Some(Err(_)) => tracing::debug!("A handshake took too long."),
        None => {}
    }
}

/// Serves a connection over which HTTP is spoken.
pub(crate) async fn serve<I>(
    io: I,
    is_kept: bool,
    stop: &CancellationToken,
    respond: impl Fn(&Request<Incoming>) -> Response<Full<Bytes>>,
) where
    I: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let service = service_fn(async |request: Request<Incoming>| Ok::<_, Infallible>(respond(&request)));
    let mut builder = http1::Builder::new();
    builder
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD)
        .max_buf_size(HEAD_BYTES)
        .keep_alive(is_kept)
        .auto_date_header(false);
    let mut connection = pin!(builder.serve_connection(TokioIo::new(io), service));
    let serving = async {
        tokio::select! {
            // Which of two comes first must not be chance.
            biased;
            ended = connection.as_mut() => return ended,
            () = stop.cancelled() => connection.as_mut().graceful_shutdown(),
        }
        connection.await
    };
    match timeout(LIFE, serving).await {
        Ok(Ok(())) => {}
        Ok(Err(error)) => tracing::debug!(%error, "A connection broke off."),
        Err(_) => tracing::debug!("A connection took too long."),
    }
}
