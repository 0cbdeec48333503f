//! On real servers: one target, because each costs a link.

#![allow(
    clippy::disallowed_methods,
    reason = "the environment switches between comparing and recording, and picks cases"
)]

mod conformance_real;
mod controllers_real;
mod embedded;
mod kubectl_real;
