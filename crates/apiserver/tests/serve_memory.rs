//! Connections in memory, on virtual time: every timeout is waited for, and takes none.

use std::{sync::Arc, time::Duration};

use http_body_util::BodyExt as _;
use hyperplane_apiserver::pki::Pair;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    sync::Notify,
    time::Instant,
};

use crate::serving::{
    START, World,
    client::{Client, der, request, whole},
    credentials,
};

/// More than any timeout of a connection: what takes longer would never have ended.
const LONG: Duration = Duration::from_hours(1);

/// How long it takes from now until a task ends, in seconds of virtual time.
async fn seconds_until_end<T>(task: impl Future<Output = T>) -> u64 {
    let start = Instant::now();
    tokio::time::timeout(LONG, task).await.ok().unwrap();
    start.elapsed().as_secs()
}

#[tokio::test(start_paused = true)]
async fn both_protocols_are_answered() {
    let world = World::new();
    let (io, _task) = world.connect();
    let mut client = Client::new(&world, None).http_1(io).await;
    let (status, headers, text) = whole(client.get("/").await.unwrap()).await;
    assert_eq!(text, "HTTP/1.1 from 192.0.2.7:4711 as nobody, 1 extensions");
    assert_eq!(status, 200);
    assert_eq!(headers["date"], "Fri, 15 Jan 2027 08:00:00 GMT");

    tokio::time::advance(Duration::from_secs(7)).await;
    let (io, _task) = world.connect();
    let mut client = Client::new(&world, None).http_2(io).await;
    let (_, headers, text) = whole(client.get("/").await.unwrap()).await;
    assert_eq!(text, "HTTP/2.0 from 192.0.2.7:4711 as nobody, 1 extensions");
    assert_eq!(headers["date"], "Fri, 15 Jan 2027 08:00:07 GMT");
}

#[tokio::test(start_paused = true)]
async fn without_a_protocol_it_is_http_1() {
    let world = World::new();
    let (io, task) = world.connect();
    let mut stream = Client::new(&world, None).handshake(io, &[]).await.unwrap();
    stream
        .write_all(b"GET / HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n")
        .await
        .unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).await.unwrap();
    assert!(text.starts_with("HTTP/1.1 200 OK\r\n"), "{text}");
    task.await.unwrap();
}

async fn seen_as(world: &World, pair: &Pair) -> String {
    let (io, _task) = world.connect();
    let mut client = Client::new(world, Some(pair)).http_2(io).await;
    let (_, _, text) = whole(client.get("/").await.unwrap()).await;
    text.split(" as ").nth(1).unwrap().to_owned()
}

#[tokio::test(start_paused = true)]
async fn a_request_says_which_certificate_the_peer_has() {
    let world = World::new();
    let administrator = "O=system:masters, CN=kubernetes-admin, 2 extensions";
    assert_eq!(seen_as(&world, &world.credentials.administrator).await, administrator);
    // Whether it counts is judged with the request.
    let stranger = credentials(START);
    assert_eq!(seen_as(&world, &stranger.administrator).await, administrator);
    let expired = credentials(START - 500 * jiff::SignedDuration::from_hours(24));
    assert_eq!(seen_as(&world, &expired.administrator).await, administrator);
}

