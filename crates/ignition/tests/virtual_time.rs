//! The server on virtual time, over pipes in memory: how long connections may take, what is written again after a failure,
//! that payloads follow what they are made from, and what is told of them in events.

use std::time::Duration;

use base64::{Engine as _, prelude::BASE64_STANDARD};
use http::Request;
use http_body_util::BodyExt as _;
use hyperplane_ignition::{Installed, install, serve_machine, tls::Certificate};
use hyperplane_runtime::{Clock, Manager, Settings as ManagerSettings};
use kube::Client;
use serde_json::json;
use tokio::{
    io::{AsyncReadExt as _, DuplexStream, duplex},
    task::JoinHandle,
    time::{Instant, sleep},
};
use tokio_util::sync::CancellationToken;

use crate::support::{Certificates, Cluster, Machine, secret, soon, until};

/// Bytes that a pipe holds: more than any payload, so that nobody waits for a reader.
const PIPE: usize = 1 << 20;

/// What is put on a Secret when a machine has fetched what it is for.
const REACHED: &str = "hypershift.openshift.io/ignition-reached";

/// A server that has seen everything, and what it runs on.
struct Server {
    installed: std::sync::Arc<Installed>,
    cluster: Cluster,
    client: Client,
    certificates: Certificates,
    stop: CancellationToken,
}

impl Server {
    async fn start() -> Self {
        let (client, cluster) = Cluster::start();
        let clock = Clock::anchored("2026-01-01T12:00:00Z".parse().unwrap());
        let mut manager = Manager::new(client.clone(), ManagerSettings::new("test", "one", clock.clone(), 1));
        let installed = std::sync::Arc::new(install(&mut manager, "clusters-one", clock));
        let stop = CancellationToken::new();
        tokio::spawn(manager.run(stop.clone()));
        let server = Self {
            installed,
            cluster,
            client,
            certificates: Certificates::create(),
            stop,
        };
        soon("a payload", async {
            while server.ask("first").await.0 != 200 {
                sleep(Duration::from_millis(100)).await;
            }
        })
        .await;
        server
    }

    /// The status and the body of an answer to somebody with a token.
    async fn ask(&self, token: &str) -> (u16, String) {
        let token = format!("Bearer {}", BASE64_STANDARD.encode(token));
        let request = Request::get("/ignition")
            .header("authorization", token)
            .body(())
            .unwrap();
        let (parts, body) = self.installed.service.respond(&request).into_parts();
        let body = body.collect().await.unwrap().to_bytes().to_vec();
        (parts.status.as_u16(), String::from_utf8(body).unwrap())
    }

    /// A pipe whose other end is served.
    fn connect(&self) -> (DuplexStream, JoinHandle<()>) {
        let files = self.certificates.files();
        let read = |path: &std::path::Path| std::fs::read(path).unwrap();
        let certificate = Certificate::in_memory(files.clone(), read(&files.certificate), read(&files.key)).unwrap();
        let (ours, theirs) = duplex(PIPE);
        let service = self.installed.service.clone();
        (
            ours,
            tokio::spawn(serve_machine(theirs, certificate, service, self.stop.clone())),
        )
    }

    /// Has marks written.
    fn write_marks(&self) -> JoinHandle<()> {
        let (installed, client) = (std::sync::Arc::clone(&self.installed), self.client.clone());
        tokio::spawn(async move { match installed.write_marks(&client).await {} })
    }

    async fn machine(&self) -> (Machine<DuplexStream>, JoinHandle<()>) {
        let (stream, serving) = self.connect();
        (Machine::connect(stream, &self.certificates).await, serving)
    }
}

/// How long something takes on virtual time.
async fn time_of<T>(doing: impl Future<Output = T>) -> Duration {
    let start = Instant::now();
    doing.await;
    start.elapsed()
}

#[tokio::test(start_paused = true)]
async fn who_says_nothing_is_not_waited_for() {
    let server = Server::start().await;
    let (mut stream, serving) = server.connect();
    let handshake = time_of(serving).await;
    assert_eq!(handshake.as_secs(), 10, "a handshake");
    drop(stream.read(&mut [0]).await);

    let (_machine, serving) = server.machine().await;
    assert_eq!(time_of(serving).await.as_secs(), 10, "the head of a request");

    let (mut machine, serving) = server.machine().await;
    let slow = async {
        machine.send("GET /ignition HTTP/1.1\r\nhost: a\r\n").await;
        serving.await
    };
    assert_eq!(time_of(slow).await.as_secs(), 10, "half of the head of a request");
}

