//! Lets machines that exist join their hosted cluster: approves their certificate requests and nobody else's.
//!
//! ```text
//!  Machines (management cluster, one namespace) ─┐
//!  Nodes (hosted cluster) ───────────────────────┼─► judge ─► Ignored | Refused, and judged again | Approved
//!  CertificateSigningRequests (hosted cluster) ──┘
//! ```
//!
//! - **A first certificate** is asked for by the identity that all machines start with. It is approved for a node whose
//!   name a machine has that exists, is not going away, and has not become a node under any of its names: one machine, one
//!   node, one first certificate. Where two keys ask for one machine, neither gets it until one of the requests is gone.
//! - **A serving certificate** is asked for by the node itself, and is approved for names and addresses that the provider
//!   of the infrastructure reports for its machine.
//! - **Renewals** of client certificates are approved by Kubernetes itself, and left alone here, as is everything else.

pub mod approver;
mod health;
pub mod judge;
pub mod machine;
pub mod memory;
pub mod request;
mod run;
#[cfg(test)]
mod tests;

pub use self::{
    health::Health,
    run::{Settings, run, run_between},
};
