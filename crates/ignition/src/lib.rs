//! The server from which machines that start fetch their configuration, by the token that they were given.
//!
//! ```text
//!  GET /ignition ─► token (fingerprint) ─► index of the Secrets of the namespace ─► answer ─► payload
//!                                                                                     └─► reached: a mark on the Secret
//!  Secret of a token ─┐
//!  control plane      ├─► sources ─► ignition-render ─► payload, kept ─► verdict: reason and message on the Secret
//!  bundles, copies    │
//!  release ───────────┘
//! ```
//!
//! - **Tokens** are in Secrets with the annotation `hypershift.openshift.io/ignition-config`: one that is good, and the one
//!   before it, which stays good for some time. With the annotation of an expiry, both end then.
//! - **What is answered** is decided by a pure function ([`answer`](answer::answer)); everything else is a thin shell.
//! - **Payloads** are functions of what is in the namespace, and are made in some thousandths of a second: before anybody
//!   comes, so that a pool learns what is wrong with its configuration, and when somebody does. They are kept in memory
//!   under the name of the Secret and the digest of everything that they were made from. What credentials and bundles
//!   contain may change without a rollout: machines that come later get what is there then.
//! - **Who came** is told by the token itself. Headers in which a machine says which NodePool it is of are not looked at:
//!   anybody can write them.
//! - **Every replica** answers by its own watch. None writes anything but the mark and the verdict, which are the same from
//!   all.

pub mod answer;
mod connection;
pub mod counts;
mod install;
mod listen;
pub mod payload;
pub mod reached;
mod run;
pub mod service;
pub mod sources;
#[cfg(test)]
mod tests;
pub mod tls;
pub mod token;

pub use self::{
    connection::serve_machine,
    install::{Installed, install},
    listen::ListenError,
    run::{ServerError, Settings, run},
};
