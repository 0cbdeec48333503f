//! One client: its loop, and what it makes of each outcome. It sends a request again only where the server said when.

use std::{
    fmt,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use bytes::Bytes;
use http::{
    Method, Request, StatusCode,
    header::{AUTHORIZATION, CONNECTION, CONTENT_TYPE, HOST},
};
use http_body_util::Full;
use tokio::{
    sync::watch,
    time::{Instant, sleep, timeout},
};

use super::{
    connection::{Answer, Connection, Lost},
    report::{ClientReport, Gap, Tally},
    target::Target,
};

/// How long a request may take, its connection included. A write to a healthy API server takes milliseconds.
const TIMEOUT: Duration = Duration::from_secs(10);

/// The longest wait that a server may ask for; one that asks for more is down for all that users can tell.
const RETRY_AFTER_LIMIT: Duration = Duration::from_secs(30);

/// How often a request that never left this process goes to another connection before the server counts as refusing it.
const CONNECTION_LIMIT: u32 = 3;

/// How a client speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Protocol {
    /// HTTP/1.1 over one connection for as long as the server keeps it.
    Http1,
    /// HTTP/1.1 over a new connection for each request.
    Http1WithoutKeepAlive,
    /// HTTP/2 over one connection for as long as the server keeps it.
    Http2,
}

impl fmt::Display for Protocol {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Http1 => "HTTP/1.1",
            Self::Http1WithoutKeepAlive => "HTTP/1.1, new connections",
            Self::Http2 => "HTTP/2",
        })
    }
}

/// What a client asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Work {
    /// Gets a path.
    Read(String),
    /// Changes the data of the ConfigMap at a path, which exists.
    Write(String),
}

/// A client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Client {
    /// How it speaks.
    pub protocol: Protocol,
    /// What it asks for.
    pub work: Work,
}

/// What a client has from the hammer that it belongs to.
pub(super) struct Shared {
    pub(super) target: Target,
    pub(super) interval: Duration,
    pub(super) stopped: watch::Receiver<bool>,
    /// The good answers of all clients.
    pub(super) good: Arc<Mutex<Gap>>,
}

/// How one request ended.
enum Outcome {
    Answered(Answer),
    Refused(String),
    Broken(String),
}

impl Client {
    /// One that reads and one that writes in each protocol, on a ConfigMap that exists.
    pub fn on_config_map(namespace: &str, name: &str) -> Vec<Self> {
        let path = format!("/api/v1/namespaces/{namespace}/configmaps/{name}");
        let protocols = [Protocol::Http1, Protocol::Http1WithoutKeepAlive, Protocol::Http2];
        let clients =
            |protocol| [Work::Read(path.clone()), Work::Write(path.clone())].map(|work| Self { protocol, work });
        protocols.into_iter().flat_map(clients).collect()
    }

    /// What it is called in reports.
    pub fn name(&self) -> String {
        let verb = match self.work {
            Work::Read(_) => "read",
            Work::Write(_) => "write",
        };
        format!("{verb} over {}", self.protocol)
    }

    pub(super) async fn run(self, mut shared: Shared) -> ClientReport {
        let mut tally = Tally::starting(Instant::now());
        let mut connection = None;
        let mut count = 0;
        while !*shared.stopped.borrow() {
            count += 1;
            let start = Instant::now();
            let mut outcome = self.attempt(&shared.target, &mut connection, count).await;
            if let Some(wait) = outcome.retry_after() {
                tally.throttled += 1;
                if !pause(wait, &mut shared.stopped).await {
                    break;
                }
                outcome = self.attempt(&shared.target, &mut connection, count).await;
            }
            record(outcome, start, &mut tally, &shared.good);
            if !pause(shared.interval, &mut shared.stopped).await {
                break;
            }
        }
        tally.finish(self.name(), Instant::now())
    }

    /// Sends one request once.
    async fn attempt(&self, target: &Target, kept: &mut Option<Connection>, count: u64) -> Outcome {
        let request = self.request(target, count);
        let Ok(outcome) = timeout(TIMEOUT, self.exchange(target, kept, request)).await else {
            *kept = None;
            return Outcome::Broken(format!("no answer within {} s", TIMEOUT.as_secs()));
        };
        if self.protocol == Protocol::Http1WithoutKeepAlive || !matches!(outcome, Outcome::Answered(_)) {
            *kept = None;
        }
        outcome
    }

