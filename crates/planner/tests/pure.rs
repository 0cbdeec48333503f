//! Values in, values out: one target, because each costs a link.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod brute;
mod exhaustive;
mod published;
mod rules;
mod schemas;
