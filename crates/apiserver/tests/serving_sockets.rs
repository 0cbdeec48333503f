//! Connections, in memory and over loopback sockets: one target, because each costs a link.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod serve_end_memory;
mod serve_memory;
mod serve_sockets;
mod serving;
