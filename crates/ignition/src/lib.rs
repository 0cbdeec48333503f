//! The server from which machines that start fetch their configuration, by the token that they were given.
//!
//! ```text
//!  GET /ignition ─► token (fingerprint) ─► index of the Secrets of the namespace ─► answer ─► payload of the Secret
//!                                                                                     └─► reached: a mark on the Secret
//! ```
//!
//! - **Tokens** are in Secrets with the annotation `hypershift.openshift.io/ignition-config`: one that is good, and the one
//!   before it, which stays good for some time. With the annotation of an expiry, both end then.
//! - **What is answered** is decided by a pure function ([`answer`](answer::answer)); everything else is a thin shell.
//! - **Who came** is told by the token itself. Headers in which a machine says which NodePool it is of are not looked at:
//!   anybody can write them.
//! - **Every replica** answers by its own watch. None writes anything but the mark, which is the same from all.
//!
//! Configurations are made elsewhere: here they are only handed out.

pub mod answer;
mod connection;
pub mod counts;
mod listen;
pub mod reached;
mod run;
pub mod service;
#[cfg(test)]
mod tests;
pub mod tls;
pub mod token;

pub use self::{
    connection::serve_machine,
    listen::ListenError,
    run::{ServerError, Settings, run},
};
