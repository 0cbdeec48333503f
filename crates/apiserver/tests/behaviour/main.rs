//! The server as its clients see it, in-process and on virtual time.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails where it stands")]

mod basics;
mod support;
mod watching;
