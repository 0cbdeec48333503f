//! HTTP CONNECT, as programs with `HTTPS_PROXY` speak it. Owns the answers; the tunnel is opened elsewhere.

use std::{
    convert::Infallible,
    sync::{Mutex, PoisonError},
};

use bytes::Bytes;
use http::{HeaderValue, Method, Request, Response, StatusCode, header};
use http_body_util::Full;
use hyper::{
    body::Incoming,
    server::conn::http1,
    service::service_fn,
    upgrade::{self, OnUpgrade},
};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::{AsyncRead, AsyncWrite};

use super::{OpenError, Tunnels, WISH};
use crate::{
    patience::chain,
    place::Place,
    relay::{Silence, relay},
};

/// Bytes of a request's head: one line and some headers.
const HEAD_BYTES: usize = 16 << 10;

/// Lines of a request's head.
const HEADERS: usize = 64;

/// Serves one connection: a wish, and then the tunnel.
pub(crate) async fn serve<I>(stream: I, tunnels: &Tunnels, silence: Silence)
where
    I: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let wish = Mutex::new(None);
    let service = service_fn(async |request: Request<Incoming>| {
        let (answer, opened) = answer(request, tunnels).await;
        *wish.lock().unwrap_or_else(PoisonError::into_inner) = opened;
        Ok::<_, Infallible>(answer)
    });
    let mut builder = http1::Builder::new();
    builder
        .timer(TokioTimer::new())
        .header_read_timeout(WISH)
        .max_buf_size(HEAD_BYTES)
        .max_headers(HEADERS)
        .half_close(true)
        .auto_date_header(false);
    let served = builder.serve_connection(TokioIo::new(stream), service).with_upgrades();
    if let Err(error) = served.await {
        return tracing::debug!(%error, "A connection broke before it had a tunnel.");
    }
    let opened = wish.into_inner().unwrap_or_else(PoisonError::into_inner);
    let Some((upgraded, tunnel)) = opened else { return };
    match upgraded.await {
        Ok(upgraded) => {
            let ended = relay(TokioIo::new(upgraded), tunnel, silence).await;
            tracing::debug!(?ended, "A tunnel ended.");
        }
        Err(error) => tracing::debug!(%error, "A connection broke before it had a tunnel."),
    }
}

/// Answers, and gives back both ends where there is a tunnel.
async fn answer(
    mut request: Request<Incoming>,
    tunnels: &Tunnels,
) -> (
    Response<Full<Bytes>>,
    Option<(OnUpgrade, impl AsyncRead + AsyncWrite + Send + use<>)>,
) {
    let target = match target(request.method(), request.uri()) {
        Ok(target) => target,
        Err(status) => {
            return (
                refusal(status, "only CONNECT to HOST:PORT is served here\n".to_owned()),
                None,
            );
        }
    };
    match tunnels.open(&target).await {
        Ok(tunnel) => {
            let upgraded = upgrade::on(&mut request);
            (Response::new(Full::default()), Some((upgraded, tunnel)))
        }
        Err(error) => {
            let reason = chain(&error);
            tracing::warn!(%target, reason, "No tunnel could be opened.");
            (refusal(status(&error), format!("{reason}\n")), None)
        }
    }
}

fn target(method: &Method, uri: &http::Uri) -> Result<Place, StatusCode> {
    if method != Method::CONNECT {
        return Err(StatusCode::METHOD_NOT_ALLOWED);
    }
    let place = uri.authority().and_then(|authority| authority.as_str().parse().ok());
    place.ok_or(StatusCode::BAD_REQUEST)
}

fn status(error: &OpenError) -> StatusCode {
    if error.is_slow() {
        StatusCode::GATEWAY_TIMEOUT
    } else {
        StatusCode::BAD_GATEWAY
    }
}

fn refusal(status: StatusCode, text: String) -> Response<Full<Bytes>> {
    let mut answer = Response::new(Full::from(text));
    *answer.status_mut() = status;
    let headers = answer.headers_mut();
    if status == StatusCode::METHOD_NOT_ALLOWED {
        headers.insert(header::ALLOW, HeaderValue::from_static("CONNECT"));
    }
    // A connection is a tunnel or a refusal, and is over then.
    headers.insert(header::CONNECTION, HeaderValue::from_static("close"));
    answer
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_connect_to_a_place_is_served() {
        let cases = [
            (Method::CONNECT, "svc.ns.svc:443", Ok("svc.ns.svc:443")),
            (Method::CONNECT, "[fd00::1]:443", Ok("[fd00::1]:443")),
            (Method::CONNECT, "svc.ns.svc", Err(StatusCode::BAD_REQUEST)),
            (Method::CONNECT, "user@svc:1", Err(StatusCode::BAD_REQUEST)),
            (Method::CONNECT, "svc:0", Err(StatusCode::BAD_REQUEST)),
            (Method::GET, "http://svc:80/", Err(StatusCode::METHOD_NOT_ALLOWED)),
        ];
        for (method, uri, expected) in cases {
            let found = target(&method, &uri.parse().unwrap());
            let found = found.map(|place| place.to_string());
            assert_eq!(found, expected.map(str::to_owned), "{method} {uri}");
        }
    }
}
