//! Values in, values out: one target, because each costs a link.

mod answers;
mod support;
mod table;
mod total;
