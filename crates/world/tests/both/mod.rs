//! What tests on embedded and on real servers have in common: users, and a whole management cluster in this process.
#![allow(dead_code, reason = "each test target takes the part that it needs")]

pub mod embedded;
pub mod manifests;
pub mod users;
