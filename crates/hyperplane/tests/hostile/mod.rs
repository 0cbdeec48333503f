//! A server under attack: raw connections that say what they like, and a well-behaved client whose progress counts.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

pub mod requests;

use std::{path::Path, sync::Arc};

use kube::Client;
use rustls::{
    ClientConfig, RootCertStore,
    crypto::aws_lc_rs,
    pki_types::{CertificateDer, PrivateKeyDer, ServerName, pem::PemObject as _},
};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
};
use tokio_rustls::{TlsConnector, client::TlsStream};

use crate::apiserver::{Process, soon, text};

/// Where everything is written.
pub const COLLECTION: &str = "/api/v1/namespaces/default/configmaps";
/// Requests of each sort by which the well-behaved client shows that it is served.
const PROGRESS: usize = 20;

/// A connection that says what it likes.
pub type Wire = TlsStream<TcpStream>;

/// A server, and how to reach it.
pub struct Target {
    /// The process; it must be the same at the end.
    pub process: Process,
    client: Client,
    tls: ClientConfig,
    _data: TempDir,
}

impl Target {
    /// Starts a server that forgets.
    pub async fn start() -> Self {
        let data = tempfile::tempdir().unwrap();
        let process = Process::start(&["--in-memory", "--data-dir", text(data.path())]);
        Self {
            client: process.client().await,
            tls: tls(&data.path().join("pki")),
            process,
            _data: data,
        }
    }

    /// A connection as the administrator, with a protocol of HTTP.
    pub async fn connect(&self, protocol: &str) -> Wire {
        let stream = TcpStream::connect(self.process.address()).await.unwrap();
        let mut tls = self.tls.clone();
        tls.alpn_protocols = vec![protocol.as_bytes().to_vec()];
        let name = ServerName::try_from("localhost").unwrap();
        TlsConnector::from(Arc::new(tls)).connect(name, stream).await.unwrap()
    }

    /// Says something on a connection of its own, and gives back the answer: its code and its body, or nothing if the
    /// server just closed.
    pub async fn say(&self, bytes: &[u8]) -> Option<(u16, Vec<u8>)> {
        let mut wire = self.connect("http/1.1").await;
        // A server that has heard enough closes before the end.
        wire.write_all(bytes).await.ok();
        wire.flush().await.ok();
        soon("an answer, or the end", read_answer(&mut wire)).await
    }

    /// Writes, reads and lists as a program would, some times each. Every request must be answered well.
    pub async fn progress(&self) {
        soon("progress of the well-behaved client", self.work()).await;
    }

    async fn work(&self) {
        for number in 0..PROGRESS {
            let name = format!("good-{number}");
            let path = format!("{COLLECTION}/{name}");
            let object = json!({
                "apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name},
                "data": {"number": number.to_string()},
            });
            assert_eq!(self.ask("POST", COLLECTION, &object).await["data"], object["data"]);
            assert_eq!(self.ask("GET", &path, &Value::Null).await["data"], object["data"]);
            assert!(self.ask("GET", COLLECTION, &Value::Null).await["items"].is_array());
            assert_eq!(self.ask("DELETE", &path, &Value::Null).await["status"], "Success");
        }
    }

    async fn ask(&self, method: &str, path: &str, body: &Value) -> Value {
        let body = if body.is_null() {
            Vec::new()
        } else {
            serde_json::to_vec(body).unwrap()
        };
        let request = http::Request::builder().method(method).uri(path);
        let request = request.header("content-type", "application/json").body(body).unwrap();
        self.client.request(request).await.unwrap()
    }

    /// Ends the server politely, which it can only do if nothing of it has panicked.
    pub fn end(self) {
        let (status, rest) = self.process.end("-TERM");
        assert_eq!((status.code(), &*rest), (Some(0), ""));
    }
}

fn tls(pki: &Path) -> ClientConfig {
    let certificate = |name: &str| CertificateDer::from_pem_file(pki.join(name)).unwrap();
    let mut roots = RootCertStore::empty();
    roots.add(certificate("ca.crt")).unwrap();
    let key = PrivateKeyDer::from_pem_file(pki.join("admin.key")).unwrap();
    ClientConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_client_auth_cert(vec![certificate("admin.crt")], key)
        .unwrap()
}

/// Reads the head of an answer, and as much of a body as the head says. Answers to hostile requests say a length.
pub async fn read_answer(wire: &mut Wire) -> Option<(u16, Vec<u8>)> {
    let mut bytes = Vec::new();
    loop {
        if let Some(answer) = parse(&bytes) {
            return Some(answer);
        }
        let mut part = vec![0; 16 << 10];
        match wire.read(&mut part).await {
            Ok(count @ 1..) => bytes.extend_from_slice(&part[..count]),
            // The end, or what a server that died would leave too: the caller looks whether it is there.
            _ => return parse_closed(&bytes),
        }
    }
}

fn parse(bytes: &[u8]) -> Option<(u16, Vec<u8>)> {
    let end = bytes.windows(4).position(|window| window == b"\r\n\r\n")?;
    let head = String::from_utf8_lossy(&bytes[..end]).to_lowercase();
    let body = &bytes[end + 4..];
    let code: u16 = head.get(9..12)?.parse().ok()?;
    if code == 100 {
        return parse(body);
    }
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
    let length: usize = length?.trim().parse().ok()?;
    (body.len() >= length).then(|| (code, body[..length].to_vec()))
}

/// An answer without a length ends with the connection.
fn parse_closed(bytes: &[u8]) -> Option<(u16, Vec<u8>)> {
    let head = String::from_utf8_lossy(bytes);
    let code = head.strip_prefix("HTTP/1.1 ")?.get(..3)?.parse().ok()?;
    Some((code, bytes.to_vec()))
}
