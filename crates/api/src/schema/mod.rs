//! The vocabulary with which types describe their schema: rules, list types, feature gates, and the
//! pass that turns what schemars derives into a structural schema that an API server takes.
//!
//! Schemas are constants, so they are derived only in the tests of this crate, which keep the files in `schemas/` equal to
//! the types (`cargo xtask bless` writes them anew). Every other build reads those files.
//!
//! Everything here is a [`schemars::transform::Transform`], so that one attribute,
//! `#[schemars(transform = …)]`, says all that serde's and schemars' own attributes cannot.

mod derive;
mod feature;
mod normalise;
mod rule;
mod shape;

pub(crate) use derive::JsonSchema;
#[cfg(test)]
pub(crate) use derive::derived;
pub use feature::{FeatureGate, FeatureSet, UnknownFeatureSet, gated, gated_values};
pub use normalise::structural;
pub use rule::{Rule, immutable, matches_expression, rule};
pub use shape::{
    atomic, atomic_map, default_value, format, granular_map, int_or_string, list_map, list_set, nullable, open,
    pattern, properties, text_items,
};

/// Keys of our own in a raw schema; [`structural`] reads and removes them.
mod marker {
    pub(super) const FEATURE_GATE: &str = "x-hyperplane-feature-gate";
    pub(super) const GATED_VALUES: &str = "x-hyperplane-gated-values";
    pub(super) const NULLABLE: &str = "x-hyperplane-nullable";
}

/// The keyword under which CEL rules stand.
const VALIDATIONS: &str = "x-kubernetes-validations";
