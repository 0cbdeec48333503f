//! Opening a tunnel: mutual TLS to the konnectivity server, then HTTP CONNECT.

use std::time::Duration;

use bytes::Bytes;
use http::{HeaderValue, Request, StatusCode, header};
use http_body_util::Empty;
use hyper::{client::conn::http1, upgrade};
use hyper_util::rt::TokioIo;
use thiserror::Error;
use tokio::{
    io::{AsyncRead, AsyncWrite},
    time::timeout,
};

use crate::{
    call::{self, CallError},
    place::Place,
    tls::{TlsError, TlsFiles},
};

/// How long a tunnel may take. The agent at the other end dials, too.
const LIMIT: Duration = Duration::from_secs(30);

/// Bytes of the answer to CONNECT: a line and some headers.
const ANSWER_BYTES: usize = 16 << 10;

/// The way into a hosted cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tunnels {
    /// The konnectivity server.
    pub server: Place,
    /// How it is spoken to.
    pub tls: TlsFiles,
}

/// Why there is no tunnel.
#[derive(Debug, Error)]
pub enum OpenError {
    /// TLS cannot be spoken.
    #[error(transparent)]
    Tls(#[from] TlsError),
    /// The konnectivity server cannot be reached.
    #[error(transparent)]
    Call(#[from] CallError),
    /// The connection to it broke.
    #[error("the konnectivity server broke off")]
    Broken(#[source] hyper::Error),
    /// It cannot reach the target.
    #[error(
        "the konnectivity server answers {status} for {target}: look whether an agent runs, and whether it reaches that"
    )]
    Refused {
        /// Where to.
        target: Place,
        /// The answer.
        status: StatusCode,
    },
    /// It takes too long.
    #[error("no tunnel to {target} within {} s: look whether an agent runs, and whether it reaches that", LIMIT.as_secs())]
    Slow {
        /// Where to.
        target: Place,
    },
}

impl OpenError {
    /// Whether it was only a matter of time.
    pub(crate) fn is_slow(&self) -> bool {
        matches!(self, Self::Slow { .. } | Self::Call(CallError::Slow { .. }))
    }
}

impl Tunnels {
    /// Opens a tunnel.
    pub async fn open(&self, target: &Place) -> Result<impl AsyncRead + AsyncWrite + Send + use<>, OpenError> {
        let opening = self.connect(target);
        let slow = || OpenError::Slow { target: target.clone() };
        timeout(LIMIT, opening).await.map_err(|_| slow())?
    }

    async fn connect(&self, target: &Place) -> Result<TokioIo<upgrade::Upgraded>, OpenError> {
        // The files may have been renewed since the last tunnel.
        let connector = self.tls.connector().await?;
        let stream = call::connect(&connector, &self.server, LIMIT).await?;
        let mut builder = http1::Builder::new();
        builder.max_buf_size(ANSWER_BYTES);
        let (mut sender, connection) = builder
            .handshake(TokioIo::new(stream))
            .await
            .map_err(OpenError::Broken)?;
        let asking = async move {
            let answer = sender.send_request(request(target)).await.map_err(OpenError::Broken)?;
            if !answer.status().is_success() {
                let (target, status) = (target.clone(), answer.status());
                return Err(OpenError::Refused { target, status });
            }
            upgrade::on(answer).await.map_err(OpenError::Broken)
        };
        let mut asking = std::pin::pin!(asking);
        let upgraded = tokio::select! {
            biased;
            upgraded = &mut asking => upgraded?,
            // It ends when it hands over the stream, or when it broke. Either way asking knows: a server that goes away
            // right behind its answer has answered.
            _ = connection.with_upgrades() => asking.await?,
        };
        Ok(TokioIo::new(upgraded))
    }
}

fn request(target: &Place) -> Request<Empty<Bytes>> {
    let target = target.to_string();
    let host = HeaderValue::from_str(&target).expect("a place is a header's value");
    let mut request = Request::new(Empty::new());
    *request.method_mut() = http::Method::CONNECT;
    *request.uri_mut() = target.parse().expect("a place is an authority");
    request.headers_mut().insert(header::HOST, host);
    request
}
