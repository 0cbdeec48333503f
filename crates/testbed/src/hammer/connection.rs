//! One connection of one client. It knows when a request never left this process, which is all that may be sent again
//! without being a retry.

use std::{io, sync::Arc, time::Duration};

use bytes::Bytes;
use http::{
    HeaderMap, Request, Response, StatusCode,
    header::{HeaderValue, RETRY_AFTER},
};
use http_body_util::{BodyExt as _, Full};
use hyper::{
    body::Incoming,
    client::conn::{http1, http2},
};
use hyper_util::rt::{TokioExecutor, TokioIo};
use rustls::ClientConfig;
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::TcpStream,
    task::JoinHandle,
};
use tokio_rustls::TlsConnector;

use super::{
    client::Protocol,
    target::{Target, Tls},
};

/// What both protocols call themselves when a connection is made.
const HTTP1: &[u8] = b"http/1.1";
const HTTP2: &[u8] = b"h2";

/// What a server answered; its body was received whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Answer {
    pub(super) status: StatusCode,
    /// When it wants to be asked again.
    pub(super) retry_after: Option<Duration>,
}

/// Why there is no answer.
#[derive(Debug)]
pub(super) enum Lost {
    /// The connection had ended before any of the request was sent; the request comes back.
    NotSent(Box<Request<Full<Bytes>>>),
    /// The request was under way.
    Broken(String),
}

/// An open connection, which ends with this value.
pub(super) struct Connection {
    sender: Sender,
    driver: JoinHandle<()>,
}

enum Sender {
    Http1(http1::SendRequest<Full<Bytes>>),
    Http2(http2::SendRequest<Full<Bytes>>),
}

impl Connection {
    /// Opens a connection.
    pub(super) async fn open(target: &Target, protocol: Protocol) -> io::Result<Self> {
        let stream = TcpStream::connect(target.address).await?;
        stream.set_nodelay(true)?;
        match &target.tls {
            None => Self::over(stream, protocol).await,
            Some(Tls { client, server_name }) => {
                let connector = TlsConnector::from(Arc::new(speaking(client, protocol)));
                let stream = connector.connect(server_name.clone(), stream).await?;
                Self::over(stream, protocol).await
            }
        }
    }

    async fn over<S>(stream: S, protocol: Protocol) -> io::Result<Self>
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let stream = TokioIo::new(stream);
        if protocol == Protocol::Http2 {
            let (sender, driver) = http2::handshake(TokioExecutor::new(), stream)
                .await
                .map_err(io::Error::other)?;
            // How the connection ends is seen by the requests on it.
            let driver = tokio::spawn(async { drop(driver.await) });
            let sender = Sender::Http2(sender);
            return Ok(Self { sender, driver });
        }
        let (sender, driver) = http1::handshake(stream).await.map_err(io::Error::other)?;
        let driver = tokio::spawn(async { drop(driver.await) });
        let sender = Sender::Http1(sender);
        Ok(Self { sender, driver })
    }

    /// Whether another request can be sent: the server has not said goodbye.
    pub(super) async fn is_usable(&mut self) -> bool {
        match &mut self.sender {
            Sender::Http1(sender) => sender.ready().await.is_ok(),
            Sender::Http2(sender) => sender.ready().await.is_ok(),
        }
    }

    /// Sends a request and reads all of its answer.
    pub(super) async fn exchange(&mut self, request: Request<Full<Bytes>>) -> Result<Answer, Lost> {
        let sent = match &mut self.sender {
            Sender::Http1(sender) => sender.try_send_request(request).await,
            Sender::Http2(sender) => sender.try_send_request(request).await,
        };
        let response = sent.map_err(|mut failed| match failed.take_message() {
            Some(request) => Lost::NotSent(Box::new(request)),
            None => Lost::Broken(described(&failed.into_error())),
        })?;
        read(response).await.map_err(|error| Lost::Broken(described(&error)))
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.driver.abort();
    }
}

/// The configuration of a client that speaks one protocol and no other.
fn speaking(client: &ClientConfig, protocol: Protocol) -> ClientConfig {
    let mut client = client.clone();
    client.alpn_protocols = match protocol {
        Protocol::Http1 | Protocol::Http1WithoutKeepAlive => vec![HTTP1.to_vec()],
        Protocol::Http2 => vec![HTTP2.to_vec()],
    };
    client
}

async fn read(response: Response<Incoming>) -> hyper::Result<Answer> {
    let (head, mut body) = response.into_parts();
    // Piece by piece: of a body only its end matters.
    while let Some(frame) = body.frame().await {
        frame?;
    }
    Ok(Answer {
        status: head.status,
        retry_after: retry_after(&head.headers),
    })
}

/// The number of seconds in the header. Kubernetes never writes a date there.
fn retry_after(headers: &HeaderMap<HeaderValue>) -> Option<Duration> {
    let seconds = headers.get(RETRY_AFTER)?.to_str().ok()?.parse().ok()?;
    Some(Duration::from_secs(seconds))
}

/// An error with its causes, on one line.
fn described(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text = format!("{text}: {error}");
        cause = error.source();
    }
    text
}
