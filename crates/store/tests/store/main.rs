//! Stores through their public surface: what is promised about commits, reads, watches, directories and dumps.
#![allow(
    clippy::unwrap_used,
    reason = "helpers of tests fail by panicking, like the tests themselves"
)]

mod commits;
mod directories;
mod dumps;
mod growth;
mod reads;
mod running;
#[path = "../shared/text.rs"]
mod text;
mod threads;
mod watches;