    async fn exchange(&self, target: &Target, kept: &mut Option<Connection>, request: Request<Full<Bytes>>) -> Outcome {
        let mut request = request;
        for _ in 0..CONNECTION_LIMIT {
            let connection = match usable(kept.take()).await {
                Some(connection) => connection,
                None => match Connection::open(target, self.protocol).await {
                    Ok(connection) => connection,
                    Err(error) => return Outcome::Refused(error.to_string()),
                },
            };
            match kept.insert(connection).exchange(request).await {
                Ok(answer) => return Outcome::Answered(answer),
                Err(Lost::Broken(reason)) => return Outcome::Broken(reason),
                Err(Lost::NotSent(back)) => {
                    *kept = None;
                    request = *back;
                }
            }
        }
        Outcome::Refused(format!(
            "{CONNECTION_LIMIT} connections ended before a request was sent"
        ))
    }

    fn request(&self, target: &Target, count: u64) -> Request<Full<Bytes>> {
        let (method, path, body) = match &self.work {
            Work::Read(path) => (Method::GET, path, String::new()),
            Work::Write(path) => (
                Method::PATCH,
                path,
                // Each client has a key of its own, so that they do not undo each other's changes.
                serde_json::json!({"data": {self.key(): count.to_string()}}).to_string(),
            ),
        };
        let mut builder = Request::builder().method(method);
        builder = match self.protocol {
            Protocol::Http2 => {
                let scheme = if target.tls.is_some() { "https" } else { "http" };
                builder.uri(format!("{scheme}://{}{path}", target.authority))
            }
            Protocol::Http1 => builder.uri(path).header(HOST, &target.authority),
            Protocol::Http1WithoutKeepAlive => builder
                .uri(path)
                .header(HOST, &target.authority)
                .header(CONNECTION, "close"),
        };
        if let Some(value) = &target.authorization {
            builder = builder.header(AUTHORIZATION, value);
        }
        if !body.is_empty() {
            builder = builder.header(CONTENT_TYPE, "application/merge-patch+json");
        }
        let request = builder.body(Full::new(Bytes::from(body)));
        request.expect("paths and header values are those of a valid target")
    }

    fn key(&self) -> &'static str {
        match self.protocol {
            Protocol::Http1 => "http1",
            Protocol::Http1WithoutKeepAlive => "http1-new-connections",
            Protocol::Http2 => "http2",
        }
    }
}

impl Outcome {
    /// How long the server asks to wait before the request is sent once more.
    fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::Answered(answer) if answer.status == StatusCode::TOO_MANY_REQUESTS => {
                answer.retry_after.filter(|wait| *wait <= RETRY_AFTER_LIMIT)
            }
            _ => None,
        }
    }
}

/// Counts an outcome.
fn record(outcome: Outcome, start: Instant, tally: &mut Tally, good: &Mutex<Gap>) {
    let now = Instant::now();
    match outcome {
        Outcome::Answered(answer) if is_good(answer.status) => {
            tally.good(answer.status, now, now - start);
            good.lock().unwrap_or_else(PoisonError::into_inner).good(now);
        }
        Outcome::Answered(answer) => tally.bad(answer.status, now),
        Outcome::Refused(reason) => tally.refused(&reason, now),
        Outcome::Broken(reason) => tally.broken(&reason, now),
    }
}

fn is_good(status: StatusCode) -> bool {
    status.is_success()
}

/// The connection, if another request can be sent over it.
async fn usable(kept: Option<Connection>) -> Option<Connection> {
    let mut connection = kept?;
    connection.is_usable().await.then_some(connection)
}

/// Waits; false if the hammer was stopped meanwhile.
async fn pause(duration: Duration, stopped: &mut watch::Receiver<bool>) -> bool {
    tokio::select! {
        () = sleep(duration) => true,
        // An error says that the hammer is gone.
        _ = stopped.wait_for(|stopped| *stopped) => false,
    }
}
