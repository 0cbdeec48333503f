//! The simulated world: a client of any API server that makes workloads, pods and hosted API servers live, on real or
//! on virtual time.
//!
//! A [`Twin`] is everything of a cluster that is behind its API server: the workload controllers, the scheduler,
//! kubelets, load balancers and volumes; or, where a real cluster has all that, only the kubelets ([`Mode`]). It parses
//! what it runs: an unknown flag, a missing file or an image that does not exist makes a pod fail with that reason. A
//! container that runs `kube-apiserver` is an embedded API server with the certificates that its pod mounts; all of one
//! namespace share one store, which lives as long as the volumes of etcd do. The [`Network`] leads to them in memory,
//! and [`Listeners`] put them on loopback addresses.
//!
//! Hosted clusters get machines, too ([`MachineSettings`]): what stands for one in the management cluster boots, fetches
//! its configuration with its token, obeys it, asks for a certificate and joins as a Node, on which pods run.
//!
//! Nothing reads a clock, the environment or chance by itself ([`TwinSettings`]). At rest nothing is written.

mod budgets;
mod controllers;
mod faults;
mod hosted;
mod kubelet;
mod logs;
mod machines;
mod moment;
mod names;
mod network;
mod nodes;
mod number;
mod pods;
mod programs;
mod quantity;
mod scheduler;
mod selector;
mod services;
mod settings;
mod tasks;
mod twin;
mod volumes;
mod workloads;
mod write;

pub use self::{
    faults::{Fault, FaultKind, FaultSelector, Faults},
    machines::{MachineKind, MachineSettings},
    network::{Connection, Listener, Network, Stream},
    nodes::{HEARTBEAT, LABEL, NodeError},
    settings::{Data, Images, Listeners, Mode, NodeSettings, Pace, Program, Programs, TwinSettings, Work},
    twin::{Twin, TwinError},
};
