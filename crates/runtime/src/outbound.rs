//! Limits on what one process asks of an API server: a rate, a number of requests at a time, and how long an answer may
//! take to begin. Watches are not counted, since they are meant to stay open. Knows nothing of what the requests are for.

use std::{
    sync::{Arc, Mutex},
    task::{Context, Poll},
    time::Duration,
};

use futures::future::BoxFuture;
use http::{Request, Response};
use thiserror::Error;
use tokio::{
    sync::Semaphore,
    time::{Instant, sleep_until, timeout},
};
use tower::{Layer, Service};

use crate::{failure::BoxError, store::lock};

/// The limits of one process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutboundLimits {
    /// Requests under way at a time, watches not counted. It bounds open connections when a server stalls.
    pub concurrency: usize,
    /// Requests per second in the long run.
    pub rate: u32,
    /// Requests that may go out at once after a quiet time.
    pub burst: u32,
    /// How long an answer may take to begin; a watch stays open after that.
    pub timeout: Duration,
}

impl Default for OutboundLimits {
    /// What one kube-apiserver bears from one client without noticing: its own default for a priority level is far
    /// above this, and a thousand clusters at startup stay within minutes.
    fn default() -> Self {
        Self {
            concurrency: 64,
            rate: 200,
            burst: 400,
            timeout: Duration::from_secs(30),
        }
    }
}

/// A request was given up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("the API server did not answer within {0:?}")]
pub struct TimedOut(Duration);

/// Applies limits to every service that it wraps, together.
#[derive(Clone, Debug)]
pub struct OutboundLayer(Arc<Gate>);

#[derive(Debug)]
struct Gate {
    limits: OutboundLimits,
    slots: Arc<Semaphore>,
    /// When the bucket will be full again, in the usual form of a token bucket without a timer.
    full_at: Mutex<Instant>,
}

impl OutboundLayer {
    /// A new gate with these limits.
    pub fn new(limits: OutboundLimits) -> Self {
        Self(Arc::new(Gate {
            limits,
            slots: Arc::new(Semaphore::new(limits.concurrency.max(1))),
            full_at: Mutex::new(Instant::now()),
        }))
    }
}

impl Gate {
    /// Books one request and says when it may go out.
    fn book(&self, now: Instant) -> Instant {
        let interval = Duration::from_secs(1) / self.limits.rate.max(1);
        let mut full_at = lock(&self.full_at);
        *full_at = (*full_at).max(now) + interval;
        let burst = interval * self.limits.burst.max(1);
        full_at.checked_sub(burst).map_or(now, |ready| ready.max(now))
    }
}

impl<S> Layer<S> for OutboundLayer {
    type Service = OutboundService<S>;

    fn layer(&self, inner: S) -> OutboundService<S> {
        OutboundService {
            inner,
            gate: self.0.clone(),
        }
    }
}

/// The service of [`OutboundLayer`].
#[derive(Clone, Debug)]
pub struct OutboundService<S> {
    inner: S,
    gate: Arc<Gate>,
}

impl<S, B, R> Service<Request<B>> for OutboundService<S>
where
    S: Service<Request<B>, Response = Response<R>> + Clone + Send + 'static,
    S::Error: Into<BoxError>,
    S::Future: Send,
    B: Send + 'static,
{
    type Response = Response<R>;
    type Error = BoxError;
    type Future = BoxFuture<'static, Result<Response<R>, BoxError>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.inner.poll_ready(context).map_err(Into::into)
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let clone = self.inner.clone();
        // The one that was polled ready goes with the request.
        let mut inner = std::mem::replace(&mut self.inner, clone);
        let gate = self.gate.clone();
        Box::pin(async move {
            let ready = gate.book(Instant::now());
            sleep_until(ready).await;
            // A watch may stay as long as it likes, but its answer begins at once: one that never does would leave a cache
            // behind for ever, and nobody would know.
            let _slot = if is_watch(&request) {
                None
            } else {
                Some(gate.slots.acquire().await?)
            };
            let limit = gate.limits.timeout;
            match timeout(limit, inner.call(request)).await {
                Ok(result) => result.map_err(Into::into),
                Err(_) => Err(TimedOut(limit).into()),
            }
        })
    }
}

fn is_watch<B>(request: &Request<B>) -> bool {
    let query = request.uri().query().unwrap_or_default();
    query.split('&').any(|pair| pair == "watch=true" || pair == "watch=1")
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use futures::future::join_all;
    use tower::{ServiceExt, service_fn};

    use super::*;

    fn limits() -> OutboundLimits {
        OutboundLimits {
            concurrency: 2,
            rate: 10,
            burst: 4,
            timeout: Duration::from_secs(5),
        }
    }

    async fn send(layer: &OutboundLayer, uri: &str, takes: u64) -> Result<Response<()>, BoxError> {
        let service = layer.layer(service_fn(move |_| async move {
            tokio::time::sleep(Duration::from_secs(takes)).await;
            Ok::<_, Infallible>(Response::new(()))
        }));
        service.oneshot(Request::builder().uri(uri).body(()).unwrap()).await
    }

    #[tokio::test(start_paused = true)]
    async fn a_burst_passes_and_the_rest_follows_at_the_rate() {
        let layer = OutboundLayer::new(limits());
        let start = Instant::now();
        let sent = join_all((0..14).map(|_| send(&layer, "/a", 0))).await;
        assert!(sent.iter().all(Result::is_ok));
        let took = start.elapsed();
        assert!(
            took >= Duration::from_millis(990) && took <= Duration::from_millis(1010),
            "{took:?}"
        );
    }

    #[tokio::test(start_paused = true)]
    async fn only_so_many_at_a_time_and_none_too_long() {
        let layer = OutboundLayer::new(limits());
        let start = Instant::now();
        join_all((0..4).map(|_| send(&layer, "/a", 3))).await;
        assert_eq!(start.elapsed().as_secs(), 6);
        assert!(send(&layer, "/a", 6).await.unwrap_err().is::<TimedOut>());
        assert!(send(&layer, "/a?watch=true", 6).await.unwrap_err().is::<TimedOut>());
        let start = Instant::now();
        let watches = join_all((0..4).map(|_| send(&layer, "/a?watch=true", 3))).await;
        assert!(watches.iter().all(Result::is_ok), "watches take no place of others");
        assert_eq!(start.elapsed().as_secs(), 3);
    }
}
