//! The server between a machine that speaks TLS and a management cluster that is played, on ports of this machine.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod support;

use std::sync::Arc;

use hyperplane_ignition::{
    Settings, counts::Counts, reached::Reached, run, serve_machine, service::Service, tls::Certificate,
};
use hyperplane_runtime::{Clock, Manager, Settings as ManagerSettings, Watch};
use k8s_openapi::api::core::v1::Secret;
use support::{Certificates, Cluster, Machine, eventually, soon};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
    task::JoinSet,
};
use tokio_util::sync::CancellationToken;

fn clock() -> Clock {
    Clock::reading(|| "2026-01-01T12:00:00Z".parse().unwrap())
}

/// What a probe is answered, once the server is there.
async fn probe(settings: &Settings, path: &str) -> String {
    eventually(path, async || {
        let mut stream = TcpStream::connect(settings.health).await?;
        stream
            .write_all(format!("GET {path} HTTP/1.1\r\nhost: a\r\n\r\n").as_bytes())
            .await?;
        let mut text = String::new();
        stream.read_to_string(&mut text).await?;
        let is_good = text.starts_with("HTTP/1.1 200 ");
        if is_good {
            Ok(text)
        } else {
            Err(std::io::Error::other(text))
        }
    })
    .await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_machine_gets_its_payload_and_that_is_noted() {
    let (client, mut cluster) = Cluster::start();
    let certificates = Certificates::create();
    let free = hyperplane_testbed::find_addresses(2).unwrap();
    let settings = Settings {
        namespace: "clusters-one".to_owned(),
        listen: free[0].into(),
        health: free[1].into(),
        certificate: certificates.files(),
        instance: "one".to_owned(),
        clock: clock(),
        seed: 1,
    };
    let stop = CancellationToken::new();
    let mut running = tokio::spawn(run(client, settings.clone(), stop.clone()));
    tokio::select! {
        _ = probe(&settings, "/readyz") => {}
        ended = &mut running => panic!("{ended:?}"),
    }
    probe(&settings, "/healthz").await;
    let machine = async || Machine::connect(TcpStream::connect(settings.listen).await.unwrap(), &certificates).await;
    let answer = machine().await.ask("/ignition", Some("first")).await;
    assert!(answer.starts_with("HTTP/1.1 200 OK"), "{answer}");
    assert!(answer.ends_with(support::PAYLOAD), "{answer}");
    let (path, body) = soon("the mark", cluster.patched()).await;
    assert_eq!(path, "/api/v1/namespaces/clusters-one/secrets/token-one");
    assert!(
        body.contains(r#""hypershift.openshift.io/ignition-reached":"True""#),
        "{body}"
    );
    assert!(body.contains(r#""uid":"1-2-3""#), "{body}");
    for (token, expected) in [(Some("second"), "511"), (None, "401")] {
        let answer = machine().await.ask("/ignition", token).await;
        assert!(answer.starts_with(&format!("HTTP/1.1 {expected} ")), "{answer}");
    }
    let page = probe(&settings, "/metrics").await;
    let line = r#"hyperplane_ignition_answers_total{outcome="payload"} 1"#;
    assert!(page.lines().any(|found| found == line), "{page}");
    stop.cancel();
    soon("the end", running).await.unwrap().unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn another_certificate_is_shown_and_no_connection_is_dropped() {
    let (client, _cluster) = Cluster::start();
    let certificates = Certificates::create();
    let certificate = Certificate::open(certificates.files()).await.unwrap();
    let manager = Manager::new(client, ManagerSettings::new("test", "one", clock(), 1));
    let service = Service::new(
        manager.store(Watch::<Secret>::namespace("clusters-one")),
        clock(),
        Counts::default(),
        Arc::new(Reached::default()),
    );
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let mut tasks = JoinSet::new();
    let stop = CancellationToken::new();
    let mut connect = async || {
        let stream = TcpStream::connect(address).await.unwrap();
        let (accepted, _) = listener.accept().await.unwrap();
        tasks.spawn(serve_machine(
            accepted,
            certificate.clone(),
            service.clone(),
            stop.clone(),
        ));
        Machine::connect(stream, &certificates).await
    };
    let mut early = connect().await;
    let before = early.certificate();
    assert!(early.ask("/healthz", None).await.starts_with("HTTP/1.1 200 OK"));
    assert!(!certificate.reload().await.unwrap(), "nothing has changed");

    certificates.spoil();
    let refused = certificate.reload().await.unwrap_err().to_string();
    assert!(refused.contains("tls.key") && !refused.contains("s3cr3t"), "{refused}");
    assert_eq!(connect().await.certificate(), before);

    certificates.renew();
    assert!(certificate.reload().await.unwrap(), "both files are new");
    let mut late = connect().await;
    assert_ne!(late.certificate(), before);
    for machine in [&mut early, &mut late] {
        assert!(machine.ask("/healthz", None).await.starts_with("HTTP/1.1 200 OK"));
    }
    // Nothing was ever listed, so nothing is known of tokens.
    assert!(early.ask("/ignition", Some("first")).await.starts_with("HTTP/1.1 503 "));
    stop.cancel();
    while let Some(ended) = soon("the end", tasks.join_next()).await {
        ended.unwrap();
    }
}
