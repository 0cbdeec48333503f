//! Probes and readers of metrics, over plain HTTP. Owns the limits of such a connection; what is answered is made
//! elsewhere.

use std::{convert::Infallible, time::Duration};

use bytes::Bytes;
use http::{Method, Request, Response};
use http_body_util::Full;
use hyper::{body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::TcpStream;

/// How long a request's head may take to arrive.
const HEAD: Duration = Duration::from_secs(5);

/// Bytes of a request's head; the least that hyper takes.
const HEAD_BYTES: usize = 8 << 10;

/// Answers the one request of a connection.
pub async fn answer(stream: TcpStream, respond: impl Fn(&Method, &str) -> Response<String>) {
    let service = service_fn(async |request: Request<Incoming>| {
        let response = respond(request.method(), request.uri().path());
        Ok::<_, Infallible>(response.map(|text| Full::new(Bytes::from(text))))
    });
    let mut builder = http1::Builder::new();
    builder
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD)
        .max_buf_size(HEAD_BYTES)
        .keep_alive(false)
        .auto_date_header(false);
    if let Err(error) = builder.serve_connection(TokioIo::new(stream), service).await {
        tracing::debug!(%error, "A probe broke off.");
    }
}
