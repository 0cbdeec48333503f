//! Requests that mean harm, on ports of this machine: each gets an answer or the end of its connection, and a
//! well-behaved client goes on being served. Progress is counted; no test waits for a clock.

use std::fs;

use bytes::Bytes;
use http_body_util::Full;
use hyper_util::rt::{TokioExecutor, TokioIo};
use serde_json::Value;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
    task::JoinSet,
};

use crate::hostile::{
    COLLECTION, Target, Wire, read_answer,
    requests::{self, Hostile},
};

/// Says each of them, and looks at the answers.
async fn check(target: &Target, all: Vec<Hostile>) {
    let mut wrong = Vec::new();
    for Hostile { name, bytes, codes } in all {
        match target.say(&bytes).await {
            // What is no HTTP is answered by hyper, with a code and no body, or by the end of the connection.
            Some((code, body)) if codes.contains(&code) => {
                let is_json = body.is_empty() || code == 404 || serde_json::from_slice::<Value>(&body).is_ok();
                // What is no request at all is told so in plain words, as Go's servers do.
                let is_bare = body.starts_with(b"HTTP/1.1") || body == b"400 Bad Request";
                if !is_json && !is_bare && code != 301 {
                    wrong.push(format!("{name}: {code} {}", excerpt(&body)));
                }
            }
            Some((code, body)) => wrong.push(format!("{name}: {code} {}", excerpt(&body))),
            None if codes.contains(&431) || codes.contains(&413) => {}
            None => wrong.push(format!("{name}: closed")),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    target.progress().await;
}

fn excerpt(body: &[u8]) -> String {
    String::from_utf8_lossy(body).chars().take(300).collect()
}

#[tokio::test]
async fn bodies_that_mean_harm_are_refused() {
    let target = Target::start().await;
    check(&target, requests::deep_bodies()).await;
    check(&target, requests::odd_bodies()).await;
    target.end();
}

#[tokio::test]
async fn patches_that_mean_harm_are_refused() {
    let target = Target::start().await;
    let victim = br#"{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"victim"},"data":{"a":"b"}}"#;
    let head = format!(
        "POST {COLLECTION} HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
        victim.len()
    );
    let created = target.say(&[head.as_bytes(), victim].concat()).await.unwrap();
    assert_eq!(created.0, 201);
    check(&target, requests::patches()).await;
    target.end();
}

#[tokio::test]
async fn paths_that_mean_harm_are_refused() {
    let target = Target::start().await;
    check(&target, requests::paths()).await;
    check(&target, requests::queries()).await;
    target.end();
}

#[tokio::test]
async fn what_is_hardly_http_is_refused() {
    let target = Target::start().await;
    check(&target, requests::heads()).await;
    target.end();
}

#[tokio::test]
async fn an_endless_body_is_cut_off() {
    let target = Target::start().await;
    let mut wire = target.connect("http/1.1").await;
    let head = format!(
        "POST {COLLECTION} HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n"
    );
    wire.write_all(head.as_bytes()).await.unwrap();
    let chunk = format!("10000\r\n{}\r\n", "a".repeat(0x10000));
    let (mut read, mut write) = tokio::io::split(wire);
    let sending = tokio::spawn(async move { while write.write_all(chunk.as_bytes()).await.is_ok() {} });
    let mut answer = vec![0; 12];
    read.read_exact(&mut answer).await.unwrap();
    assert_eq!(answer, b"HTTP/1.1 413");
    // The rest of the answer, and the end.
    read.read_to_end(&mut answer).await.ok();
    sending.await.unwrap();
    target.progress().await;
    target.end();
}

/// Connections on which a request was begun and not ended.
async fn half_requests(target: &Target, count: usize) -> Vec<Wire> {
    let mut wires = Vec::new();
    for _ in 0..count {
        let mut wire = target.connect("http/1.1").await;
        let head = format!(
            "POST {COLLECTION} HTTP/1.1\r\nhost: a\r\nexpect: 100-continue\r\ncontent-type: application/json\r\n\
             content-length: 1000\r\n\r\n"
        );
        wire.write_all(head.as_bytes()).await.unwrap();
        wires.push(wire);
    }
    wires
}

#[tokio::test]
async fn bodies_that_never_come_hold_up_nobody() {
    let target = Target::start().await;
    let wires = half_requests(&target, 700).await;
    target.progress().await;
    drop(wires);
    target.end();
}

#[tokio::test]
async fn watchers_that_never_read_hold_up_nobody() {
    let target = Target::start().await;
    let mut wires = Vec::new();
    for _ in 0..100 {
        let mut wire = target.connect("http/1.1").await;
        let head = format!("GET {COLLECTION}?watch=true HTTP/1.1\r\nhost: a\r\n\r\n");
        wire.write_all(head.as_bytes()).await.unwrap();
        // The head of the answer: it watches.
        let mut answer = [0; 12];
        wire.read_exact(&mut answer).await.unwrap();
        assert_eq!(&answer, b"HTTP/1.1 200");
        wires.push(wire);
    }
    // Far more than what sockets and rings hold.
    for number in 0..200 {
        let body = format!(
            r#"{{"apiVersion":"v1","kind":"ConfigMap","metadata":{{"name":"large-{number}"}},"data":{{"a":"{}"}}}}"#,
            "a".repeat(256 << 10)
        );
        let head = format!(
            "POST {COLLECTION} HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
            body.len()
        );
        let (code, _) = target.say(&[head.as_bytes(), body.as_bytes()].concat()).await.unwrap();
        assert_eq!(code, 201);
    }
    target.progress().await;
    target.end();
    drop(wires);
}

#[tokio::test]
async fn idle_connections_hold_up_nobody() {
    let target = Target::start().await;
    let mut wires = Vec::new();
    for _ in 0..1000 {
        wires.push(target.connect("http/1.1").await);
    }
    target.progress().await;
    // An old connection is as good as a new one.
    wires[0]
        .write_all(b"GET /version HTTP/1.1\r\nhost: a\r\n\r\n")
        .await
        .unwrap();
    assert_eq!(read_answer(&mut wires[0]).await.unwrap().0, 200);
    target.end();
}

/// Connections that the server takes at a time.
const TAKEN: usize = 4096;
/// What is asked of it.
const SILENT: usize = 10_000;
/// Files that a test has open besides.
const OTHER_FILES: usize = 256;

/// As many connections as this process may have.
fn silent_connections() -> usize {
    let limits = fs::read_to_string("/proc/self/limits").unwrap();
    let files = limits.lines().find_map(|line| line.strip_prefix("Max open files"));
    let files = files.and_then(|line| line.split_whitespace().next()).unwrap();
    files
        .parse()
        .map_or(SILENT, |files: usize| SILENT.min(files - OTHER_FILES))
}

/// Not even a handshake is made on them, and they are far more than the server takes.
#[tokio::test]
async fn silent_connections_hold_up_nobody() {
    let target = Target::start().await;
    target.progress().await;
    let (address, count) = (target.process.address(), silent_connections());
    let mut connecting = JoinSet::new();
    for _ in 0..count {
        connecting.spawn(TcpStream::connect(address.clone()));
    }
    let mut connected = Vec::new();
    while connected.len() < TAKEN.min(count) {
        // Those that the machine has no room for are refused.
        connected.extend(connecting.join_next().await.unwrap().unwrap());
    }
    target.progress().await;
    drop((connecting, connected));
    target.end();
}

#[tokio::test]
async fn streams_that_come_and_go_hold_up_nobody() {
    let target = Target::start().await;
    let wire = target.connect("h2").await;
    let executor = TokioExecutor::new();
    let (mut sender, connection) = hyper::client::conn::http2::handshake(executor, TokioIo::new(wire))
        .await
        .unwrap();
    let driver = tokio::spawn(connection);
    for _ in 0..20_000 {
        let request = http::Request::get(format!("https://localhost{COLLECTION}"));
        let sent = sender.send_request(request.body(Full::<Bytes>::default()).unwrap());
        // Given up at once. The server may have had enough of it at some point, and say goodbye.
        let mut sent = std::pin::pin!(sent);
        if let std::task::Poll::Ready(Err(_)) = futures::poll!(&mut sent) {
            break;
        }
        tokio::task::yield_now().await;
    }
    target.progress().await;
    drop(sender);
    driver.abort();
    target.end();
}
