//! Node pools on virtual time: embedded API server, twin with machines, and all operators; whole lives of pools by seed,
//! with rules that hold at every moment of them.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails where it stands")]

mod disturbances;
#[path = "../simulation/ground.rs"]
#[allow(dead_code, unused_imports, reason = "each simulation takes the part that it needs")]
mod ground;
mod history;
mod invariants;
#[path = "../simulation/look.rs"]
#[allow(dead_code, reason = "each simulation takes the part that it needs")]
mod look;
#[path = "../both/manifests.rs"]
mod manifests;
mod pools;
mod replay;
mod rest;
#[path = "../../../api/tests/support/samples.rs"]
mod samples;
mod seeds;
mod shows;
mod snapshot;
mod story;
#[path = "../simulation/trace.rs"]
#[allow(dead_code, reason = "each simulation takes the part that it needs")]
mod trace;
#[path = "../simulation/trouble.rs"]
mod trouble;
mod waits;
mod watch;

/// As in the program: the system's allocator takes a fifth of a simulation's time.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;
