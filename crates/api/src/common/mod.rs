//! Shapes that many kinds share: references, conditions, quantities, durations.
//!
//! Types whose name ends in `Schema` hold nothing: they describe a foreign Rust type on the wire, for
//! `#[schemars(with = "…")]`.

mod condition;
mod open;
mod placement;
mod reference;
mod scalar;

pub use condition::ConditionSchema;
pub use open::OpenObject;
pub use placement::{LabelSelectorSchema, TolerationSchema};
pub use reference::{LocalObjectReference, SecretKeyReference, SecretName};
pub use scalar::{GoDuration, IntOrString, Quantity, TimeSchema};
