//! Hammers against small servers on loopback that fail as they are told.

use std::{
    convert::Infallible,
    net::{Ipv4Addr, SocketAddr},
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use bytes::Bytes;
use http::{Request, Response, StatusCode};
use http_body_util::Full;
use hyper::{
    body::Incoming,
    server::conn::{http1, http2},
    service::service_fn,
};
use hyper_util::rt::{TokioExecutor, TokioIo};
use rustls::{
    ClientConfig, RootCertStore, ServerConfig,
    pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject as _},
    server::WebPkiClientVerifier,
};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
    sync::Notify,
    time::timeout,
};
use tokio_rustls::TlsAcceptor;

use super::*;
use crate::certificates::{Authority, Identity};

/// How long a test waits for what takes milliseconds.
const LIMIT: Duration = Duration::from_secs(30);

/// Good answers that a client must have had after its troubles.
const AFTERWARDS: usize = 3;

/// What a server does with a request over HTTP/1.1.
#[derive(Clone, Copy)]
enum Fault {
    None,
    /// Says when to come back.
    Throttle,
    /// Does not say when to come back.
    ThrottleWithoutWord,
    Unavailable,
    /// Says that this answer is the last of its connection.
    Goodbye,
    /// Ends the connection without an answer.
    Silence,
    /// Ends the connection within the answer.
    Half,
}

