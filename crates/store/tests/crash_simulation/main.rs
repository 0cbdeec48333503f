//! Stores on a disk that fails at every step, against a model: what was acknowledged survives, what was not is invisible
//! or whole, damage is noticed, watchers miss and repeat nothing.
#![allow(
    clippy::unwrap_used,
    reason = "helpers of tests fail by panicking, like the tests themselves"
)]
#![allow(
    clippy::disallowed_methods,
    reason = "the soak reads from the environment how many seeds to run"
)]

mod bloat;
mod crash;
mod damage;
mod model;
mod random;
#[path = "../shared/text.rs"]
mod text;
mod workload;
mod world;
