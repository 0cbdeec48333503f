//! The whole system on virtual time: embedded API server, twin and operators, each under the rights that it has on any
//! cluster.

mod ground;
mod life;
