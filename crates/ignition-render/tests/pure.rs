//! Values in, values out: one target, because each costs a link.

mod golden;
mod properties;
mod support;
