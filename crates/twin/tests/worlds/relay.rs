//! Connections from other processes, which say by their greeting whom they want.

use std::{net::SocketAddr, sync::Arc, time::Duration};

use hyperplane_seams::Clock;
use rustls::{
    ClientConfig, RootCertStore,
    crypto::aws_lc_rs,
    pki_types::{CertificateDer, ServerName, UnixTime, pem::PemObject as _},
    time_provider::TimeProvider,
};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _, DuplexStream},
    task::JoinHandle,
};
use tokio_rustls::TlsConnector;

use crate::{control_plane::Authority, hosted::control_plane, support::World};

const HOST: &str = "kube-apiserver.clusters-a.svc";
const PORT: u16 = 6443;

#[derive(Debug)]
struct Time(Clock);

impl TimeProvider for Time {
    fn current_time(&self) -> Option<UnixTime> {
        let seconds = u64::try_from(self.0.now().as_second()).unwrap();
        Some(UnixTime::since_unix_epoch(Duration::from_secs(seconds)))
    }
}

fn connector(world: &World, root: &Authority) -> TlsConnector {
    let mut roots = RootCertStore::empty();
    let certificate = CertificateDer::from_pem_slice(root.certificate.as_bytes()).unwrap();
    roots.add(certificate).unwrap();
    let provider = Arc::new(aws_lc_rs::default_provider());
    let config = ClientConfig::builder_with_details(provider, Arc::new(Time(world.clock.clone())))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    TlsConnector::from(Arc::new(config))
}

/// One end of a connection whose other end is relayed.
fn relayed(world: &World) -> (DuplexStream, JoinHandle<()>) {
    let (near, far) = tokio::io::duplex(16 << 10);
    let network = world.network.clone();
    let remote = SocketAddr::from(([192, 0, 2, 1], 40_000));
    (
        near,
        tokio::spawn(async move { network.relay(far, remote, PORT).await }),
    )
}

#[tokio::test(start_paused = true)]
async fn a_connection_ends_at_the_server_that_it_names() {
    let (world, root) = control_plane().await;
    let (near, served) = relayed(&world);
    let name = ServerName::try_from(HOST).unwrap();
    let mut stream = connector(&world, &root).connect(name, near).await.unwrap();
    let request = format!("GET /readyz HTTP/1.1\r\nHost: {HOST}\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).await.unwrap();
    let answer = String::from_utf8(answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    assert!(answer.ends_with("ok"), "{answer}");
    drop(stream);
    served.await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_name_that_nobody_has_ends_the_connection_at_once() {
    let (world, root) = control_plane().await;
    let began = world.clock.now();
    for host in ["kube-apiserver.clusters-b.svc", "api.b.example"] {
        let (near, served) = relayed(&world);
        let name = ServerName::try_from(host).unwrap();
        let refused = connector(&world, &root).connect(name, near).await;
        assert!(refused.is_err(), "{host}");
        served.await.unwrap();
    }
    // What is no greeting names nobody.
    let (mut near, served) = relayed(&world);
    near.write_all(b"GET / HTTP/1.1\r\n\r\n").await.unwrap();
    served.await.unwrap();
    assert_eq!(world.clock.now(), began, "nobody waited for anything");
}
