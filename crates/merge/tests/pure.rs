//! Values in, values out: one target, because each costs a link.

mod applies;
mod builtins;
#[path = "fixtures/deployment.rs"]
mod deployment;
mod hostile;
mod laws;
mod updates;
mod world;
