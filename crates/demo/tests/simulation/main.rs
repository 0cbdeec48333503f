//! The story on virtual time: embedded API server, twin and all operators.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails where it stands")]

mod ground;
mod interruptions;
mod many;
mod violations;
mod whole;

/// As in the program: the system's allocator takes a fifth of a simulation's time.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;
