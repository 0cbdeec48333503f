//! Values in, values out: one target, because each costs a link.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod server_sockets;
mod support;
mod virtual_time;
