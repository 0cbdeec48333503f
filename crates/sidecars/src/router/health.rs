//! What probes and readers of metrics are told. Owns the paths; the numbers are elsewhere.

use std::sync::Arc;

use http::{Method, Response, StatusCode};
use tokio_util::sync::CancellationToken;

use super::counts::Counts;

/// What is told.
#[derive(Clone)]
pub(super) struct Health {
    pub(super) counts: Arc<Counts>,
    pub(super) stop: CancellationToken,
}

impl Health {
    /// The answer to a request for a path.
    pub(super) fn respond(&self, method: &Method, path: &str) -> Response<String> {
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
        let mut answer = Response::new(text);
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
        let status = |method: Method, path: &str| health.respond(&method, path).status().as_u16();
        let ask = || ["/healthz", "/readyz", "/metrics", "/"].map(|path| status(Method::GET, path));
        assert_eq!(ask(), [200, 200, 200, 404]);
        assert_eq!(status(Method::POST, "/healthz"), 404);
        stop.cancel();
        assert_eq!(ask(), [200, 503, 200, 404]);
    }
}
