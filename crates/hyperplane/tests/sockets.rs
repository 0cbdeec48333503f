//! Programs over loopback sockets: one target, because each costs a link.

#![allow(
    clippy::disallowed_methods,
    reason = "real processes want certificates that are valid now"
)]
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod apiserver;
mod apiserver_end_sockets;
mod apiserver_sockets;
mod day_one_sockets;
mod durability;
mod durability_sockets;
mod hostile;
mod hostile_sockets;
mod issuing;
mod personas_sockets;
mod programs;
mod programs_sockets;
#[path = "../../components/tests/support/mod.rs"]
mod rendering;
mod status_sockets;
mod up_end_sockets;
mod up_killed_sockets;
mod up_work_sockets;
mod up_wrong_use_sockets;
