//! The small programs that run beside the components of a hosted control plane: each does one thing in its container.
//!
//! Every program is a module with the same shape: what it decides is a function of values, and around it is a thin
//! shell that reads, waits and writes. None of them reads the environment, listens to signals or keeps global state:
//! the binary hands that down, and ends a program by dropping its future, or by the token where a program has
//! something to finish. [`listen`] and [`probes`] serve the binary too, for programs that are not of this crate.

pub mod availability;
pub mod etcd;
pub mod listen;
pub mod place;
pub mod probes;
pub mod router;
pub mod span;
pub mod tail;
pub mod tls;
pub mod token;
pub mod tunnel;
pub mod wait;

mod call;
mod dial;
mod kubeconfig;
mod patience;
mod relay;
