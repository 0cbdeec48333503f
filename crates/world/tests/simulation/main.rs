//! The whole system on virtual time: embedded API server, twin and operators, each under the rights that it has on any
//! cluster.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails where it stands")]

mod changes;
mod faults;
mod ground;
mod inside;
mod life;
mod look;
mod machines;
#[path = "../both/manifests.rs"]
#[allow(dead_code, reason = "each simulation takes the part that it needs")]
mod manifests;
mod recovery;
mod replay;
#[path = "../../../api/tests/support/samples.rs"]
mod samples;
mod tenants;
mod trace;
mod trouble;
mod upgrades;

/// As in the program: the system's allocator takes a fifth of a simulation's time.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;
