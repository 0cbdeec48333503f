//! Server-side apply and field ownership: who owns which fields of an object, what an applied intent makes of it, and
//! what every other write does to ownership. Strategic merge patches are here too, because they read the same types.
//!
//! Everything here is a function from values to values. Objects are JSON, types come from schemas, time comes from the
//! caller. The crate knows no requests, no storage, no defaults and no validation; the server around it prunes, defaults
//! and validates what comes out, and calls [`keep_times`] last, so that a write that changes nothing writes nothing.
//!
//! Faithful to structured-merge-diff v6 and to apimachinery's managed fields, oddities included. Known differences:
//! integers beyond 2^53 are compared exactly, and `fieldsV1` is written with its keys in the order of their texts.

mod apply;
mod author;
mod conflict;
mod element;
mod extract;
mod go;
mod last_applied;
mod managers;
mod prune;
mod reset;
mod scale;
mod set;
mod strategic;
mod times;
mod types;
mod update;
mod value;
mod versions;
mod walk;

pub use apply::{ApplyError, apply};
pub use author::{Author, Scope};
pub use conflict::{Conflict, Operation, describe_conflicts};
pub use extract::extract;
pub use reset::ResetFields;
pub use scale::ScaleFields;
pub use strategic::{StrategicError, printed_patch, strategic_merge};
pub use times::keep_times;
pub use types::Types;
pub use update::update;
