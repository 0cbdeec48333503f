//! On real servers: one target, because each costs a link.

#![allow(
    clippy::disallowed_methods,
    reason = "a test that kills itself tells its two roles apart by the environment"
)]

mod control_plane_real;
mod definitions_real;
mod law;
mod law_real;
mod rules_real;
mod runner_real;
#[path = "support/running.rs"]
mod running;
mod support;
mod tenant_real;