impl Fault {
    /// What is sent, and whether the connection goes on.
    fn answer(self) -> (&'static [u8], bool) {
        match self {
            Self::None => (b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", true),
            Self::Throttle => (
                b"HTTP/1.1 429 Too Many Requests\r\nRetry-After: 0\r\nContent-Length: 0\r\n\r\n",
                true,
            ),
            Self::ThrottleWithoutWord => (b"HTTP/1.1 429 Too Many Requests\r\nContent-Length: 0\r\n\r\n", true),
            Self::Unavailable => (b"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n", true),
            Self::Goodbye => (
                b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok",
                false,
            ),
            Self::Silence => (b"", false),
            Self::Half => (b"HTTP/1.1 200 OK\r\nContent-Length: 200\r\n\r\nno", false),
        }
    }
}

/// What a server has seen so far.
#[derive(Clone, Default)]
struct Seen {
    connections: usize,
    requests: usize,
    /// The last request: its head and body.
    last: String,
}

async fn listen() -> (TcpListener, SocketAddr) {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let address = listener.local_addr().unwrap();
    (listener, address)
}

fn target(address: SocketAddr) -> Target {
    Target {
        address,
        authority: address.to_string(),
        tls: None,
        authorization: Some("Bearer token".to_owned()),
    }
}

/// Serves one client: the first requests with these faults, the others well.
async fn serve(listener: TcpListener, faults: &'static [Fault], seen: watch::Sender<Seen>) {
    loop {
        let (mut stream, _) = listener.accept().await.unwrap();
        seen.send_modify(|seen| seen.connections += 1);
        while let Some(request) = read_request(&mut stream).await {
            let number = seen.borrow().requests;
            let (answer, goes_on) = faults.get(number).copied().unwrap_or(Fault::None).answer();
            stream.write_all(answer).await.unwrap();
            seen.send_modify(|seen| {
                seen.requests += 1;
                seen.last = request;
            });
            if !goes_on {
                break;
            }
        }
    }
}

/// Reads a request whose body, if there is one, is an object that begins and ends with it.
async fn read_request(stream: &mut TcpStream) -> Option<String> {
    let mut text = String::new();
    let mut buffer = [0; 1024];
    loop {
        let count = stream.read(&mut buffer).await.ok().filter(|count| *count > 0)?;
        text.push_str(std::str::from_utf8(&buffer[..count]).unwrap());
        let Some((head, body)) = text.split_once("\r\n\r\n") else {
            continue;
        };
        let has_body = head.to_lowercase().contains("content-length: ");
        if !has_body || body.ends_with("}}") {
            return Some(text);
        }
    }
}

/// Hammers a server with one client until that has outlived all faults.
async fn hammer(client: Client, faults: &'static [Fault]) -> (Report, Seen) {
    let (listener, address) = listen().await;
    let (sender, mut seen) = watch::channel(Seen::default());
    let server = tokio::spawn(serve(listener, faults, sender));
    let hammer = Hammer::start_with(&target(address), vec![client], Duration::ZERO);
    let enough = seen.wait_for(|seen| seen.requests >= faults.len() + AFTERWARDS);
    timeout(LIMIT, enough).await.unwrap().unwrap();
    let report = hammer.stop().await;
    server.abort();
    let seen = seen.borrow().clone();
    (report, seen)
}

fn reading(protocol: Protocol) -> Client {
    Client {
        protocol,
        work: Work::Read("/version".to_owned()),
    }
}

fn answers(report: &Report, status: u16) -> u64 {
    report.clients[0].statuses.get(&status).copied().unwrap_or_default()
}

#[tokio::test]
async fn a_good_server_loses_nothing_over_one_connection() {
    let (report, seen) = hammer(reading(Protocol::Http1), &[]).await;
    assert_eq!((report.lost(), report.throttled(), seen.connections), (0, 0, 1));
    assert_eq!(report.requests(), answers(&report, 200));
    assert!(report.requests() >= AFTERWARDS as u64, "{report}");
    assert!(seen.last.starts_with("GET /version HTTP/1.1\r\n"), "{}", seen.last);
    assert!(seen.last.contains("authorization: Bearer token\r\n"), "{}", seen.last);
}

#[tokio::test]
async fn a_client_without_keep_alive_connects_for_each_request() {
    let (report, seen) = hammer(reading(Protocol::Http1WithoutKeepAlive), &[]).await;
    assert_eq!((report.lost(), seen.connections), (0, seen.requests));
    assert!(seen.last.contains("connection: close\r\n"), "{}", seen.last);
}

#[tokio::test]
async fn a_429_that_says_when_is_asked_once_more() {
    let faults = &[Fault::None, Fault::Throttle, Fault::None];
    let (report, _) = hammer(reading(Protocol::Http1), faults).await;
    assert_eq!((report.throttled(), report.lost(), answers(&report, 429)), (1, 0, 0));
}

#[tokio::test]
async fn a_429_after_the_wait_is_lost() {
    let faults = &[Fault::Throttle, Fault::Throttle];
    let (report, _) = hammer(reading(Protocol::Http1), faults).await;
    assert_eq!((report.throttled(), report.lost(), answers(&report, 429)), (1, 1, 1));
}

#[tokio::test]
async fn a_429_that_does_not_say_when_is_lost() {
    let (report, _) = hammer(reading(Protocol::Http1), &[Fault::ThrottleWithoutWord]).await;
    assert_eq!((report.throttled(), report.lost(), answers(&report, 429)), (0, 1, 1));
}

#[tokio::test]
async fn nothing_else_is_asked_again() {
    let faults = &[Fault::Unavailable, Fault::Silence, Fault::None, Fault::Half];
    let (report, seen) = hammer(reading(Protocol::Http1), faults).await;
    let client = &report.clients[0];
    assert_eq!(
        (answers(&report, 503), client.broken, client.refused),
        (1, 2, 0),
        "{report}"
    );
    assert_eq!((report.lost(), client.failures.len()), (3, 3), "{report}");
    assert_eq!(seen.connections, 3);
}

#[tokio::test]
async fn a_goodbye_between_requests_is_no_loss() {
    let faults = &[Fault::Goodbye, Fault::None, Fault::Goodbye];
    let (report, seen) = hammer(reading(Protocol::Http1), faults).await;
    assert_eq!((report.lost(), seen.connections), (0, 3), "{report}");
}

#[tokio::test]
async fn a_write_changes_a_key_of_its_own() {
    let writing = Client::on_config_map("default", "hammer").remove(1);
    let (report, seen) = hammer(writing, &[]).await;
    assert_eq!(report.lost(), 0);
    let head = "PATCH /api/v1/namespaces/default/configmaps/hammer HTTP/1.1\r\n";
    assert!(seen.last.starts_with(head), "{}", seen.last);
    assert!(
        seen.last.contains("content-type: application/merge-patch+json\r\n"),
        "{}",
        seen.last
    );
    assert!(seen.last.contains("\r\n\r\n{\"data\":{\"http1\":\""), "{}", seen.last);
}

#[tokio::test]
async fn a_server_that_makes_no_connection_refuses_requests() {
    let (listener, address) = listen().await;
    let (sender, mut accepted) = watch::channel(0);
    let server = tokio::spawn(async move {
        loop {
            drop(listener.accept().await);
            sender.send_modify(|count| *count += 1);
        }
    });
    let trusting_nobody = ClientConfig::builder().with_root_certificates(RootCertStore::empty());
    let target = Target {
        tls: Some(Tls {
            client: Arc::new(trusting_nobody.with_no_client_auth()),
            server_name: "server.example.com".try_into().unwrap(),
        }),
        ..target(address)
    };
    let hammer = Hammer::start_with(&target, vec![reading(Protocol::Http2)], Duration::ZERO);
    // The first request is over when the second connection comes.
    timeout(LIMIT, accepted.wait_for(|count| *count >= 2))
        .await
        .unwrap()
        .unwrap();
    let report = hammer.stop().await;
    server.abort();
    let client = &report.clients[0];
    assert_eq!((client.broken, client.statuses.len()), (0, 0), "{report}");
    assert_eq!((client.refused, report.lost()), (report.requests(), report.requests()));
    assert!(client.refused > 0, "{report}");
}

/// How a connection over HTTP/2 ends.
#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    /// It says goodbye, and serves what is under way.
    Graceful,
    /// It is gone.
    Abrupt,
}

