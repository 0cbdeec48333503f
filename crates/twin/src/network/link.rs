//! One client's connection: made when it is needed, shared by all requests, made anew when the replica behind it ends.

use std::{
    sync::{Arc, Mutex, PoisonError},
    task::{Context, Poll},
};

use futures::{FutureExt as _, future::BoxFuture};
use http::{Request, Response};
use hyper::{
    body::Incoming,
    client::conn::http2::{self, SendRequest},
};
use hyper_util::rt::TokioIo;
use kube::client::Body;
use rustls::{ClientConfig, pki_types::ServerName};
use thiserror::Error;
use tokio_rustls::TlsConnector;
use tower::{BoxError, Service};

use super::Network;
use crate::programs::Address;

/// How often a request is sent at most: again only if it did not leave, because a replica ended meanwhile.
const ATTEMPTS: usize = 3;

/// Why a request could not be sent.
#[derive(Debug, Error)]
enum LinkError {
    #[error("{host}:{port} refuses connections: nothing ready is behind it")]
    Refused { host: String, port: u16 },
    #[error("the handshake with {host} failed")]
    Handshake {
        host: String,
        #[source]
        source: std::io::Error,
    },
    #[error("every replica of {0} ended while it was asked")]
    Ended(String),
}

/// A connection to come. Cheap to clone; clones share it.
#[derive(Clone)]
pub(super) struct Link(Arc<Inner>);

struct Inner {
    network: Network,
    address: Address,
    name: ServerName<'static>,
    tls: TlsConnector,
    open: Mutex<Option<SendRequest<Body>>>,
}

impl Link {
    pub(super) fn new(network: Network, address: Address, name: ServerName<'static>, tls: ClientConfig) -> Self {
        Self(Arc::new(Inner {
            network,
            address,
            name,
            tls: TlsConnector::from(Arc::new(tls)),
            open: Mutex::default(),
        }))
    }

    async fn send(self, mut request: Request<Body>) -> Result<Response<Incoming>, BoxError> {
        for _ in 0..ATTEMPTS {
            let mut sender = self.sender().await?;
            if sender.ready().await.is_err() {
                self.forget();
                continue;
            }
            match sender.try_send_request(request).await {
                Ok(response) => return Ok(response),
                Err(mut error) => match error.take_message() {
                    Some(unsent) => {
                        self.forget();
                        request = unsent;
                    }
                    None => return Err(error.into_error().into()),
                },
            }
        }
        Err(LinkError::Ended(self.0.address.host.clone()).into())
    }

    /// The connection that is there, or another one.
    async fn sender(&self) -> Result<SendRequest<Body>, BoxError> {
        let open = self.0.open.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some(sender) = open.filter(|sender| !sender.is_closed()) {
            return Ok(sender);
        }
        let sender = self.connect().await?;
        *self.0.open.lock().unwrap_or_else(PoisonError::into_inner) = Some(sender.clone());
        Ok(sender)
    }

    fn forget(&self) {
        self.0.open.lock().unwrap_or_else(PoisonError::into_inner).take();
    }

    async fn connect(&self) -> Result<SendRequest<Body>, BoxError> {
        let Address { host, port } = self.0.address.clone();
        let Some(pipe) = self.0.network.connect(&self.0.address) else {
            return Err(LinkError::Refused { host, port }.into());
        };
        let stream = self.0.tls.connect(self.0.name.clone(), pipe).await;
        let stream = stream.map_err(|source| LinkError::Handshake { host, source })?;
        let tasks = self.0.network.0.tasks.clone();
        let (sender, connection) = http2::handshake(tasks.clone(), TokioIo::new(stream)).await?;
        tasks.spawn(async move {
            if let Err(error) = connection.await {
                tracing::debug!(%error, "A connection in memory broke.");
            }
        });
        Ok(sender)
    }
}

impl Service<Request<Body>> for Link {
    type Response = Response<Incoming>;
    type Error = BoxError;
    type Future = BoxFuture<'static, Result<Response<Incoming>, BoxError>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        self.clone().send(request).boxed()
    }
}
