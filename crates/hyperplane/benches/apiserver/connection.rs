//! One connection of HTTP/1.1 over TLS, kept open. Knows no Kubernetes.

use anyhow::{Context as _, Result, bail};
use bytes::Bytes;
use http::{HeaderValue, Request, Response, header::HOST};
use http_body_util::{BodyExt as _, Full};
use hyper::{
    body::Incoming,
    client::conn::http1::{SendRequest, handshake},
};
use hyper_util::rt::TokioIo;
use rustls::pki_types::ServerName;
use tokio::{net::TcpStream, task::JoinSet};

use crate::server::Door;

/// A connection.
pub struct Connection {
    sender: SendRequest<Full<Bytes>>,
    host: HeaderValue,
    /// Moves the bytes; ends with the connection.
    _driver: JoinSet<()>,
}

impl Connection {
    /// Opens a connection, up to the end of the handshake.
    pub async fn open(door: &Door) -> Result<Self> {
        let (host, _) = door.address.rsplit_once(':').context("an address has a port")?;
        let name = ServerName::try_from(host.to_owned())?;
        let stream = TcpStream::connect(&door.address).await?;
        stream.set_nodelay(true)?;
        let stream = door.tls.connect(name, stream).await?;
        let (sender, connection) = handshake(TokioIo::new(stream)).await?;
        let mut driver = JoinSet::new();
        driver.spawn(async {
            // Whoever waits for an answer gets the error.
            connection.await.ok();
        });
        Ok(Self {
            sender,
            host: HeaderValue::try_from(&door.address)?,
            _driver: driver,
        })
    }

    /// Sends a request and reads the whole answer, which must be a good one. Gives back the bytes of its body.
    pub async fn send(&mut self, request: Request<Full<Bytes>>) -> Result<u64> {
        let mut body = self.stream(request).await?.into_body();
        let mut bytes = 0;
        while let Some(frame) = body.frame().await {
            bytes += frame?.data_ref().map_or(0, Bytes::len) as u64;
        }
        Ok(bytes)
    }

    /// Sends a request and reads the answer as JSON.
    pub async fn json(&mut self, request: Request<Full<Bytes>>) -> Result<serde_json::Value> {
        let body = self.stream(request).await?.into_body().collect().await?;
        Ok(serde_json::from_slice(&body.to_bytes())?)
    }

    /// Sends a request and gives back the answer, which must be a good one, with its body still to come.
    pub async fn stream(&mut self, mut request: Request<Full<Bytes>>) -> Result<Response<Incoming>> {
        request.headers_mut().insert(HOST, self.host.clone());
        self.sender.ready().await?;
        let response = self.sender.send_request(request).await?;
        if !response.status().is_success() {
            let status = response.status();
            let body = response.into_body().collect().await?.to_bytes();
            bail!("{status}: {}", String::from_utf8_lossy(&body));
        }
        Ok(response)
    }
}