#[tokio::test(start_paused = true)]
async fn a_certificate_without_its_key_is_refused() {
    let world = World::new();
    let stolen = Pair {
        certificate: world.credentials.administrator.certificate.clone(),
        key: credentials(START).administrator.key,
    };
    let (io, task) = world.connect();
    let mut stream = Client::new(&world, Some(&stolen))
        .handshake(io, &[b"h2"])
        .await
        .unwrap();
    // The client is through before the server has looked at its signature.
    let error = stream.read_u8().await.unwrap_err();
    assert!(error.to_string().contains("DecryptError"), "{error}");
    task.await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_new_certificate_is_shown_from_the_next_handshake_on() {
    let world = World::new();
    let shown = async || {
        let (io, _task) = world.connect();
        let stream = Client::new(&world, None).handshake(io, &[]).await.unwrap();
        stream.get_ref().1.peer_certificates().unwrap()[0].clone()
    };
    let (io, _task) = world.connect();
    let mut open = Client::new(&world, None).http_2(io).await;
    assert_eq!(shown().await, der(&world.credentials.serving.certificate));
    let mut renewed = world.credentials.clone();
    let names = hyperplane_apiserver::pki::ServingNames::of_cluster("10.9.9.9".parse().unwrap());
    renewed
        .renew(
            &names,
            START,
            &hyperplane_apiserver::Entropy::new(|bytes| bytes.fill(9)),
        )
        .unwrap();
    world.tls.replace_certificate(&renewed.serving).unwrap();
    assert_eq!(shown().await, der(&renewed.serving.certificate));
    assert_eq!(whole(open.get("/").await.unwrap()).await.0, 200);
}

#[tokio::test(start_paused = true)]
async fn a_silent_handshake_is_cut() {
    let world = World::new();
    let (_io, task) = world.connect();
    assert_eq!(seconds_until_end(task).await, 10);
}

#[tokio::test(start_paused = true)]
async fn what_is_no_tls_is_cut() {
    let world = World::new();
    let (mut io, task) = world.connect();
    io.write_all(b"GET / HTTP/1.1\r\nhost: a\r\n\r\n").await.unwrap();
    assert_eq!(seconds_until_end(task).await, 0);
}

#[tokio::test(start_paused = true)]
async fn a_head_that_comes_by_drops_is_cut() {
    let world = World::new();
    let (io, task) = world.connect();
    let mut stream = Client::new(&world, None).handshake(io, &[]).await.unwrap();
    let drops = tokio::spawn(async move {
        stream.write_all(b"GET / HTTP/1.1\r\n").await.unwrap();
        while stream.write_all(b"a: b\r\n").await.is_ok() {
            tokio::time::sleep(Duration::from_secs(5)).await;
        }
    });
    assert_eq!(seconds_until_end(task).await, 90);
    drops.await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_head_that_is_too_large_is_refused() {
    let world = World::new();
    let check = async |head: String| {
        let (io, task) = world.connect();
        let mut stream = Client::new(&world, None).handshake(io, &[]).await.unwrap();
        // The server may have hung up before it has read all.
        stream.write_all(head.as_bytes()).await.ok();
        stream.flush().await.ok();
        let mut answer = vec![0; 100];
        let length = stream.read(&mut answer).await.unwrap();
        let answer = String::from_utf8_lossy(&answer[..length]).into_owned();
        assert_eq!(seconds_until_end(task).await, 0);
        answer.lines().next().unwrap_or_default().to_owned()
    };
    let line = |length| format!("GET / HTTP/1.1\r\nhost: a\r\na: {}\r\n\r\n", "b".repeat(length));
    assert_eq!(
        check(line(600 << 10)).await,
        "HTTP/1.1 431 Request Header Fields Too Large"
    );
    let many = format!("GET / HTTP/1.1\r\n{}\r\n", "a: b\r\n".repeat(101));
    assert_eq!(check(many).await, "HTTP/1.1 431 Request Header Fields Too Large");
    let path = format!("GET /{} HTTP/1.1\r\nhost: a\r\n\r\n", "a".repeat(70_000));
    assert_eq!(check(path).await, "HTTP/1.1 414 URI Too Long");
}

#[tokio::test(start_paused = true)]
async fn a_large_head_is_refused_on_http_2_and_the_connection_goes_on() {
    let world = World::new();
    let (io, _task) = world.connect();
    let mut client = Client::new(&world, None).http_2(io).await;
    assert_eq!(whole(client.get("/").await.unwrap()).await.0, 200);
    let mut large = request("/");
    large
        .headers_mut()
        .insert("a", "b".repeat(300 << 10).try_into().unwrap());
    assert_eq!(client.sender.send_request(large).await.unwrap().status(), 431);
    assert_eq!(whole(client.get("/").await.unwrap()).await.0, 200);
}

#[tokio::test(start_paused = true)]
async fn idle_connections_end() {
    let world = World::new();
    let (io, task) = world.connect();
    let mut client = Client::new(&world, None).http_1(io).await;
    whole(client.get("/").await.unwrap()).await;
    assert_eq!(seconds_until_end(task).await, 90);

    let (io, task) = world.connect();
    let mut client = Client::new(&world, None).http_2(io).await;
    tokio::time::sleep(Duration::from_secs(10)).await;
    whole(client.get("/").await.unwrap()).await;
    assert_eq!(seconds_until_end(task).await, 170);
    client.connection.await.unwrap().unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_watch_keeps_its_connection() {
    let world = World::new();
    let (io, task) = world.connect();
    let mut client = Client::new(&world, None).http_2(io).await;
    let mut watch = client.get("/watch").await.unwrap();
    assert_eq!(watch.frame().await.unwrap().unwrap().into_data().unwrap(), "begun\n");
    tokio::time::sleep(LONG).await;
    assert_eq!(whole(client.get("/").await.unwrap()).await.0, 200);
    drop(watch);
    assert!(seconds_until_end(task).await <= 180);
    assert_eq!(world.probe.count(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_peer_that_vanished_is_noticed() {
    let world = World::new();
    let (mut io, task) = world.connect();
    let (client, mut line) = tokio::io::duplex(64 << 10);
    let cut = Arc::new(Notify::new());
    let until_cut = Arc::clone(&cut);
    let _line = tokio::spawn(async move {
        tokio::select! {
            _ = tokio::io::copy_bidirectional(&mut io, &mut line) => panic!("an end was closed"),
            () = until_cut.notified() => {}
        }
        // Both ends stay open, and nothing passes.
        std::future::pending::<()>().await;
        drop((io, line));
    });
    let mut client = Client::new(&world, None).http_2(client).await;
    let _watch = client.get("/watch").await.unwrap();
    cut.notify_one();
    assert_eq!(seconds_until_end(task).await, 45);
    assert_eq!(world.probe.count(), 0);
}

#[tokio::test(start_paused = true)]
async fn many_requests_share_a_connection() {
    let world = World::new();
    let (io, _task) = world.connect();
    let mut client = Client::new(&world, None).http_2(io).await;
    whole(client.get("/").await.unwrap()).await;
    let requests = (0..1000).map(|_| {
        let mut sender = client.sender.clone();
        tokio::spawn(async move { sender.send_request(request("/wait")).await.unwrap().status() })
    });
    let requests: Vec<_> = requests.collect();
    while world.probe.count() < requests.len() {
        tokio::task::yield_now().await;
    }
    world.probe.go.0.add_permits(requests.len());
    for request in requests {
        assert_eq!(request.await.unwrap(), 200);
    }
}

#[tokio::test(start_paused = true)]
async fn a_panic_ends_one_request_alone() {
    let world = World::new();
    let (io, _task) = world.connect();
    let mut client = Client::new(&world, None).http_2(io).await;
    let other = tokio::spawn(client.sender.clone().send_request(request("/wait")));
    world.probe.arrived.notified().await;
    assert!(client.get("/panic").await.is_err());
    world.probe.go.0.add_permits(1);
    assert_eq!(whole(other.await.unwrap().unwrap()).await.2, "waited");
}
