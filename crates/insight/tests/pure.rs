//! Values in, values out: one target, because each costs a link.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod robust;
mod situations;
mod support;
