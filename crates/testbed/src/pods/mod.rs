//! A management cluster of real processes with real kubelets, containerd and containers, on one machine. It knows how to
//! bring one up and to end it, nothing about Hyperplane.
//!
//! Everything runs in namespaces of its own: no address, port, interface, rule or mount of the machine is touched, and the
//! end of one process is the end of all. There is no way from these networks to any other. It needs root and Debian's
//! `containerd`, `runc`, `containernetworking-plugins` and `iptables`: `cargo xtask real-cluster prepare` sees to that.

mod arguments;
mod cgroups;
mod cluster;
mod configs;
mod error;
mod layout;
mod namespaces;
mod policies;
mod process;
mod programs;
mod state;
mod wait;

pub use cluster::{ManagementCluster, Options};
pub use configs::{COREDNS_IMAGE, PAUSE_IMAGE, STORAGE_CLASS};
pub use error::Error;
pub use layout::{HOST_BRIDGE, Node};
pub use programs::Programs;
