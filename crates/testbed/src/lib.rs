//! A real control plane for tests: etcd, kube-apiserver and, on request, kube-controller-manager and
//! kube-scheduler, as child processes on loopback. It knows how to start and end them, nothing about Hyperplane.
//!
//! Beside it are what tests with real pods need, each usable alone: where programs are (`assets`, `parts`), images
//! without a registry (`image`), hosts that join by their payload (`worker`), clients that count what they lose
//! (`hammer`), and what containers cost (`usage`).
//!
//! This is the one library where real time, real ports and the environment live. Tests that use it are marked
//! `#[ignore = "needs a real control plane: cargo xtask test"]`, so that plain `cargo test` needs nothing but Rust.
//!
//! ```no_run
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! use hyperplane_testbed::ControlPlane;
//!
//! let control_plane = ControlPlane::shared().await?;
//! let namespace = control_plane.namespace("orders").await?;
//! let answer = control_plane.kubectl(&["get", "pods", "--namespace", &namespace]).await?;
//! assert!(answer.status.success(), "{}", answer.stderr);
//! # Ok(())
//! # }
//! ```
#![allow(
    clippy::disallowed_methods,
    reason = "the test bed is where the environment and the real clock live"
)]

pub mod assets;
#[cfg(feature = "hammer")]
pub mod hammer;
#[cfg(feature = "image")]
pub mod image;
pub mod parts;

#[cfg(feature = "control-plane")]
mod addresses;
#[cfg(feature = "control-plane")]
mod arguments;
#[cfg(feature = "control-plane")]
mod certificates;
#[cfg(feature = "control-plane")]
mod control_plane;
#[cfg(feature = "control-plane")]
mod error;
#[cfg(feature = "control-plane")]
mod guard;
#[cfg(feature = "control-plane")]
mod kubectl;
#[cfg(feature = "control-plane")]
mod layout;
#[cfg(feature = "control-plane")]
pub mod pods;
#[cfg(feature = "control-plane")]
mod readiness;
#[cfg(feature = "usage")]
pub mod usage;
#[cfg(feature = "worker")]
pub mod worker;

#[cfg(feature = "control-plane")]
pub use addresses::find as find_addresses;
#[cfg(feature = "control-plane")]
pub use certificates::{Authority, Identity};
#[cfg(feature = "control-plane")]
pub use control_plane::{ControlPlane, Options};
#[cfg(feature = "control-plane")]
pub use error::Error;
#[cfg(feature = "control-plane")]
pub use guard::{Directory, Server};
#[cfg(feature = "control-plane")]
pub use kubectl::Answer;
