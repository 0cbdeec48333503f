//! Programs over loopback sockets: one target, because each costs a link.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod router_sockets;
mod support;
mod tunnel_sockets;
