//! Every bound on connections, each with its reason. What a request may hold is bounded where it is answered.

use std::time::Duration;

/// How much the server takes from a network at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConnectionLimits {
    /// Connections at a time. Further ones wait in the kernel's queue until one ends. Each costs some tens of kilobytes;
    /// clients of Kubernetes share one connection among all their requests, so that this serves thousands of programs.
    pub connections: usize,
    /// How long a handshake may take, over a slow line with loss.
    pub handshake: Duration,
    /// How long a connection may be without a request, and a head of HTTP/1 may take to arrive. Upstream's idle timeout,
    /// and the time that clients in Go and in Rust keep a connection for the next request.
    pub idle: Duration,
    /// Bytes of the head of a request. A URL may have 64 KiB, and a token some more; the lists of selectors that
    /// controllers send stay far below. On HTTP/1 it is what is read at least before a head is given up.
    pub head_bytes: u32,
    /// Requests at a time on one connection of HTTP/2, watches included. Upstream's.
    pub streams: u32,
    /// Bytes that a client may send ahead on one request: most objects at once, without a round trip. Upstream's.
    pub stream_window_bytes: u32,
    /// Bytes that a client may send ahead on all requests of a connection: the memory that it can take from us.
    pub connection_window_bytes: u32,
    /// Bytes of answers that wait for a client's window, per request: a list that nobody reads is not kept in memory twice.
    pub send_buffer_bytes: usize,
    /// After how much silence a peer on HTTP/2 is asked whether it is there.
    pub ping_interval: Duration,
    /// How long it may take to say so. A machine that vanished holds its watches no longer than both together.
    pub ping_patience: Duration,
    /// How long requests may take to finish once the server stops.
    pub drain: Duration,
    /// How long a connection without a request may take to say goodbye.
    pub farewell: Duration,
}

impl Default for ConnectionLimits {
    fn default() -> Self {
        Self {
            connections: 4096,
            handshake: Duration::from_secs(10),
            idle: Duration::from_secs(90),
            head_bytes: 256 << 10,
            streams: 1000,
            stream_window_bytes: 256 << 10,
            connection_window_bytes: 8 << 20,
            send_buffer_bytes: 256 << 10,
            ping_interval: Duration::from_secs(30),
            ping_patience: Duration::from_secs(15),
            drain: Duration::from_secs(10),
            farewell: Duration::from_secs(1),
        }
    }
}

/// Heads of HTTP/1 with more lines than this are refused; hyper's own bound, in sight.
pub(super) const HEADERS: usize = 100;
