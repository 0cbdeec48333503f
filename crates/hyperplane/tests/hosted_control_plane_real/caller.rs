//! A client that speaks HTTP/2 as the clients of Kubernetes do: it keeps a connection until the server says goodbye,
//! and asks again when it is told to wait. (Over HTTP/1 a server that ends closes kept connections without a word, and
//! who has just asked cannot know whether it was heard.)

use std::{sync::Arc, time::Duration};

use anyhow::{Context as _, Result, ensure};
use bytes::Bytes;
use http::{Method, Request, StatusCode, header};
use http_body_util::{BodyExt as _, Full};
use hyper::client::conn::http2::{self, SendRequest};
use hyper_util::rt::{TokioExecutor, TokioIo};
use kube::{Config, client::ConfigExt as _};
use rustls::{ClientConfig, pki_types::ServerName};
use serde_json::Value;
use tokio::{net::TcpStream, time::sleep};
use tokio_rustls::TlsConnector;

/// How long to wait where a server asks for patience.
const PATIENCE: Duration = Duration::from_secs(1);

/// One client.
pub struct Caller {
    tls: TlsConnector,
    address: (String, u16),
    keeps_connection: bool,
    connection: Option<SendRequest<Full<Bytes>>>,
    /// How often a server that was about to end asked for patience.
    pub told_to_wait: u64,
}

impl Caller {
    /// A client with the identity of a kubeconfig.
    pub fn new(config: &Config, keeps_connection: bool) -> Result<Self> {
        let mut tls: ClientConfig = config.rustls_client_config()?;
        tls.alpn_protocols = vec![b"h2".to_vec()];
        let host = config.cluster_url.host().context("a server has a host")?;
        let port = config.cluster_url.port_u16().context("a server has a port")?;
        Ok(Self {
            tls: TlsConnector::from(Arc::new(tls)),
            address: (host.to_owned(), port),
            keeps_connection,
            connection: None,
            told_to_wait: 0,
        })
    }

    /// Asks, and wants a good answer. Only who keeps a connection is told to wait by a server that ends.
    pub async fn ask(&mut self, method: Method, path: &str, body: &Value) -> Result<Value> {
        loop {
            let (status, answer) = self.exchange(method.clone(), path, body).await?;
            if status == StatusCode::TOO_MANY_REQUESTS && self.keeps_connection {
                self.connection = None;
                self.told_to_wait += 1;
                sleep(PATIENCE).await;
                continue;
            }
            let text = String::from_utf8_lossy(&answer);
            ensure!(status.is_success(), "{method} {path}: {status} {text}");
            return Ok(serde_json::from_str(&text)?);
        }
    }

    async fn exchange(&mut self, method: Method, path: &str, body: &Value) -> Result<(StatusCode, Bytes)> {
        let (host, port) = &self.address;
        let body = if body.is_null() {
            String::new()
        } else {
            body.to_string()
        };
        let request = Request::builder()
            .method(method)
            .uri(format!("https://{host}:{port}{path}"))
            .header(header::CONTENT_TYPE, "application/json")
            .body(Full::from(body))?;
        let (connection, answer) = loop {
            let mut connection = self.connection().await?;
            match connection.send_request(request.clone()).await {
                Ok(answer) => break (connection, answer),
                Err(error) if is_goodbye(&error) => {}
                Err(error) => return Err(error.into()),
            }
        };
        let status = answer.status();
        let body = answer.into_body().collect().await?.to_bytes();
        self.connection = self.keeps_connection.then_some(connection);
        Ok((status, body))
    }

    /// The connection that is there, unless its server has said goodbye.
    async fn connection(&mut self) -> Result<SendRequest<Full<Bytes>>> {
        if let Some(mut kept) = self.connection.take()
            && kept.ready().await.is_ok()
        {
            return Ok(kept);
        }
        let (host, port) = self.address.clone();
        let stream = TcpStream::connect((host.as_str(), port)).await?;
        stream.set_nodelay(true)?;
        let stream = self.tls.connect(ServerName::try_from(host)?, stream).await?;
        let (sender, connection) = http2::handshake(TokioExecutor::new(), TokioIo::new(stream)).await?;
        // How a connection ends is seen by whoever asks on it.
        tokio::spawn(async move { connection.await.ok() });
        Ok(sender)
    }
}

/// Whether a server has said goodbye before it took the request: RFC 9113, section 6.8, lets every client send it again.
fn is_goodbye(error: &hyper::Error) -> bool {
    let source = std::error::Error::source(error);
    let source = source.and_then(|source| source.downcast_ref::<h2::Error>());
    source.is_some_and(|it| it.is_go_away() && it.is_remote() && it.reason() == Some(h2::Reason::NO_ERROR))
}
