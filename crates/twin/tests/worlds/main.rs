//! The twin on an embedded API server, on virtual time: what becomes of workloads, and what goes wrong with them.

#[path = "../control_plane/mod.rs"]
mod control_plane;
mod daemons;
mod deployments;
mod failures;
mod hosted;
mod members;
mod rest;
mod support;
