//! What a machine is told when it starts: an Ignition config that turns a plain Linux host with containerd and kubelet
//! into a worker of a hosted cluster. Pure functions; who asks for it and who hands it out is not known here.
//!
//! ```text
//!  ConfigMaps ──document::read──► Documents ──UserConfig::of──► what users want of a node ─┐
//!  control plane, release, certificates ───────────────────────────────────────────────────┴─worker::render─► payload
//! ```
//!
//! - **Documents** have one encoding ([`canonical`]) and one order: what hashes are made from never depends on how a user
//!   spelled something. They travel in the Secret of a token as [`document::write`] and [`gzip`] leave them.
//! - **Everything that is wrong** is told at once, each [`Problem`] with its place. Values are never quoted: they may be
//!   secrets.
//! - **Nothing is left out in silence.** What a user asks for and a plain host cannot do is a problem.
//! - **Equal inputs give equal bytes**, and every payload passes [`validate`].

mod api_server_proxy;
pub mod canonical;
mod containerd;
pub mod document;
pub mod gzip;
mod host;
pub mod ignition;
mod kubelet;
pub mod merge;
mod mirrors;
mod parts;
mod problem;
pub mod proxy;
pub mod source;
pub mod user;
pub mod validate;
pub mod worker;

pub use self::{mirrors::Mirrors, problem::Problem};
