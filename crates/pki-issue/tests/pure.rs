//! Values in, values out: one target, because each costs a link.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod chains;
mod content;
mod convergence;
mod interruption;
mod leaf_rules;
mod rules;
mod support;
mod years;
