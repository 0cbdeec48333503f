//! Which requests of a connection are under way. Owns the count; what follows from it is the connection's business.

use std::{
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicU64, AtomicUsize, Ordering},
    },
    task::{Context, Poll},
};

use http_body::{Body, Frame, SizeHint};

/// The requests of one connection.
#[derive(Debug, Default)]
pub(super) struct Activity {
    changes: AtomicU64,
    under_way: AtomicUsize,
}

impl Activity {
    /// Counts a request until what is returned is dropped.
    pub(super) fn begin(self: &Arc<Self>) -> UnderWay {
        self.changes.fetch_add(1, Ordering::Relaxed);
        self.under_way.fetch_add(1, Ordering::Relaxed);
        UnderWay(Arc::clone(self))
    }

    /// Whether no request is under way.
    pub(super) fn is_quiet(&self) -> bool {
        self.under_way.load(Ordering::Relaxed) == 0
    }

    /// How often a request began or ended: if it is the same as before, nothing happened meanwhile.
    pub(super) fn changes(&self) -> u64 {
        self.changes.load(Ordering::Relaxed)
    }
}

/// A request from its head until the end of its answer.
#[derive(Debug)]
pub(super) struct UnderWay(Arc<Activity>);

impl Drop for UnderWay {
    fn drop(&mut self) {
        self.0.changes.fetch_add(1, Ordering::Relaxed);
        self.0.under_way.fetch_sub(1, Ordering::Relaxed);
    }
}

/// The body of an answer, whose request is under way until it was sent.
pub(super) struct Counted<B> {
    body: Pin<Box<B>>,
    _under_way: UnderWay,
}

impl<B> Counted<B> {
    pub(super) fn new(body: B, under_way: UnderWay) -> Self {
        Self {
            body: Box::pin(body),
            _under_way: under_way,
        }
    }
}

impl<B: Body> Body for Counted<B> {
    type Data = B::Data;
    type Error = B::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Self::Data>, Self::Error>>> {
        self.body.as_mut().poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
