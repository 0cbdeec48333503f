//! A connection's requests on their way to the server. Owns what a request from a socket says about its connection: the
//! extensions, and nothing that was said by the peer itself.

use std::{convert::Infallible, net::SocketAddr, sync::Arc};

use bytes::Bytes;
use http::{Extensions, Request, Response, header};
use http_body::Body;
use hyper::{body::Incoming, service::service_fn};
use hyperplane_seams::Clock;
use tower::{Service, ServiceExt as _};

use super::{
    activity::{Activity, Counted},
    date::Date,
};
use crate::identity::PeerCertificates;

/// A request extension: where the connection comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RemoteAddress(pub SocketAddr);

/// What a connection is to all its requests.
pub(super) struct Context {
    pub(super) remote: RemoteAddress,
    /// What the peer showed, and proved to have the key of.
    pub(super) peer: Option<PeerCertificates>,
    pub(super) clock: Clock,
    pub(super) activity: Arc<Activity>,
}

/// The service of one connection.
pub(super) fn requests<S, B>(
    service: S,
    context: Context,
) -> impl hyper::service::Service<
    Request<Incoming>,
    Response = Response<Counted<B>>,
    Error = Infallible,
    Future: Future<Output = Result<Response<Counted<B>>, Infallible>> + Send + 'static,
> + Send
+ 'static
where
    S: Service<Request<Incoming>, Response = Response<B>, Error = Infallible, Future: Send + 'static>,
    S: Clone + Send + 'static,
    B: Body<Data = Bytes, Error = Infallible> + Send + 'static,
{
    let date = Arc::new(Date::new(context.clock.clone()));
    service_fn(move |mut request: Request<Incoming>| {
        let under_way = context.activity.begin();
        *request.extensions_mut() = context.extensions();
        let answer = service.clone().oneshot(request);
        let date = Arc::clone(&date);
        async move {
            let mut response = answer.await?;
            if let Some(now) = date.header() {
                response.headers_mut().entry(header::DATE).or_insert(now);
            }
            Ok(response.map(|body| Counted::new(body, under_way)))
        }
    })
}

impl Context {
    fn extensions(&self) -> Extensions {
        let mut extensions = Extensions::new();
        extensions.insert(self.remote);
        if let Some(peer) = &self.peer {
            extensions.insert(peer.clone());
        }
        extensions
    }
}
