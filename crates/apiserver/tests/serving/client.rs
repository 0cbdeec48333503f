//! Clients: TLS with or without a certificate, and both protocols over it.

use std::sync::Arc;

use bytes::Bytes;
use http::{HeaderMap, Request, Response, StatusCode};
use http_body_util::{BodyExt as _, Empty};
use hyper::{
    body::Incoming,
    client::conn::{http1, http2},
};
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyperplane_apiserver::pki::Pair;
use hyperplane_seams::Clock;
use rustls::{
    ClientConfig, RootCertStore,
    crypto::aws_lc_rs,
    pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime, pem::PemObject as _},
    sign::{CertifiedKey, SingleCertAndKey},
    time_provider::TimeProvider,
};
use secrecy::ExposeSecret as _;
use tokio::{
    io::{AsyncRead, AsyncWrite},
    task::JoinHandle,
};
use tokio_rustls::{TlsConnector, client::TlsStream};

use super::World;

/// A handshake to come.
pub struct Client {
    config: ClientConfig,
}

#[derive(Debug)]
struct Time(Clock);

impl TimeProvider for Time {
    fn current_time(&self) -> Option<UnixTime> {
        let seconds = u64::try_from(self.0.now().as_second()).unwrap();
        Some(UnixTime::since_unix_epoch(std::time::Duration::from_secs(seconds)))
    }
}

impl Client {
    /// A client that trusts a world's server and shows a certificate, or none. The key need not belong to it.
    pub fn new(world: &World, pair: Option<&Pair>) -> Self {
        let provider = Arc::new(aws_lc_rs::default_provider());
        let mut roots = RootCertStore::empty();
        roots.add(der(&world.credentials.cluster.certificate)).unwrap();
        let config = ClientConfig::builder_with_details(Arc::clone(&provider), Arc::new(Time(world.clock.clone())))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_root_certificates(roots);
        let config = match pair {
            None => config.with_no_client_auth(),
            Some(pair) => {
                let key = PrivateKeyDer::from_pem_slice(pair.key.expose_secret().as_bytes()).unwrap();
                let key = provider.key_provider.load_private_key(key).unwrap();
                let key = CertifiedKey::new(vec![der(&pair.certificate)], key);
                config.with_client_cert_resolver(Arc::new(SingleCertAndKey::from(key)))
            }
        };
        Self { config }
    }

    /// Shakes hands, offering these protocols.
    pub async fn handshake<I>(mut self, io: I, protocols: &[&[u8]]) -> std::io::Result<TlsStream<I>>
    where
        I: AsyncRead + AsyncWrite + Unpin,
    {
        self.config.alpn_protocols = protocols.iter().map(|protocol| protocol.to_vec()).collect();
        let name = ServerName::try_from("kubernetes.default.svc").unwrap();
        TlsConnector::from(Arc::new(self.config)).connect(name, io).await
    }

    /// A connection of HTTP/1.
    pub async fn http_1<I>(self, io: I) -> Http1
    where
        I: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let stream = self.handshake(io, &[b"http/1.1"]).await.unwrap();
        let (sender, connection) = http1::handshake(TokioIo::new(stream)).await.unwrap();
        Http1 {
            sender,
            connection: tokio::spawn(connection),
        }
    }

    /// A connection of HTTP/2.
    pub async fn http_2<I>(self, io: I) -> Http2
    where
        I: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let stream = self.handshake(io, &[b"h2", b"http/1.1"]).await.unwrap();
        assert_eq!(stream.get_ref().1.alpn_protocol(), Some(&b"h2"[..]));
        let (sender, connection) = http2::handshake(TokioExecutor::new(), TokioIo::new(stream))
            .await
            .unwrap();
        Http2 {
            sender,
            connection: tokio::spawn(connection),
        }
    }
}

pub fn der(pem: &str) -> CertificateDer<'static> {
    CertificateDer::from_pem_slice(pem.as_bytes()).unwrap()
}

/// A client's end of a connection. The task ends with the connection.
pub struct Http1 {
    pub sender: http1::SendRequest<Empty<Bytes>>,
    pub connection: JoinHandle<hyper::Result<()>>,
}

/// A client's end of a connection. The task ends with the connection.
pub struct Http2 {
    pub sender: http2::SendRequest<Empty<Bytes>>,
    pub connection: JoinHandle<hyper::Result<()>>,
}

impl Http1 {
    pub async fn get(&mut self, path: &str) -> hyper::Result<Response<Incoming>> {
        self.sender.send_request(request(path)).await
    }
}

impl Http2 {
    pub async fn get(&mut self, path: &str) -> hyper::Result<Response<Incoming>> {
        self.sender.send_request(request(path)).await
    }
}

/// A request for a path.
pub fn request(path: &str) -> Request<Empty<Bytes>> {
    let uri = format!("https://kubernetes.default.svc{path}");
    Request::get(uri)
        .header("host", "kubernetes.default.svc")
        .body(Empty::new())
        .unwrap()
}

/// All of an answer.
pub async fn whole(response: Response<Incoming>) -> (StatusCode, HeaderMap, String) {
    let (parts, body) = response.into_parts();
    let bytes = body.collect().await.unwrap().to_bytes();
    (parts.status, parts.headers, String::from_utf8(bytes.to_vec()).unwrap())
}
