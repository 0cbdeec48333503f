//! Tunnels through a stand-in for the konnectivity server, in both languages, on ports of this machine.

use std::net::{Ipv4Addr, SocketAddr};

use hyperplane_sidecars::{
    place::Place,
    tls::TlsFiles,
    tunnel::{self, Language, Tunnels},
};
use tokio::{
    io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader},
    net::{TcpListener, TcpStream},
    task::JoinSet,
};
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::support::{self, Certificates, soon};

/// A program that opens tunnels, and what it opens them through.
struct Proxy {
    address: SocketAddr,
    tasks: JoinSet<()>,
    stop: CancellationToken,
    _end: DropGuard,
    _directory: tempfile::TempDir,
}

/// Answers CONNECT as konnectivity does, and then says back all that it hears, once, at the end of it. Targets that are
/// called `nobody` are not there.
async fn konnectivity(listener: TcpListener, certificates: Certificates, files: hyperplane_testbed::Identity) {
    let acceptor = certificates.acceptor(&files, true);
    loop {
        let (stream, _) = listener.accept().await.unwrap();
        // A client without a certificate goes away here.
        let Ok(stream) = acceptor.accept(stream).await else {
            continue;
        };
        let mut stream = BufReader::new(stream);
        let mut head = Vec::new();
        loop {
            let mut line = String::new();
            stream.read_line(&mut line).await.unwrap();
            if line == "\r\n" {
                break;
            }
            head.push(line);
        }
        if head[0].starts_with("CONNECT nobody:") {
            let refusal = b"HTTP/1.1 503 Service Unavailable\r\ncontent-length: 0\r\n\r\n";
            stream.write_all(refusal).await.unwrap();
            continue;
        }
        assert_eq!(head[0], "CONNECT svc.ns.svc:443 HTTP/1.1\r\n");
        // The real one says that the body is in chunks, and then sends none.
        let answer = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
        stream.write_all(answer).await.unwrap();
        let mut heard = Vec::new();
        stream.read_to_end(&mut heard).await.unwrap();
        heard.make_ascii_uppercase();
        stream.write_all(&heard).await.unwrap();
        stream.shutdown().await.unwrap();
    }
}

impl Proxy {
    async fn start(language: Language, has_certificate: bool) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let certificates = Certificates::create(directory.path());
        let files = certificates.server(Ipv4Addr::LOCALHOST);
        let mut tls: TlsFiles = certificates.client();
        if !has_certificate {
            tls.identity = None;
        }
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let server = Place::new("127.0.0.1", listener.local_addr().unwrap().port()).unwrap();
        let free = hyperplane_testbed::find_addresses(1).unwrap()[0];
        let address = SocketAddr::from(free);
        let stop = CancellationToken::new();
        let mut tasks = JoinSet::new();
        tasks.spawn(konnectivity(listener, certificates, files));
        tasks.spawn({
            let stop = stop.clone();
            async move {
                let tunnels = Tunnels { server, tls };
                tunnel::run(language, address, &tunnels, &stop).await.unwrap();
            }
        });
        Self {
            address,
            tasks,
            _end: stop.clone().drop_guard(),
            stop,
            _directory: directory,
        }
    }

    async fn connect(&self) -> TcpStream {
        support::eventually("a listener", async || TcpStream::connect(self.address).await).await
    }

    /// Says something to the proxy and hears all that comes back.
    async fn exchange(&self, bytes: &[u8]) -> Vec<u8> {
        let mut stream = self.connect().await;
        stream.write_all(bytes).await.unwrap();
        stream.shutdown().await.unwrap();
        let mut heard = Vec::new();
        soon("an end", stream.read_to_end(&mut heard)).await.unwrap();
        heard
    }

    async fn end(mut self) {
        self.stop.cancel();
        // The proxy ends; its peer never does.
        soon("the end of the proxy", self.tasks.join_next())
            .await
            .unwrap()
            .unwrap();
    }
}

fn text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap()
}

#[tokio::test]
async fn http() {
    let proxy = Proxy::start(Language::Http, true).await;
    let mut stream = proxy.connect().await;
    let wish = b"CONNECT svc.ns.svc:443 HTTP/1.1\r\nhost: svc.ns.svc:443\r\n\r\n";
    stream.write_all(wish).await.unwrap();
    let answer = b"HTTP/1.1 200 OK\r\n\r\n";
    let mut heard = vec![0; answer.len()];
    soon("an answer", stream.read_exact(&mut heard)).await.unwrap();
    assert_eq!(text(heard), text(answer.to_vec()));
    let long = "hello ".repeat(100_000);
    let (mut reader, mut writer) = stream.split();
    let saying = async {
        writer.write_all(long.as_bytes()).await.unwrap();
        writer.shutdown().await.unwrap();
    };
    let hearing = async {
        let mut heard = Vec::new();
        reader.read_to_end(&mut heard).await.unwrap();
        heard
    };
    let ((), heard) = soon("an echo", async { tokio::join!(saying, hearing) }).await;
    assert_eq!(text(heard), long.to_ascii_uppercase());

    let refused = text(proxy.exchange(b"GET http://svc/ HTTP/1.1\r\nhost: svc\r\n\r\n").await);
    assert!(
        refused.starts_with("HTTP/1.1 405 Method Not Allowed\r\nallow: CONNECT\r\n"),
        "{refused}"
    );
    let away = text(
        proxy
            .exchange(b"CONNECT nobody:1 HTTP/1.1\r\nhost: nobody:1\r\n\r\n")
            .await,
    );
    assert!(away.starts_with("HTTP/1.1 502 Bad Gateway\r\n"), "{away}");
    assert!(away.contains("answers 503 Service Unavailable for nobody:1"), "{away}");
    let long_head = format!("CONNECT svc:1 HTTP/1.1\r\nx: {}\r\n\r\n", "y".repeat(100_000));
    let refused = text(proxy.exchange(long_head.as_bytes()).await);
    assert!(refused.is_empty() || refused.starts_with("HTTP/1.1 431 "), "{refused}");
    proxy.end().await;
}

#[tokio::test]
async fn socks() {
    let proxy = Proxy::start(Language::Socks, true).await;
    let wish = |name: &str| {
        let length = u8::try_from(name.len()).unwrap();
        let parts: [&[u8]; 4] = [&[5, 1, 0, 5, 1, 0, 3, length], name.as_bytes(), &[1, 187], b"hello"];
        parts.concat()
    };
    let heard = proxy.exchange(&wish("svc.ns.svc")).await;
    let expected: [&[u8]; 3] = [&[5, 0], &[5, 0, 0, 1, 0, 0, 0, 0, 0, 0], b"HELLO"];
    assert_eq!(heard, expected.concat());
    let heard = proxy.exchange(&wish("nobody")).await;
    assert_eq!(heard, [5, 0, 5, 4, 0, 1, 0, 0, 0, 0, 0, 0]);
    assert_eq!(proxy.exchange(b"GET / HTTP/1.1\r\n\r\n").await, b"");
    proxy.end().await;
}

#[tokio::test]
async fn who_has_no_certificate_gets_no_tunnel() {
    let proxy = Proxy::start(Language::Http, false).await;
    let wish = b"CONNECT svc.ns.svc:443 HTTP/1.1\r\nhost: svc.ns.svc:443\r\n\r\n";
    let refused = text(proxy.exchange(wish).await);
    assert!(refused.starts_with("HTTP/1.1 502 Bad Gateway\r\n"), "{refused}");
    proxy.end().await;
}
