//! Clients that never retry, for what users notice of an upgrade: each sends one request after the other and counts what
//! comes back. It owns the clients and their counting; what happens to the server meanwhile is the caller's.

mod client;
mod connection;
mod report;
mod target;

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use tokio::{sync::watch, task::JoinHandle, time::Instant};

use self::report::Gap;
pub use self::{
    client::{Client, Protocol, Work},
    report::{ClientReport, Failure, Latency, Report},
    target::{Target, TargetError, Tls},
};

/// How long all clients pause between two requests: some twenty requests a second each.
const INTERVAL: Duration = Duration::from_millis(50);

/// Clients at work. Dropping it ends them without a report.
pub struct Hammer {
    started: Instant,
    stop: watch::Sender<bool>,
    clients: Vec<JoinHandle<ClientReport>>,
    good: Arc<Mutex<Gap>>,
}

impl Hammer {
    /// Starts clients.
    pub fn start(target: &Target, clients: Vec<Client>) -> Self {
        Self::start_with(target, clients, INTERVAL)
    }

    /// Starts clients that pause for so long between two requests.
    pub fn start_with(target: &Target, clients: Vec<Client>, interval: Duration) -> Self {
        let started = Instant::now();
        let (stop, stopped) = watch::channel(false);
        let good = Arc::new(Mutex::new(Gap::starting(started)));
        let run = |client: Client| {
            let shared = client::Shared {
                target: target.clone(),
                interval,
                stopped: stopped.clone(),
                good: Arc::clone(&good),
            };
            tokio::spawn(client.run(shared))
        };
        Self {
            started,
            stop,
            clients: clients.into_iter().map(run).collect(),
            good,
        }
    }

    /// Ends the clients, each after the request that it is at, and tells what they saw.
    ///
    /// # Panics
    ///
    /// If a client has panicked.
    pub async fn stop(mut self) -> Report {
        self.stop.send_replace(true);
        let mut clients = Vec::new();
        for client in std::mem::take(&mut self.clients) {
            clients.push(client.await.expect("nobody aborts a client that is awaited"));
        }
        let now = Instant::now();
        let mut good = self.good.lock().unwrap_or_else(PoisonError::into_inner);
        Report {
            elapsed: now - self.started,
            longest_gap: good.finish(now),
            clients,
        }
    }
}

impl Drop for Hammer {
    fn drop(&mut self) {
        for client in &self.clients {
            client.abort();
        }
    }
}

#[cfg(test)]
mod tests;
