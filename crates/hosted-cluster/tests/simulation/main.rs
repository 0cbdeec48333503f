//! The operator on the embedded API server, in this process and on virtual time, with the rights that it is given and no
//! others.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails where it stands")]

mod contract;
mod deletion;
mod elsewhere;
mod keys;
mod life;
mod mishaps;
mod operators;
mod recovery;
#[path = "../../../api/tests/support/samples.rs"]
mod samples;
mod surroundings;
mod tenants;
mod without_effect;
mod world;

/// As in the program: the system's allocator takes a fifth of a simulation's time.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;
