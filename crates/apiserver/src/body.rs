//! The bodies of requests and responses: what comes in is bounded in length and time, what goes out is bytes or a
//! stream of them.

use std::{
    convert::Infallible,
    error::Error,
    pin::Pin,
    task::{Context, Poll},
};

use bytes::{Bytes, BytesMut};
use futures::Stream;
use http_body::{Body as HttpBody, Frame, SizeHint};
use http_body_util::{BodyExt, combinators::UnsyncBoxBody};
use hyperplane_wire::Failure;

use crate::limits::Limits;

/// The body of a response.
pub struct Body(Kind);

enum Kind {
    Whole(Option<Bytes>),
    Stream(Pin<Box<dyn Stream<Item = Bytes> + Send>>),
}

impl Body {
    /// A body that is complete.
    pub(crate) fn whole(bytes: impl Into<Bytes>) -> Self {
        Self(Kind::Whole(Some(bytes.into())))
    }

    /// A body that comes in parts.
    pub(crate) fn stream(stream: Pin<Box<dyn Stream<Item = Bytes> + Send>>) -> Self {
        Self(Kind::Stream(stream))
    }
}

impl HttpBody for Body {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        match &mut self.get_mut().0 {
            Kind::Whole(bytes) => Poll::Ready(
                bytes
                    .take()
                    .filter(|bytes| !bytes.is_empty())
                    .map(|bytes| Ok(Frame::data(bytes))),
            ),
            Kind::Stream(stream) => stream
                .as_mut()
                .poll_next(context)
                .map(|bytes| bytes.map(|bytes| Ok(Frame::data(bytes)))),
        }
    }

    fn is_end_stream(&self) -> bool {
        matches!(&self.0, Kind::Whole(bytes) if bytes.as_ref().is_none_or(Bytes::is_empty))
    }

    fn size_hint(&self) -> SizeHint {
        match &self.0 {
            Kind::Whole(bytes) => SizeHint::with_exact(bytes.as_ref().map_or(0, Bytes::len) as u64),
            Kind::Stream(_) => SizeHint::default(),
        }
    }
}

/// The body of a request, whatever the connection makes of it.
pub(crate) struct RequestBody(UnsyncBoxBody<Bytes, Box<dyn Error + Send + Sync>>);

impl RequestBody {
    pub(crate) fn new<B>(body: B) -> Self
    where
        B: HttpBody<Data = Bytes> + Send + 'static,
        B::Error: Into<Box<dyn Error + Send + Sync>>,
    {
        Self(body.map_err(Into::into).boxed_unsync())
    }
}

/// Reads a request's body, up to the limit.
pub(crate) async fn read(body: RequestBody, limits: &Limits) -> Result<Bytes, Failure> {
    let collected = tokio::time::timeout(limits.body_patience, collect(body, limits.body_bytes)).await;
    collected.unwrap_or_else(|_| Err(Failure::bad_request("the body of the request did not arrive in time")))
}

async fn collect(RequestBody(mut body): RequestBody, limit: usize) -> Result<Bytes, Failure> {
    let mut first = Bytes::new();
    let mut all = BytesMut::new();
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|_| Failure::bad_request("the body of the request could not be read"))?;
        let Ok(data) = frame.into_data() else {
            continue;
        };
        if first.len() + all.len() + data.len() > limit {
            return Err(Failure::body_too_large(limit));
        }
        // Most bodies come in one piece, which is not copied.
        if first.is_empty() && all.is_empty() {
            first = data;
        } else {
            if all.is_empty() {
                all.extend_from_slice(&first);
                first = Bytes::new();
            }
            all.extend_from_slice(&data);
        }
    }
    Ok(if all.is_empty() { first } else { all.freeze() })
}
