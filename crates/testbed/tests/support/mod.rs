//! What the tests on a real control plane share.

pub mod definitions;
pub mod rule_table;
