//! Values in, values out: one target, because each costs a link.

#![allow(clippy::disallowed_methods, reason = "the server reads the clock")]

#[path = "law/comparison.rs"]
mod comparison;
mod image_names;
mod law_comparison;
mod rules_embedded;
mod support;
