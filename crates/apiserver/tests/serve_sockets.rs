//! The listener on ports of this machine, in real time. No test waits for a clock.

use std::net::SocketAddr;

use hyperplane_apiserver::serve::serve;
use tokio::{
    net::{TcpListener, TcpStream},
    task::JoinHandle,
};

use crate::serving::{
    World,
    client::{Client, request, whole},
};

/// A world's server on a port.
async fn listen(world: &World) -> (SocketAddr, JoinHandle<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let server = serve(
        listener,
        world.tls.clone(),
        world.probe.service(),
        world.limits,
        world.stop.clone(),
    );
    (address, tokio::spawn(server))
}

async fn connect(address: SocketAddr) -> TcpStream {
    TcpStream::connect(address).await.unwrap()
}

#[tokio::test]
async fn sockets_of_both_protocols_are_served() {
    let world = World::new();
    let (address, _server) = listen(&world).await;
    let io = connect(address).await;
    let own = io.local_addr().unwrap();
    let administrator = Some(&world.credentials.administrator);
    let mut client = Client::new(&world, administrator).http_1(io).await;
    let (_, _, text) = whole(client.get("/").await.unwrap()).await;
    let user = "O=system:masters, CN=kubernetes-admin, 2 extensions";
    assert_eq!(text, format!("HTTP/1.1 from {own} as {user}"));

    let io = connect(address).await;
    let own = io.local_addr().unwrap();
    let mut client = Client::new(&world, administrator).http_2(io).await;
    let (_, _, text) = whole(client.get("/").await.unwrap()).await;
    assert_eq!(text, format!("HTTP/2.0 from {own} as {user}"));
}

#[tokio::test]
async fn sockets_beyond_the_bound_wait_for_their_turn() {
    let mut world = World::new();
    world.limits.connections = 1;
    let (address, _server) = listen(&world).await;
    let mut first = Client::new(&world, None).http_2(connect(address).await).await;
    whole(first.get("/").await.unwrap()).await;
    let waiting = Client::new(&world, None);
    let io = connect(address).await;
    let mut second = tokio::spawn(async move {
        let mut client = waiting.http_2(io).await;
        whole(client.get("/").await.unwrap()).await.0
    });
    for _ in 0..200 {
        tokio::select! {
            biased;
            _ = &mut second => panic!("there are two connections"),
            answer = first.get("/") => assert_eq!(whole(answer.unwrap()).await.0, 200),
        }
    }
    drop(first);
    assert_eq!(second.await.unwrap(), 200);
}

#[tokio::test]
async fn sockets_are_closed_when_the_server_stops() {
    let world = World::new();
    let (address, server) = listen(&world).await;
    let client = Client::new(&world, None).http_2(connect(address).await).await;
    let answer = tokio::spawn(client.sender.clone().send_request(request("/wait")));
    world.probe.arrived.notified().await;
    world.stop.cancel();
    // The listener goes first: who comes now is told so at once.
    while TcpStream::connect(address).await.is_ok() {
        tokio::task::yield_now().await;
    }
    assert!(!server.is_finished());
    world.probe.go.0.add_permits(1);
    assert_eq!(whole(answer.await.unwrap().unwrap()).await.2, "waited");
    server.await.unwrap();
    client.connection.await.unwrap().unwrap();
}

#[tokio::test]
async fn sockets_are_closed_with_the_future() {
    let world = World::new();
    let (address, server) = listen(&world).await;
    let mut client = Client::new(&world, None).http_2(connect(address).await).await;
    let _watch = client.get("/watch").await.unwrap();
    assert_eq!(world.probe.count(), 1);
    server.abort();
    assert!(server.await.unwrap_err().is_cancelled());
    drop(client.connection.await);
    while world.probe.count() > 0 {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn sockets_that_break_disturb_nobody() {
    use tokio::io::AsyncWriteExt as _;

    let world = World::new();
    let (address, _server) = listen(&world).await;
    for garbage in [
        &b""[..],
        b"\0",
        b"GET / HTTP/1.1\r\n\r\n",
        &[0x16, 3, 1, 2, 0, 1, 0, 1, 0xfc, 3, 3],
    ] {
        let mut io = connect(address).await;
        io.write_all(garbage).await.unwrap();
    }
    let mut client = Client::new(&world, None).http_1(connect(address).await).await;
    assert_eq!(whole(client.get("/").await.unwrap()).await.0, 200);
}