#[tokio::test(start_paused = true)]
async fn heads_and_lives_have_an_end() {
    let server = Server::start().await;
    let (mut machine, serving) = server.machine().await;
    let long = format!("GET /ignition HTTP/1.1\r\nx: {}\r\n\r\n", "a".repeat(16 << 10));
    machine.send(&long).await;
    let answer = machine.ended().await;
    assert!(answer.starts_with("HTTP/1.1 431 "), "{answer}");
    soon("the end", serving).await.unwrap();

    // Whoever has a good token may come again over the same connection, and not for ever.
    let (mut machine, serving) = server.machine().await;
    let start = Instant::now();
    let mut asked = 0;
    while !serving.is_finished() && asked < 1_000 {
        let answer = machine.ask("/ignition", Some("first")).await;
        assert!(answer.starts_with("HTTP/1.1 200 OK"), "{answer}");
        sleep(Duration::from_secs(7)).await;
        asked += 1;
    }
    let life = start.elapsed().as_secs();
    assert!(asked > 40 && (300..=310).contains(&life), "{asked} in {life} s");
}

/// There are only so many connections, so only those with a good token are kept.
#[tokio::test(start_paused = true)]
async fn refusals_end_connections() {
    let server = Server::start().await;
    for (path, token, status) in [
        ("/healthz", None, 200),
        ("/ignition", None, 401),
        ("/ignition", Some("second"), 511),
        ("/other", Some("first"), 404),
    ] {
        let (mut machine, serving) = server.machine().await;
        let answer = machine.ask(path, token).await;
        assert!(answer.starts_with(&format!("HTTP/1.1 {status} ")), "{answer}");
        let took = time_of(serving).await;
        assert!(
            took < Duration::from_secs(1),
            "{path} with {token:?} stays for {took:?}"
        );
        assert_eq!(machine.ended().await, "");
    }
}

#[tokio::test(start_paused = true)]
async fn a_mark_that_cannot_be_written_is_written_later() {
    let mut server = Server::start().await;
    server.cluster.refuse_marks(3);
    let start = Instant::now();
    let writing = server.write_marks();
    until("four writes", || server.cluster.marks() == 4).await;
    // There is a pause after each that failed.
    assert!(start.elapsed() >= Duration::from_secs(15), "{:?}", start.elapsed());
    sleep(Duration::from_mins(1)).await;
    assert_eq!(server.cluster.marks(), 4, "what is written is not written again");
    writing.abort();
}

