//! The operator on the embedded API server, in this process and on virtual time.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails where it stands")]

mod access;
mod life;
mod mishaps;
mod world;
