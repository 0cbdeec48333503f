//! The command line without a server: one target, because each costs a link.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod apiserver_usage;
mod crds;
mod day_one;
mod explain_rollout;
mod install;
#[path = "../../api/tests/support/samples.rs"]
mod samples;
mod subcommands;
mod upgrade_check;
