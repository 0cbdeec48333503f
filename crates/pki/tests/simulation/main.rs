//! The operator on the embedded API server, in this process and on virtual time.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails where it stands")]

mod access;
mod cut;
mod interruption;
mod life;
mod mishaps;
#[path = "../../../api/tests/support/samples.rs"]
mod samples;
mod users;
mod world;
