//! What the tests of connections share: credentials, a service that says what it sees, and clients of both protocols.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]
#![allow(dead_code, reason = "each target uses its part")]

pub mod client;
pub mod service;

use std::{net::SocketAddr, sync::Arc};

use hyperplane_apiserver::{
    Entropy,
    pki::{Credentials, ServingNames},
    serve::{ConnectionLimits, TlsSettings, serve_connection},
};
use hyperplane_seams::Clock;
use jiff::Timestamp;
use tokio::{
    io::{DuplexStream, duplex},
    task::JoinHandle,
};
use tokio_util::sync::CancellationToken;

use self::service::Probe;

/// When the world of these tests begins.
pub const START: Timestamp = Timestamp::constant(1_800_000_000, 0);
/// What a pipe in memory holds: a socket's buffer.
const PIPE: usize = 64 << 10;

/// A server and everything about it.
pub struct World {
    pub credentials: Credentials,
    pub tls: TlsSettings,
    pub clock: Clock,
    pub probe: Probe,
    pub limits: ConnectionLimits,
    pub stop: CancellationToken,
}

impl World {
    /// A world that begins now, on tokio's time.
    pub fn new() -> Self {
        let clock = Clock::anchored(START);
        let credentials = credentials(START);
        let tls = TlsSettings::new(&credentials.serving, &credentials.cluster.certificate, clock.clone()).unwrap();
        Self {
            credentials,
            tls,
            clock,
            probe: Probe::default(),
            limits: ConnectionLimits::default(),
            stop: CancellationToken::new(),
        }
    }

    /// A connection in memory: the client's end, and the task that serves the other one.
    pub fn connect(&self) -> (DuplexStream, JoinHandle<()>) {
        let (client, server) = duplex(PIPE);
        let connection = serve_connection(
            server,
            remote(),
            self.tls.clone(),
            self.probe.service(),
            self.limits,
            self.stop.clone(),
        );
        (client, tokio::spawn(connection))
    }
}

/// Where connections in memory claim to come from.
pub fn remote() -> SocketAddr {
    "192.0.2.7:4711".parse().unwrap()
}

/// Credentials that were made at a time.
pub fn credentials(now: Timestamp) -> Credentials {
    let counter = Arc::new(std::sync::atomic::AtomicU8::new(1));
    let entropy = Entropy::new(move |bytes| bytes.fill(counter.fetch_add(1, std::sync::atomic::Ordering::Relaxed)));
    let names = ServingNames::of_cluster("10.0.0.1".parse().unwrap());
    Credentials::generate(&names, now, &entropy).unwrap()
}
