//! The router between real TLS clients and servers, on ports of this machine.

use std::{fs, net::SocketAddr, path::PathBuf, sync::Arc, time::Duration};

use hyperplane_sidecars::router::{self, Settings};
use rustls::{ClientConfig, RootCertStore, crypto::aws_lc_rs, pki_types::ServerName};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
    task::JoinSet,
};
use tokio_rustls::{TlsConnector, client::TlsStream};
use tokio_util::sync::CancellationToken;

use crate::support::{Certificates, certificate, eventually, soon};

/// A server that hears all, and then says its name and what it heard.
async fn backend(listener: TcpListener, acceptor: tokio_rustls::TlsAcceptor, name: &'static str) {
    let mut tasks = JoinSet::new();
    loop {
        let (stream, _) = listener.accept().await.unwrap();
        let acceptor = acceptor.clone();
        tasks.spawn(async move {
            let Ok(mut stream) = acceptor.accept(stream).await else {
                return;
            };
            let mut heard = Vec::new();
            if stream.read_to_end(&mut heard).await.is_ok() {
                stream.write_all(name.as_bytes()).await.unwrap();
                stream.write_all(&heard).await.unwrap();
                stream.shutdown().await.unwrap();
            }
        });
    }
}

struct Router {
    tasks: JoinSet<()>,
    running: tokio::task::JoinHandle<Result<(), router::RouterError>>,
    settings: Settings,
    backends: Vec<SocketAddr>,
    authority: PathBuf,
    stop: CancellationToken,
    _directory: tempfile::TempDir,
}

const NAMES: [&str; 2] = ["one.example.com", "two.example.com"];

impl Router {
    async fn start() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let certificates = Certificates::create(directory.path());
        let mut tasks = JoinSet::new();
        let mut backends = Vec::new();
        for name in NAMES {
            let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
            backends.push(listener.local_addr().unwrap());
            let acceptor = certificates.acceptor(&certificates.named_server(name), false);
            tasks.spawn(backend(listener, acceptor, name));
        }
        let free = hyperplane_testbed::find_addresses(2).unwrap();
        let settings = Settings {
            config: directory.path().join("router.yaml"),
            listen: free[0].into(),
            health: free[1].into(),
            farewell: Duration::from_millis(200),
        };
        let stop = CancellationToken::new();
        fs::write(&settings.config, routes(&[(NAMES[0], backends[0])])).unwrap();
        let running = tokio::spawn({
            let (settings, stop) = (settings.clone(), stop.clone());
            async move { router::run(&settings, &stop).await }
        });
        Self {
            tasks,
            running,
            settings,
            backends,
            authority: certificates.authority(),
            stop,
            _directory: directory,
        }
    }

    async fn connect(&self, name: &str, has_name: bool) -> std::io::Result<TlsStream<TcpStream>> {
        let mut roots = RootCertStore::empty();
        roots.add(certificate(&self.authority)).unwrap();
        let mut config = ClientConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_root_certificates(roots)
            .with_no_client_auth();
        config.enable_sni = has_name;
        let stream = eventually("a listener", async || TcpStream::connect(self.settings.listen).await).await;
        let name = ServerName::try_from(name.to_owned()).unwrap();
        let connecting = TlsConnector::from(Arc::new(config)).connect(name, stream);
        soon("a handshake", connecting).await
    }

    /// Says something, and goodbye, and hears the answer.
    async fn exchange(&self, name: &str, bytes: &[u8]) -> std::io::Result<Vec<u8>> {
        let stream = self.connect(name, true).await?;
        let (mut reader, mut writer) = tokio::io::split(stream);
        let saying = async {
            writer.write_all(bytes).await?;
            writer.shutdown().await
        };
        let mut heard = Vec::new();
        let (said, read) = soon("an answer", async {
            tokio::join!(saying, reader.read_to_end(&mut heard))
        })
        .await;
        said?;
        read?;
        Ok(heard)
    }

    async fn get(&self, path: &str) -> String {
        let mut stream = TcpStream::connect(self.settings.health).await.unwrap();
        let request = format!("GET {path} HTTP/1.1\r\nhost: x\r\n\r\n");
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut answer = String::new();
        soon("an answer", stream.read_to_string(&mut answer)).await.unwrap();
        answer
    }
}

fn routes(pairs: &[(&str, SocketAddr)]) -> String {
    let route = |(name, backend): &(&str, SocketAddr)| format!("- {{hostname: {name}, backend: '{backend}'}}\n");
    format!("routes:\n{}", pairs.iter().map(route).collect::<String>())
}

#[tokio::test]
async fn names_lead_to_backends_and_the_file_may_change() {
    let mut router = Router::start().await;
    let long = vec![b'x'; 1 << 20];
    let heard = router.exchange(NAMES[0], &long).await.unwrap();
    assert_eq!(heard, [NAMES[0].as_bytes(), &long].concat());

    let refused = router.exchange(NAMES[1], b"").await.unwrap_err().to_string();
    assert!(refused.contains("UnrecognisedName"), "{refused}");
    let nameless = router.connect(NAMES[0], false).await.unwrap_err().to_string();
    assert!(nameless.contains("MissingExtension"), "{nameless}");

    // A connection that is there outlives its route.
    let mut kept = router.connect(NAMES[0], true).await.unwrap();
    fs::write(&router.settings.config, routes(&[(NAMES[1], router.backends[1])])).unwrap();
    let heard = eventually("a new route", async || router.exchange(NAMES[1], b"!").await).await;
    assert_eq!(heard, format!("{}!", NAMES[1]).into_bytes());
    assert!(router.exchange(NAMES[0], b"").await.is_err());
    kept.write_all(b"still here").await.unwrap();
    kept.shutdown().await.unwrap();
    let mut heard = String::new();
    soon("an answer", kept.read_to_string(&mut heard)).await.unwrap();
    assert_eq!(heard, format!("{}still here", NAMES[0]));

    assert!(router.get("/readyz").await.starts_with("HTTP/1.1 200 OK\r\n"));
    let metrics = router.get("/metrics").await;
    for line in [
        "ended_total{outcome=\"no_name\"} 1",
        "reloads_total{outcome=\"used\"} 1",
    ] {
        assert!(metrics.contains(line), "{line} in {metrics}");
    }
    router.tasks.abort_all();
}

#[tokio::test]
async fn it_ends_soon_also_with_open_connections() {
    let mut router = Router::start().await;
    let mut open = router.connect(NAMES[0], true).await.unwrap();
    router.stop.cancel();
    soon("the end", &mut router.running).await.unwrap().unwrap();
    assert!(TcpStream::connect(router.settings.listen).await.is_err());
    let mut rest = Vec::new();
    // Cut off, without the goodbye of TLS.
    assert!(soon("an end", open.read_to_end(&mut rest)).await.is_err());
}

#[tokio::test]
async fn a_client_that_says_nothing_or_nonsense_is_let_go() {
    let router = Router::start().await;
    router.exchange(NAMES[0], b"").await.unwrap();
    let mut nonsense = TcpStream::connect(router.settings.listen).await.unwrap();
    nonsense.write_all(b"GET / HTTP/1.1\r\nhost: x\r\n\r\n").await.unwrap();
    let mut answer = Vec::new();
    // It is told in the language of TLS, or only let go.
    soon("an end", nonsense.read_to_end(&mut answer)).await.ok();
    assert!(answer.is_empty() || answer[0] == 21, "{answer:?}");
    assert!(router.exchange(NAMES[0], b"on").await.is_ok());
}
