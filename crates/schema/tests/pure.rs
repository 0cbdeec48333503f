//! Values in, values out: one target, because each costs a link.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod builtin;
mod definitions;
mod hostile;
mod laws;
mod recorded;
mod rule_tables;
