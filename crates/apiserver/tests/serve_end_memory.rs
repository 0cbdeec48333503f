//! How connections end, in memory and on virtual time.

use http_body_util::BodyExt as _;
use tokio::{io::AsyncWriteExt as _, time::Instant};

use crate::serving::{
    World,
    client::{Client, request, whole},
};

#[tokio::test(start_paused = true)]
async fn requests_under_way_are_answered() {
    for is_http_2 in [false, true] {
        let world = World::new();
        let (io, task) = world.connect();
        let answer = if is_http_2 {
            let mut client = Client::new(&world, None).http_2(io).await;
            tokio::spawn(async move { whole(client.get("/wait").await.unwrap()).await })
        } else {
            let mut client = Client::new(&world, None).http_1(io).await;
            tokio::spawn(async move { whole(client.get("/wait").await.unwrap()).await })
        };
        world.probe.arrived.notified().await;
        world.stop.cancel();
        tokio::time::sleep(std::time::Duration::from_secs(8)).await;
        world.probe.go.0.add_permits(1);
        assert_eq!(answer.await.unwrap().2, "waited");
        task.await.unwrap();
    }
}

#[tokio::test(start_paused = true)]
async fn no_request_is_taken_after_the_stop() {
    let world = World::new();
    let (io, task) = world.connect();
    let mut client = Client::new(&world, None).http_2(io).await;
    let first = tokio::spawn(client.sender.clone().send_request(request("/wait")));
    world.probe.arrived.notified().await;
    world.stop.cancel();
    tokio::time::sleep(std::time::Duration::from_secs(5)).await;
    assert!(client.get("/").await.is_err());
    world.probe.go.0.add_permits(1);
    assert_eq!(whole(first.await.unwrap().unwrap()).await.2, "waited");
    task.await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn what_does_not_end_is_cut() {
    for is_http_2 in [false, true] {
        let world = World::new();
        let (io, task) = world.connect();
        let mut watch = if is_http_2 {
            Client::new(&world, None).http_2(io).await.get("/watch").await.unwrap()
        } else {
            Client::new(&world, None).http_1(io).await.get("/watch").await.unwrap()
        };
        watch.frame().await.unwrap().unwrap();
        let start = Instant::now();
        world.stop.cancel();
        task.await.unwrap();
        assert_eq!(start.elapsed().as_secs(), 10);
        assert_eq!(world.probe.count(), 0);
    }
}

#[tokio::test(start_paused = true)]
async fn connections_without_a_request_end_soon() {
    let world = World::new();
    let start = Instant::now();
    let (_io, handshake) = world.connect();
    let (io, fresh) = world.connect();
    let fresh_client = Client::new(&world, None).handshake(io, &[]).await.unwrap();
    let (io, begun) = world.connect();
    let mut begun_client = Client::new(&world, None).handshake(io, &[]).await.unwrap();
    begun_client.write_all(b"GET / HT").await.unwrap();
    let (io, idle) = world.connect();
    let mut idle_client = Client::new(&world, None).http_2(io).await;
    whole(idle_client.get("/").await.unwrap()).await;
    world.stop.cancel();
    for task in [handshake, fresh, begun, idle] {
        task.await.unwrap();
    }
    assert!(start.elapsed().as_secs() <= 1);
    drop((fresh_client, begun_client));
}

#[tokio::test(start_paused = true)]
async fn requests_end_with_a_connection_that_is_dropped() {
    let world = World::new();
    let (io, task) = world.connect();
    let mut client = Client::new(&world, None).http_2(io).await;
    let _watch = client.get("/watch").await.unwrap();
    let waiting = tokio::spawn(client.sender.clone().send_request(request("/wait")));
    world.probe.arrived.notified().await;
    assert_eq!(world.probe.count(), 2);
    task.abort();
    assert!(task.await.unwrap_err().is_cancelled());
    assert!(waiting.await.unwrap().is_err());
    while world.probe.count() > 0 {
        tokio::task::yield_now().await;
    }
}
