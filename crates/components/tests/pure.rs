//! Values in, values out: one target, because each costs a link.

#[path = "support/any.rs"]
mod any;
mod changes;
mod golden;
mod properties;
mod support;
