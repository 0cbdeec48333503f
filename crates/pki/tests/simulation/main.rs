//! The operator on the embedded API server, in this process and on virtual time.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails where it stands")]

mod access;
mod cut;
mod interruption;
mod life;
mod mishaps;
mod users;
mod world;
