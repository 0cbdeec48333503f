//! Values in, values out: one target, because each costs a link.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod compat;
mod round_trip;
mod strings;
mod structural;
mod support;