/// Serves a client over HTTP/2; the first connections end so during their second request.
async fn serve_http2(listener: TcpListener, ends: &'static [End], seen: watch::Sender<Seen>) {
    loop {
        let (stream, _) = listener.accept().await.unwrap();
        let number = seen.borrow().connections;
        seen.send_modify(|seen| seen.connections += 1);
        let (second, served) = (Arc::new(Notify::new()), Arc::new(watch::channel(0).0));
        let end = ends.get(number).copied();
        let service = service_fn(|_: Request<Incoming>| {
            let (second, served, seen) = (Arc::clone(&second), Arc::clone(&served), seen.clone());
            async move {
                served.send_modify(|count| *count += 1);
                if *served.borrow() == 2 {
                    second.notify_one();
                    if end == Some(End::Abrupt) {
                        std::future::pending::<()>().await;
                    }
                }
                seen.send_modify(|seen| seen.requests += 1);
                Ok::<_, Infallible>(Response::new(Full::new(Bytes::from_static(b"ok"))))
            }
        });
        let connection = http2::Builder::new(TokioExecutor::new()).serve_connection(TokioIo::new(stream), service);
        tokio::pin!(connection);
        match end {
            None => drop(connection.await),
            Some(end) => {
                tokio::select! {
                    biased;
                    () = second.notified() => {}
                    _ = connection.as_mut() => {}
                }
                if end == End::Graceful {
                    connection.as_mut().graceful_shutdown();
                    drop(connection.await);
                }
            }
        }
    }
}

async fn hammer_http2(ends: &'static [End]) -> (Report, Seen) {
    let (listener, address) = listen().await;
    let (sender, mut seen) = watch::channel(Seen::default());
    let server = tokio::spawn(serve_http2(listener, ends, sender));
    let hammer = Hammer::start_with(&target(address), vec![reading(Protocol::Http2)], Duration::ZERO);
    let enough = seen.wait_for(|seen| seen.connections > ends.len() && seen.requests >= 2 * ends.len() + AFTERWARDS);
    timeout(LIMIT, enough).await.unwrap().unwrap();
    let report = hammer.stop().await;
    server.abort();
    let seen = seen.borrow().clone();
    (report, seen)
}

#[tokio::test]
async fn a_goodbye_over_http2_is_no_loss() {
    let (report, seen) = hammer_http2(&[End::Graceful, End::Graceful]).await;
    assert_eq!((report.lost(), seen.connections), (0, 3), "{report}");
    assert_eq!(report.requests(), answers(&report, StatusCode::OK.as_u16()));
}

