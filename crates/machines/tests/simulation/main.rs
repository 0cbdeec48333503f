//! The controllers between a management cluster and a hosted one, both on the embedded API server, in this process and on
//! virtual time, with the rights that they are given and no others. Who provides instances and who runs pods is played.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails where it stands")]

mod clusters;
mod drains;
mod faults;
mod ground;
mod hosted;
mod life;
mod repairs;
#[path = "../../../api/tests/support/samples.rs"]
mod samples;
mod silence;
mod world;

/// As in the program: the system's allocator takes a fifth of a simulation's time.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;
