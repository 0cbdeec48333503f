//! How `hyperplane apiserver` ends while it has something to do, on ports of this machine. No test waits for a clock.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::Arc,
};

use rustls::{
    ClientConfig, RootCertStore,
    crypto::aws_lc_rs,
    pki_types::{CertificateDer, PrivateKeyDer, ServerName, pem::PemObject as _},
};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
};
use tokio_rustls::{TlsConnector, client::TlsStream};

use crate::apiserver::{Process, hyperplane, text};

const BODY: &str = r#"{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"late"}}"#;

/// A connection as the administrator.
async fn connect(process: &Process, pki: &Path) -> TlsStream<TcpStream> {
    let certificate = |name: &str| CertificateDer::from_pem_file(pki.join(name)).unwrap();
    let mut roots = RootCertStore::empty();
    roots.add(certificate("ca.crt")).unwrap();
    let key = PrivateKeyDer::from_pem_file(pki.join("admin.key")).unwrap();
    let config = ClientConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_client_auth_cert(vec![certificate("admin.crt")], key)
        .unwrap();
    let stream = TcpStream::connect(process.address()).await.unwrap();
    let name = ServerName::try_from("localhost").unwrap();
    TlsConnector::from(Arc::new(config))
        .connect(name, stream)
        .await
        .unwrap()
}

/// Where a server that is told to end says what it has to say.
fn errors(data: &Path) -> PathBuf {
    data.with_extension("errors")
}

/// A server that waits for the body of a request, and was told to end. Its listener is closed.
async fn ending(data: &Path) -> (Process, TlsStream<TcpStream>) {
    let mut command = hyperplane(&["--data-dir", text(data)]);
    command.stderr(fs::File::create(errors(data)).unwrap());
    let process = Process::run(command);
    let mut stream = connect(&process, &data.join("pki")).await;
    let head = format!(
        "POST /api/v1/namespaces/default/configmaps HTTP/1.1\r\nhost: localhost\r\nexpect: 100-continue\r\n\
         content-type: application/json\r\ncontent-length: {}\r\n\r\n",
        BODY.len()
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    let expected = "HTTP/1.1 100 Continue\r\n\r\n";
    let mut answer = vec![0; expected.len()];
    stream.read_exact(&mut answer).await.unwrap();
    assert_eq!(answer, expected.as_bytes());
    process.signal("-TERM");
    while TcpStream::connect(process.address()).await.is_ok() {
        tokio::task::yield_now().await;
    }
    (process, stream)
}

#[tokio::test]
async fn a_write_under_way_is_done_and_kept() {
    let parent = tempfile::tempdir().unwrap();
    let data = &parent.path().join("data");
    let (mut process, mut stream) = ending(data).await;
    stream.write_all(BODY.as_bytes()).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 201 Created\r\n"), "{answer}");
    assert_eq!(process.wait().0.code(), Some(0));

    let process = Process::on(data);
    let request = http::Request::get("/api/v1/namespaces/default/configmaps/late")
        .body(Vec::new())
        .unwrap();
    let found: serde_json::Value = process.client().await.request(request).await.unwrap();
    assert_eq!(found["metadata"]["name"], "late");
}

#[tokio::test]
async fn a_second_signal_ends_it_at_once() {
    let parent = tempfile::tempdir().unwrap();
    let data = &parent.path().join("data");
    let (mut process, stream) = ending(data).await;
    process.signal("-TERM");
    assert_eq!(process.wait().0.code(), Some(1));
    let said = fs::read_to_string(errors(data)).unwrap();
    assert!(said.contains("Ended at once, as a second signal asked for."), "{said}");
    drop(stream);
}