#[tokio::test(start_paused = true)]
async fn payloads_follow_what_they_are_made_from() {
    let mut server = Server::start().await;
    let (_, before) = server.ask("first").await;
    let mut pull_secret = secret(
        "pull-secret",
        ".dockerconfigjson",
        r#"{"auths":{"new.example.com":{}}}"#,
    );
    pull_secret["metadata"]["resourceVersion"] = "7".into();
    server
        .cluster
        .happen("secrets", json!({"type": "MODIFIED", "object": pull_secret}));
    let (status, after) = soon("another payload", async {
        loop {
            let answer = server.ask("first").await;
            if answer.1 != before {
                return answer;
            }
            sleep(Duration::from_millis(100)).await;
        }
    })
    .await;
    assert_eq!(status, 200);
    let content = BASE64_STANDARD.encode(r#"{"auths":{"new.example.com":{}}}"#);
    assert!(after.contains(&content), "{after}");

    // What is missing is told on the Secret, whatever was said before.
    pull_secret["metadata"]["resourceVersion"] = "8".into();
    server
        .cluster
        .happen("secrets", json!({"type": "DELETED", "object": pull_secret}));
    let expected = BASE64_STANDARD.encode("WaitingForDependencies");
    let (_, body) = soon("a verdict", server.cluster.patched_with("token-one", &expected)).await;
    let message = BASE64_STANDARD.encode("Waiting for key .dockerconfigjson of Secret pull-secret");
    assert!(body.contains(&message), "{body}");
    assert_eq!(server.ask("first").await.0, 503);
}

#[tokio::test(start_paused = true)]
async fn the_first_machine_is_told_of_once() {
    let mut server = Server::start().await;
    let writing = server.write_marks();
    until("the mark", || server.cluster.marks() == 1).await;
    server
        .cluster
        .change_token("7", &json!({"metadata": {"annotations": {REACHED: "True"}}}));
    until("the event", || !server.cluster.events("GetPayload").is_empty()).await;
    let told = [(
        "Normal".to_owned(),
        "A machine has fetched its configuration.".to_owned(),
        1,
    )];
    assert_eq!(server.cluster.events("GetPayload"), told);
    // Neither another machine nor another look at the Secret is news.
    assert_eq!(server.ask("first").await.0, 200);
    let changed = json!({"metadata": {"annotations": {REACHED: "True", "example.com/other": "1"}}});
    server.cluster.change_token("8", &changed);
    sleep(Duration::from_mins(5)).await;
    assert_eq!(server.cluster.events("GetPayload"), told);
    assert_eq!(server.cluster.marks(), 1);
    writing.abort();
}

/// Machines come to all replicas, and one of them is the first to write it.
#[tokio::test(start_paused = true)]
async fn who_has_not_written_the_mark_does_not_tell_of_it() {
    let mut server = Server::start().await;
    server
        .cluster
        .change_token("7", &json!({"metadata": {"annotations": {REACHED: "True"}}}));
    sleep(Duration::from_mins(1)).await;
    let writing = server.write_marks();
    sleep(Duration::from_mins(5)).await;
    assert_eq!(server.cluster.marks(), 0, "it is there already");
    assert_eq!(server.cluster.events("GetPayload"), []);
    writing.abort();
}

#[tokio::test(start_paused = true)]
async fn what_keeps_a_configuration_from_being_made_is_told_once() {
    let mut server = Server::start().await;
    assert_eq!(server.cluster.events("GetPayloadFailed"), []);
    let mut pull_secret = secret("pull-secret", ".dockerconfigjson", r#"{"auths":{}}"#);
    pull_secret["metadata"]["resourceVersion"] = "7".into();
    let gone = json!({"type": "DELETED", "object": pull_secret});
    server.cluster.happen("secrets", gone);
    until("the event", || !server.cluster.events("GetPayloadFailed").is_empty()).await;
    let waiting = "Waiting for key .dockerconfigjson of Secret pull-secret";
    let told = [("Warning".to_owned(), waiting.to_owned(), 1)];
    assert_eq!(server.cluster.events("GetPayloadFailed"), told);
    // It is on the Secret now, so that another look finds nothing new.
    let verdict = |reason: &str, message: &str| json!({"reason": BASE64_STANDARD.encode(reason), "message": BASE64_STANDARD.encode(message)});
    let waits = json!({"data": verdict("WaitingForDependencies", waiting)});
    server.cluster.change_token("8", &waits);
    sleep(Duration::from_mins(5)).await;
    assert_eq!(server.cluster.events("GetPayloadFailed"), told);
    // That all is well again is written on the Secret, and no failure.
    pull_secret["metadata"]["resourceVersion"] = "9".into();
    let back = json!({"type": "ADDED", "object": pull_secret});
    server.cluster.happen("secrets", back);
    sleep(Duration::from_mins(1)).await;
    assert_eq!(server.ask("first").await.0, 200);
    assert_eq!(server.cluster.events("GetPayloadFailed"), told);
    // Another reason is told.
    let mut broken = json!({"data": verdict("AsExpected", "The configuration of the machines was made")});
    broken["data"]["config"] = BASE64_STANDARD.encode("kind: Pod").into();
    server.cluster.change_token("10", &broken);
    sleep(Duration::from_mins(1)).await;
    assert_eq!(server.ask("first").await.0, 500);
    let events = server.cluster.events("GetPayloadFailed");
    let [(type_, message, count)] = events.as_slice() else {
        panic!("{events:?}");
    };
    assert_eq!((type_.as_str(), *count), ("Warning", 2));
    assert!(message.contains("Pod cannot be given to nodes"), "{message}");
}
