//! The whole runner under one seed: a real kube client on an in-memory API server with faults, users who disturb,
//! processes that die. On paused time, one thread, no sockets.

#![allow(
    clippy::disallowed_methods,
    reason = "the soak reads from the environment how many seeds to run"
)]

mod behaviour;
mod chaos;
mod fields;
mod handover;
mod orphans;
mod server;
mod state;
mod streams;
mod unchanged;
mod users;
mod widget;
mod world;
