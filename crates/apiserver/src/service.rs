//! The server as a tower service: one request in, one response out, no socket. In-process clients call it as it is;
//! others reach it through a connection that is served elsewhere.

use std::{
    convert::Infallible,
    error::Error,
    sync::Arc,
    task::{Context, Poll},
};

use bytes::Bytes;
use futures::{FutureExt, future::BoxFuture};
use http::{Method, Request, Response, request::Parts};
use hyperplane_access::User;
use hyperplane_wire::{Failure, Reason, negotiate::Wishes, request::RequestInfo};
use tower::Service;

use crate::{
    body::{Body, RequestBody},
    call::Warnings,
    core::Core,
    front::Front,
    identity::identify,
    paths, render, resources,
};

/// An API server. Cheap to clone; every clone is the same server.
#[derive(Clone)]
pub struct Server {
    pub(crate) core: Arc<Core>,
    pub(crate) front: Arc<Front>,
}

impl<B> Service<Request<B>> for Server
where
    B: http_body::Body<Data = Bytes> + Send + 'static,
    B::Error: Into<Box<dyn Error + Send + Sync>>,
{
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = BoxFuture<'static, Result<Response<Body>, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        self.clone().respond(request.map(RequestBody::new))
    }
}

/// The server as an in-process client reaches it: as one user, unless a request says by an
/// [`Identity`](hyperplane_seams::Identity) that it is made for a tenant.
#[derive(Clone)]
pub struct InProcess {
    server: Server,
    user: User,
}

impl Server {
    /// The server as this user reaches it. Credentials are not asked for: who holds the server may speak for anybody.
    pub fn in_process(&self, user: User) -> InProcess {
        InProcess {
            server: self.clone(),
            user,
        }
    }
}

impl<B> Service<Request<B>> for InProcess
where
    B: http_body::Body<Data = Bytes> + Send + 'static,
    B::Error: Into<Box<dyn Error + Send + Sync>>,
{
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = BoxFuture<'static, Result<Response<Body>, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, mut request: Request<B>) -> Self::Future {
        request.extensions_mut().insert(self.user.clone());
        self.server.call(request)
    }
}

/// A request after its body was set aside.
pub(crate) struct Asked<'a> {
    /// The head of the request.
    pub parts: &'a Parts,
    /// What it is about.
    pub info: &'a RequestInfo,
    /// What the client is told besides the answer.
    pub warnings: Arc<Warnings>,
}

impl Asked<'_> {
    /// What decides the format of the answer.
    pub(crate) fn wishes(&self) -> Wishes<'_> {
        Wishes {
            accept: self.header("accept"),
            query: self.query(),
            user_agent: self.header("user-agent"),
        }
    }

    /// The query string.
    pub(crate) fn query(&self) -> &str {
        self.parts.uri.query().unwrap_or_default()
    }

    /// A header; empty where it is missing or no text.
    pub(crate) fn header(&self, name: &str) -> &str {
        self.parts
            .headers
            .get(name)
            .and_then(|value| value.to_str().ok())
            .unwrap_or_default()
    }
}

impl Server {
    /// Not generic over the body, and boxed: everything that answers is compiled here and in no other crate.
    fn respond(self, request: Request<RequestBody>) -> BoxFuture<'static, Result<Response<Body>, Infallible>> {
        async move { Ok(self.answer(request).await) }.boxed()
    }

    async fn answer(self, request: Request<RequestBody>) -> Response<Body> {
        let (parts, body) = request.into_parts();
        let info = RequestInfo::parse(&parts.method, &parts.uri);
        if info.is_malformed {
            return paths::malformed();
        }
        let asked = Asked {
            parts: &parts,
            info: &info,
            warnings: Arc::default(),
        };
        let received = self.core.clock.now();
        let failed = |failure: &Failure| {
            let response = render::failure(&asked.wishes(), failure);
            render::with_warnings(response, &asked.warnings)
        };
        let (requester, response) = match identify(&self, &asked) {
            Ok(requester) => {
                let answered = self.dispatch(&asked, &requester.user, body).await;
                (Some(requester), answered.unwrap_or_else(|failure| failed(&failure)))
            }
            Err(failure) if matches!(failure.reason, Reason::Forbidden | Reason::BadRequest) => {
                (None, render::unsniffed(failed(&failure)))
            }
            Err(failure) => (None, failed(&failure)),
        };
        self.front.metrics.record(&info, response.status());
        if let Some(requester) = &requester {
            self.front
                .audit
                .note(&asked, requester, response.status(), received, self.core.clock.now());
        }
        if parts.method == Method::HEAD {
            return response.map(|_| Body::whole(Bytes::new()));
        }
        response
    }

    async fn dispatch(&self, asked: &Asked<'_>, user: &User, body: RequestBody) -> Result<Response<Body>, Failure> {
        // Readers of paths forgive doubled slashes, routers do not.
        if asked.parts.uri.path().starts_with("//") {
            return Ok(paths::not_found());
        }
        if asked.info.is_resource {
            resources::answer(self, asked, user, body).await
        } else {
            paths::answer(self, asked)
        }
    }
}
