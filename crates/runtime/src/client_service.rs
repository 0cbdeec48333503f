//! A kube client as a tower service, so that layers can be put around a client that somebody else made.

use std::task::{Context, Poll};

use futures::future::BoxFuture;
use http::{Request, Response};
use kube::{Client, client::Body};
use tower::{Layer, Service};

use crate::failure::BoxError;

/// Sends each request through the client.
#[derive(Clone)]
pub(crate) struct ClientService(Client);

impl Service<Request<Body>> for ClientService {
    type Response = Response<Body>;
    type Error = kube::Error;
    type Future = BoxFuture<'static, Result<Response<Body>, kube::Error>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), kube::Error>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        let client = self.0.clone();
        Box::pin(async move { client.send(request).await })
    }
}

/// A client whose requests pass through one more layer.
pub(crate) fn wrap<L>(client: &Client, layer: &L) -> Client
where
    L: Layer<ClientService>,
    L::Service: Service<Request<Body>, Response = Response<Body>> + Send + 'static,
    <L::Service as Service<Request<Body>>>::Future: Send + 'static,
    <L::Service as Service<Request<Body>>>::Error: Into<BoxError>,
{
    let namespace = client.default_namespace().to_owned();
    Client::new(layer.layer(ClientService(client.clone())), namespace)
}
