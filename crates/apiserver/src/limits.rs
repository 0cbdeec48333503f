//! Every limit of the server, with its reason. Where upstream has one, ours is the same, so that what works there works
//! here.

use std::time::Duration;

/// How much the server takes from a client at once.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// The longest request body. Upstream's: etcd refuses requests of more than 1.5 MiB, JSON may be twice as long.
    pub body_bytes: usize,
    /// How long a body may take to arrive, so that a client that sends nothing holds nothing.
    pub body_patience: Duration,
    /// The largest object that is stored. Upstream's: the default request limit of etcd.
    pub object_bytes: usize,
    /// Concurrent watches; one more gets 429. Each costs a few kilobytes and a wake-up per write.
    pub watches: usize,
    /// Concurrent requests that are not watches; one more gets 429. Upstream's sum of both kinds of in-flight limits.
    pub requests: usize,
    /// Bodies that are on their way at once; one more gets 429. More than requests, for slow clients wait here; few
    /// enough that all of them together fit into the memory of a small machine, as most are short.
    pub bodies: usize,
    /// How often a write is tried again when another one was faster.
    pub write_attempts: usize,
    /// How often a generated name is tried again when it is taken (upstream: 8).
    pub name_attempts: usize,
    /// The longest life of a watch that asks for none; clients resume where it ended.
    pub watch_timeout: Duration,
    /// How often a watch that asked for bookmarks gets one.
    pub bookmark_interval: Duration,
    /// How long a list waits for a revision that is not there yet.
    pub future_revision_patience: Duration,
    /// How long a controller waits before it tries again what failed.
    pub retry_pause: Duration,
    /// How many bytes of events are put into one part of a watch's body.
    pub watch_batch_bytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            body_bytes: 3 * 1024 * 1024,
            body_patience: Duration::from_mins(1),
            object_bytes: 3 * 1024 * 1024 / 2,
            watches: 20_000,
            requests: 600,
            bodies: 2_000,
            write_attempts: 64,
            name_attempts: 8,
            watch_timeout: Duration::from_mins(45),
            bookmark_interval: Duration::from_mins(1),
            future_revision_patience: Duration::from_secs(3),
            retry_pause: Duration::from_secs(1),
            watch_batch_bytes: 64 * 1024,
        }
    }
}
