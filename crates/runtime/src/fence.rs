//! The right to write, with an expiry. Owns the answer to "may this process write now?" and the layer that asks it
//! for every request; reads and watches pass freely. The lease decides, this only remembers.

use std::{
    sync::{Arc, Mutex},
    task::{Context, Poll},
    time::Duration,
};

use futures::future::BoxFuture;
use http::{Method, Request, Response};
use thiserror::Error;
use tokio::{
    sync::watch,
    time::{Instant, timeout_at},
};
use tower::{Layer, Service};

use crate::{failure::BoxError, store::lock};

/// Longer than any process runs.
const CENTURY: Duration = Duration::from_hours(100 * 365 * 24);

/// Whether this process leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Leadership {
    /// The lease was not read yet.
    Unknown,
    /// Somebody else holds the lease, or nobody.
    Standby,
    /// This process may write until the given moment.
    Leader {
        /// Writes end here, unless the lease is renewed before.
        until: Instant,
        /// How often the lease has changed hands.
        transitions: i32,
    },
}

/// A shared view of leadership. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Fence {
    state: Arc<Mutex<Leadership>>,
    turned: watch::Sender<bool>,
}

/// Why a write was refused or cut off.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("this process does not hold the lease, so it must not write")]
pub struct Fenced;

impl Fence {
    /// A fence that stays shut until a lease opens it.
    pub fn closed() -> Self {
        Self {
            state: Arc::new(Mutex::new(Leadership::Unknown)),
            turned: watch::Sender::new(false),
        }
    }

    /// A fence that is always open: for commands and tests that run without a lease.
    pub fn open() -> Self {
        let fence = Self::closed();
        fence.set(Leadership::Leader {
            until: Instant::now() + CENTURY,
            transitions: 0,
        });
        fence
    }

    /// The current state; leadership that ran out shows as standby.
    pub fn leadership(&self) -> Leadership {
        match *lock(&self.state) {
            Leadership::Leader { until, .. } if Instant::now() >= until => Leadership::Standby,
            state => state,
        }
    }

    /// Until when this process may write.
    pub fn check(&self) -> Result<Instant, Fenced> {
        match self.leadership() {
            Leadership::Leader { until, .. } => Ok(until),
            Leadership::Unknown | Leadership::Standby => Err(Fenced),
        }
    }

    /// Whether this process may write now.
    pub fn is_leader(&self) -> bool {
        self.check().is_ok()
    }

    /// Ends once this process may write. Nothing runs meanwhile: a process that stands by sleeps until its turn.
    pub async fn opened(&self) {
        let mut turns = self.subscribe();
        while !self.is_leader() {
            // The sender is part of this fence, so that the channel stays open.
            if turns.changed().await.is_err() {
                return;
            }
        }
    }

    pub(crate) fn set(&self, state: Leadership) {
        *lock(&self.state) = state;
        let leads = matches!(state, Leadership::Leader { .. });
        self.turned
            .send_if_modified(|last| std::mem::replace(last, leads) != leads);
    }

    /// Hears of every turn between leading and not leading.
    pub(crate) fn subscribe(&self) -> watch::Receiver<bool> {
        self.turned.subscribe()
    }
}

/// Refuses every mutating request while the fence is shut, and gives up on those that would outlive it.
#[derive(Clone, Debug)]
pub struct FenceLayer(pub Fence);

impl<S> Layer<S> for FenceLayer {
    type Service = FenceService<S>;

    fn layer(&self, inner: S) -> FenceService<S> {
        FenceService {
            inner,
            fence: self.0.clone(),
        }
    }
}

/// The service of [`FenceLayer`].
#[derive(Clone, Debug)]
pub struct FenceService<S> {
    inner: S,
    fence: Fence,
}

impl<S, B, R> Service<Request<B>> for FenceService<S>
where
    S: Service<Request<B>, Response = Response<R>>,
    S::Error: Into<BoxError>,
    S::Future: Send + 'static,
{
    type Response = Response<R>;
    type Error = BoxError;
    type Future = BoxFuture<'static, Result<Response<R>, BoxError>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.inner.poll_ready(context).map_err(Into::into)
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let is_read = matches!(*request.method(), Method::GET | Method::HEAD | Method::OPTIONS);
        if is_read {
            let answer = self.inner.call(request);
            return Box::pin(async move { answer.await.map_err(Into::into) });
        }
        match self.fence.check() {
            Err(fenced) => Box::pin(async move { Err(fenced.into()) }),
            Ok(until) => {
                let answer = self.inner.call(request);
                Box::pin(async move {
                    match timeout_at(until, answer).await {
                        Ok(result) => result.map_err(Into::into),
                        Err(_) => Err(Fenced.into()),
                    }
                })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use tower::{ServiceExt, service_fn};

    use super::*;

    fn request(method: Method) -> Request<()> {
        Request::builder().method(method).body(()).unwrap()
    }

    fn slow(fence: &Fence) -> impl Service<Request<()>, Response = Response<()>, Error = BoxError> + use<> {
        FenceLayer(fence.clone()).layer(service_fn(|_| async {
            tokio::time::sleep(Duration::from_secs(10)).await;
            Ok::<_, Infallible>(Response::new(()))
        }))
    }

    fn lead(fence: &Fence, seconds: u64) {
        fence.set(Leadership::Leader {
            until: Instant::now() + Duration::from_secs(seconds),
            transitions: 1,
        });
    }

    #[tokio::test(start_paused = true)]
    async fn a_process_that_stands_by_sleeps_until_its_turn() {
        let fence = Fence::closed();
        let mut opened = std::pin::pin!(fence.opened());
        let mut polls = 0;
        let counted = std::future::poll_fn(|context| {
            polls += 1;
            opened.as_mut().poll(context)
        });
        assert!(tokio::time::timeout(Duration::from_hours(1), counted).await.is_err());
        assert!(polls <= 2, "{polls} looks");
        fence.set(Leadership::Leader {
            until: Instant::now() + Duration::from_secs(15),
            transitions: 1,
        });
        opened.await;
    }

    #[tokio::test(start_paused = true)]
    async fn writes_need_the_lease_and_reads_do_not() {
        let fence = Fence::closed();
        assert!(slow(&fence).oneshot(request(Method::GET)).await.is_ok());
        assert!(slow(&fence).oneshot(request(Method::PATCH)).await.is_err());
        lead(&fence, 60);
        assert!(slow(&fence).oneshot(request(Method::PATCH)).await.is_ok());
        tokio::time::advance(Duration::from_mins(1)).await;
        assert_eq!(fence.leadership(), Leadership::Standby);
        assert!(slow(&fence).oneshot(request(Method::DELETE)).await.is_err());
    }

    #[tokio::test(start_paused = true)]
    async fn a_write_does_not_outlive_the_lease() {
        let fence = Fence::closed();
        lead(&fence, 5);
        let error = slow(&fence).oneshot(request(Method::POST)).await.unwrap_err();
        assert!(error.is::<Fenced>());
    }

    #[tokio::test(start_paused = true)]
    async fn only_turns_are_announced() {
        let fence = Fence::closed();
        let mut turns = fence.subscribe();
        fence.set(Leadership::Standby);
        assert!(!turns.has_changed().unwrap());
        lead(&fence, 5);
        assert!(turns.has_changed().unwrap());
        turns.mark_unchanged();
        lead(&fence, 9);
        assert!(!turns.has_changed().unwrap(), "a renewal is no turn");
    }
}
