//! What the tests on a real control plane and on the embedded one share.

#![allow(dead_code, reason = "each test uses its part")]

pub mod definitions;
pub mod rule_table;
pub mod rules;
