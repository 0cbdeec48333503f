//! The twin on an embedded API server, on virtual time: what becomes of workloads, and what goes wrong with them.
#![allow(
    clippy::unwrap_used,
    reason = "a test that finds something else than it expects has failed"
)]

#[path = "../control_plane/mod.rs"]
mod control_plane;
mod daemons;
mod deployments;
mod failures;
mod heartbeats;
mod hosted;
mod kubelets;
mod machines;
mod members;
mod relay;
mod rest;
mod support;
