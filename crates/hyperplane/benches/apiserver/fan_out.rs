//! Writes that a hundred watchers see: how many events reach them per second, and how long one takes from its request.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use anyhow::{Context as _, Result, ensure};
use bytes::Bytes;
use http::{Method, Request};
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use tokio::task::JoinSet;

use crate::{
    connection::Connection,
    load::{self, Make},
    measurement::Measured,
    operations::{create_in, request},
    server::Server,
};

/// Where the watched objects are.
pub const NAMESPACE: &str = "bench-watched";
/// Watchers, each on a connection of its own.
const WATCHERS: u64 = 100;

/// When each write was sent.
type Sent = Arc<Mutex<Vec<Option<Instant>>>>;

/// Writes over some connections while all watchers watch. Its operations are events that reached a watcher; how long
/// they take is seen by one watcher, which reads what it gets; the others count.
pub async fn run(server: &Server, connections: u64, count: u64) -> Result<Measured> {
    let sent: Sent = Arc::new(Mutex::new(vec![None; usize::try_from(count)?]));
    let list = Connection::open(server).await?.json(get("limit=1")).await?;
    let revision = list["metadata"]["resourceVersion"]
        .as_str()
        .context("a list has a revision")?;
    let mut watching = JoinSet::new();
    for number in 0..WATCHERS {
        let mut connection = Connection::open(server).await?;
        let body = connection
            .stream(get(&format!("watch=true&resourceVersion={revision}")))
            .await?
            .into_body();
        let sent = (number == 0).then(|| Arc::clone(&sent));
        watching.spawn(async move { watch(connection, body, count, sent).await });
    }
    let (server_before, client_before) = (server.time()?, load::own_time()?);
    let began = Instant::now();
    let stamps = Arc::clone(&sent);
    let make: Make = Arc::new(move |number| {
        stamp(&stamps, number);
        // Each number of connections has names of its own.
        create_in(NAMESPACE, number + connections * 1_000_000)
    });
    load::run(server, connections, count, make).await?;
    let mut latencies = Vec::new();
    while let Some(done) = watching.join_next().await {
        latencies.extend(done??);
    }
    ensure!(latencies.len() as u64 == count, "a watcher missed events");
    let mut measured = Measured::new(latencies, began.elapsed());
    measured.count *= WATCHERS;
    measured.server_time = server.time()?.saturating_sub(server_before);
    measured.client_time = load::own_time()?.saturating_sub(client_before);
    Ok(measured)
}

fn get(query: &str) -> Request<Full<Bytes>> {
    let path = format!("/api/v1/namespaces/{NAMESPACE}/configmaps?{query}");
    request(Method::GET, &path, "", String::new())
}

fn stamp(sent: &Sent, number: u64) {
    let mut sent = sent.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(slot) = usize::try_from(number).ok().and_then(|number| sent.get_mut(number)) {
        *slot = Some(Instant::now());
    }
}

/// Takes events until there were enough.
async fn watch(_connection: Connection, mut body: Incoming, count: u64, sent: Option<Sent>) -> Result<Vec<Duration>> {
    let (mut seen, mut latencies, mut line) = (0, Vec::new(), Vec::new());
    while seen < count {
        let frame = body.frame().await.context("a watch ended")??;
        let Some(data) = frame.data_ref() else { continue };
        seen += lines(data);
        if let Some(sent) = &sent {
            latencies.extend(read(data, &mut line, sent)?);
        }
    }
    Ok(latencies)
}

#[expect(clippy::naive_bytecount, reason = "a crate for one line of a benchmark is too much")]
fn lines(data: &Bytes) -> u64 {
    data.iter().filter(|byte| **byte == b'\n').count() as u64
}

/// The time that each event in some bytes took since its request was made.
fn read(data: &Bytes, line: &mut Vec<u8>, sent: &Sent) -> Result<Vec<Duration>> {
    let now = Instant::now();
    let mut latencies = Vec::new();
    for part in data.split_inclusive(|byte| *byte == b'\n') {
        line.extend_from_slice(part);
        if !part.ends_with(b"\n") {
            break;
        }
        let event: serde_json::Value = serde_json::from_slice(line)?;
        line.clear();
        let name = event["object"]["metadata"]["name"]
            .as_str()
            .context("an event without a name")?;
        let number: usize = name.trim_start_matches("object-").parse()?;
        let sent = sent.lock().unwrap_or_else(PoisonError::into_inner);
        let sent = sent.get(number % 1_000_000).copied().flatten();
        latencies.push(now.saturating_duration_since(sent.context("an event before its request")?));
    }
    Ok(latencies)
}
