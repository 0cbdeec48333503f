//! Probes and metrics of an operator, over plain HTTP. The answers are made elsewhere.

use std::{convert::Infallible, net::SocketAddr, time::Duration};

use anyhow::Context as _;
use bytes::Bytes;
use http::{Method, Request, Response};
use http_body_util::Full;
use hyper::{body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::{
    net::{TcpListener, TcpStream},
    task::JoinSet,
};

/// How long a request's head may take to arrive.
const HEAD: Duration = Duration::from_secs(5);
/// Bytes of a request's head.
const HEAD_BYTES: usize = 8 << 10;
/// Connections at the same time; further ones wait in the queue of the kernel.
const CONNECTIONS: usize = 32;
/// How long to pause when the system has no room for a further connection.
const CROWDED: Duration = Duration::from_millis(100);

/// Takes the port.
pub(crate) async fn bind(address: SocketAddr) -> anyhow::Result<TcpListener> {
    let listener = TcpListener::bind(address).await;
    listener.with_context(|| format!("nothing can be served on {address}: choose another --listen address"))
}

/// Answers for ever.
pub(crate) async fn serve<A>(listener: TcpListener, respond: A)
where
    A: Fn(&Method, &str) -> Response<String> + Clone + Send + Sync + 'static,
{
    let mut connections = JoinSet::new();
    loop {
        if connections.len() >= CONNECTIONS {
            connections.join_next().await;
        }
        match listener.accept().await {
            Ok((stream, _)) => {
                connections.spawn(answer(stream, respond.clone()));
            }
            Err(error) => {
                tracing::debug!(%error, "A connection could not be accepted.");
                tokio::time::sleep(CROWDED).await;
            }
        }
        while connections.try_join_next().is_some() {}
    }
}

async fn answer<A>(stream: TcpStream, respond: A)
where
    A: Fn(&Method, &str) -> Response<String> + Send + Sync,
{
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
