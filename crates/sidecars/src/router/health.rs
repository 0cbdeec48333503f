//! Probes and metrics, over plain HTTP. Owns the paths; the numbers are elsewhere.

use std::{convert::Infallible, sync::Arc, time::Duration};

use bytes::Bytes;
use http::{Method, Request, Response, StatusCode};
use http_body_util::Full;
use hyper::{server::conn::http1, service::service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::TcpStream;
use tokio_util::sync::CancellationToken;

use super::counts::Counts;

/// How long a request's head may take to arrive.
const HEAD: Duration = Duration::from_secs(5);

/// Bytes of a request's head; less than hyper takes at least.
const HEAD_BYTES: usize = 8 << 10;

/// What is told.
#[derive(Clone)]
pub(super) struct Health {
    pub(super) counts: Arc<Counts>,
    pub(super) stop: CancellationToken,
}

impl Health {
    /// Serves one connection.
    pub(super) async fn serve(self, stream: TcpStream) {
        let service = service_fn(async |request: Request<hyper::body::Incoming>| {
            Ok::<_, Infallible>(self.answer(request.method(), request.uri().path()))
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

    fn answer(&self, method: &Method, path: &str) -> Response<Full<Bytes>> {
        let (status, text) = match (method, path) {
            (&Method::GET | &Method::HEAD, "/readyz") if self.stop.is_cancelled() => {
                (StatusCode::SERVICE_UNAVAILABLE, "ending\n".to_owned())
            }
            (&Method::GET | &Method::HEAD, "/healthz" | "/readyz") => (StatusCode::OK, "ok\n".to_owned()),
            (&Method::GET, "/metrics") => (StatusCode::OK, self.counts.text()),
            _ => (
                StatusCode::NOT_FOUND,
                "there are /healthz, /readyz and /metrics\n".to_owned(),
            ),
        };
        let mut answer = Response::new(Full::from(text));
        *answer.status_mut() = status;
        answer
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_have_answers() {
        let stop = CancellationToken::new();
        let health = Health {
            counts: Arc::default(),
            stop: stop.clone(),
        };
        let status = |method: Method, path: &str| health.answer(&method, path).status().as_u16();
        let ask = || ["/healthz", "/readyz", "/metrics", "/"].map(|path| status(Method::GET, path));
        assert_eq!(ask(), [200, 200, 200, 404]);
        assert_eq!(status(Method::POST, "/healthz"), 404);
        stop.cancel();
        assert_eq!(ask(), [200, 503, 200, 404]);
    }
}