#[tokio::test]
async fn a_connection_over_http2_that_is_gone_breaks_its_request() {
    let (report, seen) = hammer_http2(&[End::Abrupt, End::Graceful]).await;
    let client = &report.clients[0];
    assert_eq!((client.broken, client.refused, seen.connections), (1, 0, 3), "{report}");
}

/// Serves over TLS to those who have a certificate, in the protocol that they ask for.
async fn serve_tls(listener: TcpListener, config: ServerConfig, seen: watch::Sender<Seen>) {
    let acceptor = TlsAcceptor::from(Arc::new(config));
    loop {
        let (stream, _) = listener.accept().await.unwrap();
        let stream = acceptor.accept(stream).await.unwrap();
        let is_http2 = stream.get_ref().1.alpn_protocol() == Some(b"h2");
        let seen = seen.clone();
        let service = service_fn(move |request: Request<Incoming>| {
            let version = format!("{:?}", request.version());
            seen.send_modify(|seen| {
                seen.requests += 1;
                seen.last = version;
            });
            std::future::ready(Ok::<_, Infallible>(Response::new(Full::new(Bytes::from_static(b"ok")))))
        });
        let stream = TokioIo::new(stream);
        tokio::spawn(async move {
            if is_http2 {
                drop(
                    http2::Builder::new(TokioExecutor::new())
                        .serve_connection(stream, service)
                        .await,
                );
            } else {
                drop(http1::Builder::new().serve_connection(stream, service).await);
            }
        });
    }
}

/// A server's configuration, and a kubeconfig for it.
fn certified(directory: &Path, address: SocketAddr) -> (ServerConfig, PathBuf) {
    let identity = |name| Identity::in_directory(directory, name);
    let authority = Authority::create("test", &identity("ca")).unwrap();
    let host = address.ip().to_string();
    authority
        .sign_server_for("server", &[&host], &identity("server"))
        .unwrap();
    authority
        .sign_client("admin", &["system:masters"], &identity("admin"))
        .unwrap();
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from(authority.certificate())).unwrap();
    let verifier = WebPkiClientVerifier::builder(Arc::new(roots)).build().unwrap();
    let certificate = CertificateDer::from_pem_file(identity("server").certificate).unwrap();
    let key = PrivateKeyDer::from_pem_file(identity("server").key).unwrap();
    let mut config = ServerConfig::builder()
        .with_client_cert_verifier(verifier)
        .with_single_cert(vec![certificate], key)
        .unwrap();
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    let path = directory.join("kubeconfig");
    let kubeconfig = serde_json::json!({
        "apiVersion": "v1", "kind": "Config", "current-context": "test",
        "clusters": [{"name": "test", "cluster": {
            "server": format!("https://{address}"), "certificate-authority": identity("ca").certificate,
        }}],
        "users": [{"name": "test", "user": {
            "client-certificate": identity("admin").certificate, "client-key": identity("admin").key,
        }}],
        "contexts": [{"name": "test", "context": {"cluster": "test", "user": "test"}}],
    });
    std::fs::write(&path, kubeconfig.to_string()).unwrap();
    (config, path)
}

#[tokio::test]
async fn a_kubeconfig_says_whom_to_trust_and_who_asks() {
    let directory = tempfile::tempdir().unwrap();
    let (listener, address) = listen().await;
    let (config, kubeconfig) = certified(directory.path(), address);
    let (sender, mut seen) = watch::channel(Seen::default());
    let server = tokio::spawn(serve_tls(listener, config, sender));
    let target = Target::from_kubeconfig(&kubeconfig).await.unwrap();
    for (protocol, version) in [(Protocol::Http1, "HTTP/1.1"), (Protocol::Http2, "HTTP/2.0")] {
        let before = seen.borrow().requests;
        let hammer = Hammer::start_with(&target, vec![reading(protocol)], Duration::ZERO);
        let enough = seen.wait_for(|seen| seen.requests >= before + AFTERWARDS);
        timeout(LIMIT, enough).await.unwrap().unwrap();
        let report = hammer.stop().await;
        assert_eq!((report.lost(), seen.borrow().last.as_str()), (0, version), "{report}");
    }
    server.abort();
}
