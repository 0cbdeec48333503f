//! The server between a machine that speaks TLS and a management cluster that is played, on ports of this machine.

use hyperplane_ignition::{Settings, install, run, serve_machine, tls::Certificate};
use hyperplane_runtime::{Clock, Manager, Settings as ManagerSettings};
use serde_json::Value;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
    task::JoinSet,
};
use tokio_util::sync::CancellationToken;

use crate::support::{Certificates, Cluster, Machine, eventually, soon};

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
    let (_, payload) = answer.split_once("\r\n\r\n").unwrap();
    let payload: Value = serde_json::from_str(payload).unwrap();
    assert_eq!(payload["ignition"]["version"], "3.2.0");
    // AsExpected, and the mark; either may be first.
    for expected in [
        r#""reason":"QXNFeHBlY3RlZA==""#,
        r#""hypershift.openshift.io/ignition-reached":"True""#,
    ] {
        let (_, body) = soon(expected, cluster.patched_with("token-one", expected)).await;
        assert!(body.contains(r#""uid":"1-2-3""#), "{body}");
    }
    for (token, expected) in [
        (Some("before"), "200"),
        (Some("gone"), "511"),
        (Some("second"), "511"),
        (None, "401"),
    ] {
        let answer = machine().await.ask("/ignition", token).await;
        assert!(answer.starts_with(&format!("HTTP/1.1 {expected} ")), "{answer}");
    }
    let page = probe(&settings, "/metrics").await;
    for line in [
        r#"hyperplane_ignition_answers_total{outcome="payload"} 2"#,
        r#"hyperplane_ignition_answers_total{outcome="unknown_token"} 2"#,
        // Once for each Secret, however many machines come.
        "ign_server_payload_cache_miss_total 2",
        "ign_server_payload_cache_total 2",
    ] {
        assert!(page.lines().any(|found| found == line), "{line} in {page}");
    }
    stop.cancel();
    soon("the end", running).await.unwrap().unwrap();
}

#[test]
fn a_certificate_in_memory_is_as_good_as_one_in_files() {
    let certificates = Certificates::create();
    let files = certificates.files();
    let read = |path: &std::path::Path| std::fs::read(path).unwrap();
    let made = |key: Vec<u8>| Certificate::in_memory(files.clone(), read(&files.certificate), key);
    made(read(&files.key)).unwrap();
    let refused = made(b"s3cr3t".to_vec()).unwrap_err().to_string();
    assert!(refused.contains("tls.key") && !refused.contains("s3cr3t"), "{refused}");
}

#[tokio::test(flavor = "multi_thread")]
async fn another_certificate_is_shown_and_no_connection_is_dropped() {
    let (client, _cluster) = Cluster::start();
    let certificates = Certificates::create();
    let certificate = Certificate::open(certificates.files()).await.unwrap();
    let mut manager = Manager::new(client, ManagerSettings::new("test", "one", clock(), 1));
    let service = install(&mut manager, "clusters-one", clock()).service;
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
        let answer = machine.ask("/healthz", None).await;
        assert!(answer.starts_with("HTTP/1.1 200 OK"), "{answer}");
        machine.ended().await;
    }
    // Nothing was ever listed, so nothing is known of tokens.
    let mut third = connect().await;
    assert!(third.ask("/ignition", Some("first")).await.starts_with("HTTP/1.1 503 "));
    stop.cancel();
    while let Some(ended) = soon("the end", tasks.join_next()).await {
        ended.unwrap();
    }
}
