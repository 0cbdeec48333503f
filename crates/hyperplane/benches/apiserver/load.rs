//! Load: some connections, each with one request after the other, until all are done.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use anyhow::Result;
use bytes::Bytes;
use http::Request;
use http_body_util::Full;
use tokio::task::JoinSet;

use crate::{common::process, connection::Connection, measurement::Measured, operations, server::Server};

/// Makes the request with a number.
pub type Make = Arc<dyn Fn(u64) -> Request<Full<Bytes>> + Send + Sync>;

/// Sends requests with the numbers below a bound over some connections, and measures.
pub async fn run(server: &Server, connections: u64, count: u64, make: Make) -> Result<Measured> {
    let mut open = Vec::new();
    for _ in 0..connections {
        let mut connection = Connection::open(&server.door).await?;
        connection.send(operations::ready()).await?;
        open.push(connection);
    }
    let (server_before, client_before) = (server.time()?, own_time()?);
    let began = Instant::now();
    let next = Arc::new(AtomicU64::new(0));
    let mut tasks = JoinSet::new();
    for connection in open {
        tasks.spawn(work(connection, Arc::clone(&next), count, Arc::clone(&make)));
    }
    let mut latencies = Vec::new();
    while let Some(done) = tasks.join_next().await {
        latencies.extend(done??);
    }
    let mut measured = Measured::new(latencies, began.elapsed());
    measured.server_time = server.time()?.saturating_sub(server_before);
    measured.client_time = own_time()?.saturating_sub(client_before);
    Ok(measured)
}

async fn work(mut connection: Connection, next: Arc<AtomicU64>, count: u64, make: Make) -> Result<Vec<Duration>> {
    let mut latencies = Vec::new();
    loop {
        let number = next.fetch_add(1, Ordering::Relaxed);
        if number >= count {
            return Ok(latencies);
        }
        let request = make(number);
        let sent = Instant::now();
        connection.send(request).await?;
        latencies.push(sent.elapsed());
    }
}

/// Processor time of this process.
pub fn own_time() -> Result<Duration> {
    process::time(&[std::process::id()])
}
