//! Writes that a hundred watchers see: how many events reach them per second, and how long one takes from its request.

use std::{
    mem,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use anyhow::{Context as _, Result, ensure};
use bytes::Bytes;
use http::{Method, Request};
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use serde_json::Value;
use tokio::task::JoinSet;

use crate::{
    connection::Connection,
    load::{self, Make},
    measurement::Measured,
    operations::{create_in, request},
    server::{Door, Server},
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
    let list = Connection::open(&server.door).await?.json(get("limit=1")).await?;
    let revision = revision(&list)?;
    let mut watching = JoinSet::new();
    for number in 0..WATCHERS {
        let stream = Stream::open(&server.door, &revision).await?;
        let sent = (number == 0).then(|| Arc::clone(&sent));
        watching.spawn(watch(server.door.clone(), stream, revision.clone(), count, sent));
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
    let (mut latencies, mut cuts) = (Vec::new(), 0);
    while let Some(done) = watching.join_next().await {
        let watched = done??;
        latencies.extend(watched.latencies);
        cuts += watched.cuts;
    }
    ensure!(latencies.len() as u64 == count, "a watcher missed events");
    let mut measured = Measured::new(latencies, began.elapsed());
    measured.count *= WATCHERS;
    measured.cuts = cuts;
    measured.server_time = server.time()?.saturating_sub(server_before);
    measured.client_time = load::own_time()?.saturating_sub(client_before);
    Ok(measured)
}

fn get(query: &str) -> Request<Full<Bytes>> {
    let path = format!("/api/v1/namespaces/{NAMESPACE}/configmaps?{query}");
    request(Method::GET, &path, "", String::new())
}

fn revision(object: &Value) -> Result<String> {
    let revision = object["metadata"]["resourceVersion"].as_str();
    Ok(revision.context("everything has a revision")?.to_owned())
}

fn stamp(sent: &Sent, number: u64) {
    let mut sent = sent.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(slot) = usize::try_from(number).ok().and_then(|number| sent.get_mut(number)) {
        *slot = Some(Instant::now());
    }
}

/// A watch on a connection of its own.
struct Stream {
    body: Incoming,
    _connection: Connection,
}

impl Stream {
    async fn open(door: &Door, revision: &str) -> Result<Self> {
        let mut connection = Connection::open(door).await?;
        let request = get(&format!("watch=true&resourceVersion={revision}"));
        let body = connection.stream(request).await?.into_body();
        Ok(Self {
            body,
            _connection: connection,
        })
    }
}

/// What a watcher saw.
#[derive(Default)]
struct Watched {
    /// How long each event took, where that was asked for.
    latencies: Vec<Duration>,
    /// How often the server ended the watch because it was too slow.
    cuts: u64,
}

/// Takes events until there were enough. A watch that the server cuts is taken up again where it was, as every client
/// does.
async fn watch(
    door: Door,
    mut stream: Stream,
    mut position: String,
    count: u64,
    sent: Option<Sent>,
) -> Result<Watched> {
    let (mut watched, mut seen, mut lines) = (Watched::default(), 0, Lines::default());
    while seen < count {
        let Some(frame) = stream.body.frame().await else {
            lines.open.clear();
            // It may be cut again before it has seen anything.
            position = lines.position()?.unwrap_or(position);
            stream = Stream::open(&door, &position).await?;
            watched.cuts += 1;
            continue;
        };
        let Ok(data) = frame?.into_data() else { continue };
        seen += lines.take(&data, |line| match &sent {
            Some(sent) => {
                watched.latencies.push(latency(line, sent)?);
                Ok(())
            }
            None => Ok(()),
        })?;
    }
    Ok(watched)
}

/// Cuts bytes into lines.
#[derive(Default)]
struct Lines {
    /// The last whole line.
    last: Vec<u8>,
    /// What came of the next one.
    open: Vec<u8>,
}

impl Lines {
    /// The revision of the last event; none if there was none.
    fn position(&self) -> Result<Option<String>> {
        if self.last.is_empty() {
            return Ok(None);
        }
        let last: Value = serde_json::from_slice(&self.last)?;
        revision(&last["object"]).map(Some)
    }

    /// Gives the lines that some bytes end to a function, and says how many they were.
    fn take(&mut self, data: &[u8], mut each: impl FnMut(&[u8]) -> Result<()>) -> Result<u64> {
        let mut count = 0;
        for part in data.split_inclusive(|byte| *byte == b'\n') {
            self.open.extend_from_slice(part);
            if part.ends_with(b"\n") {
                each(&self.open)?;
                mem::swap(&mut self.last, &mut self.open);
                self.open.clear();
                count += 1;
            }
        }
        Ok(count)
    }
}

/// The time that an event took since its request was made.
fn latency(line: &[u8], sent: &Sent) -> Result<Duration> {
    let now = Instant::now();
    let event: Value = serde_json::from_slice(line)?;
    let name = event["object"]["metadata"]["name"].as_str();
    let number: usize = name
        .context("an event without a name")?
        .trim_start_matches("object-")
        .parse()?;
    let sent = sent.lock().unwrap_or_else(PoisonError::into_inner);
    let sent = sent.get(number % 1_000_000).copied().flatten();
    Ok(now.saturating_duration_since(sent.context("an event before its request")?))
}
