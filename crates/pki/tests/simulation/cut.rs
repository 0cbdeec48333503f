//! A connection that is lost at the worst moment: what was sent is done, and its answer never comes.

use std::{
    future::pending,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    task::{Context, Poll},
};

use http::{Method, Request};
use tower::Service;

/// Lets this many writes of Secrets and ConfigMaps through, and never answers the last.
#[derive(Clone)]
pub struct Cut<S> {
    inner: S,
    left: Arc<AtomicUsize>,
}

impl<S> Cut<S> {
    pub fn new(inner: S, writes: usize) -> Self {
        let left = Arc::new(AtomicUsize::new(writes));
        Self { inner, left }
    }
}

impl<S, B> Service<Request<B>> for Cut<S>
where
    S: Service<Request<B>>,
    S::Response: Send + 'static,
    S::Error: Send + 'static,
    S::Future: Send + 'static,
{
    type Response = S::Response;
    type Error = S::Error;
    type Future = Pin<Box<dyn Future<Output = Result<S::Response, S::Error>> + Send>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let path = request.uri().path();
        let is_counted = request.method() != Method::GET && (path.contains("/secrets") || path.contains("/configmaps"));
        if !is_counted {
            return Box::pin(self.inner.call(request));
        }
        match self.left.load(Ordering::SeqCst) {
            0 => Box::pin(pending()),
            left => {
                self.left.store(left - 1, Ordering::SeqCst);
                let answer = self.inner.call(request);
                Box::pin(async move {
                    let answer = answer.await;
                    if left == 1 {
                        pending::<()>().await;
                    }
                    answer
                })
            }
        }
    }
}
