//! Values in, values out: one target, because each costs a link.

#![allow(
    clippy::disallowed_methods,
    reason = "the environment picks cases, and the server reads the clock"
)]
#![allow(
    clippy::unwrap_used,
    reason = "a test stops where it cannot go on, in its helpers too"
)]

mod conformance_embedded;
mod coverage;
mod embedded;
mod runner;
