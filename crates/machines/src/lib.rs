//! Cluster API's core for worker machines, as controllers of our own: Cluster, MachineDeployment, MachineSet, Machine and
//! MachineHealthCheck of v1beta2. Providers of infrastructure and of bootstrap data are met through Cluster API's
//! contract only, and what they do is their business.
//!
//! ```text
//!  MachineDeployment ──► MachineSet (one per template) ──► Machine + instance of the provider ──► Node
//!                                                             ▲
//!  MachineHealthCheck ── OwnerRemediated: False ──────────────┘
//!
//!  Cluster ◄── infrastructure of the provider, HostedControlPlane
//! ```
//!
//! One difference to upstream is on purpose: labels and annotations of a template reach machines when they are made and
//! never later. A pool's labels and taints travel there, and nodes that exist keep theirs. Timeouts of deletion reach
//! machines that exist.
//!
//! They act on what carries our label: machines of others in the management cluster have a manager of their own.
//!
//! They write in the manager's own name, and not in that of a role of the tenant as those who make control planes do. What
//! they write are kinds of Cluster API and of its providers, all of which the rules in `access` name; no tenant says what
//! is in them, they grant nothing to anybody, and no Secret is written. A role for each namespace would take no right away
//! from a process that may act as any of these roles. Inside of a hosted cluster they are who its kubeconfig says.
//!
//! Cluster API's checks before a machine is made are not here: a pool that is too far from its control plane is not
//! rolled, which is decided where the pool is known, and must go on to be scaled and repaired.

mod access;
mod adoption;
mod cluster;
mod conditions;
mod counts;
mod deployment;
mod drain;
mod health_check;
mod machine;
mod metadata;
mod nodes;
mod owners;
mod pause;
mod set;

use hyperplane_runtime::{Manager, Reach, Scope};

pub use self::{
    access::manager_rules,
    machine::{InfrastructureKind, KindRow},
};

/// What the controllers are told from outside.
#[derive(Clone, Debug)]
pub struct MachinesSettings {
    /// Which namespaces they serve.
    pub scope: Scope,
    /// How hosted API servers are reached.
    pub reach: Reach,
    /// The providers whose kinds the management cluster serves. A kind that is not served cannot be watched.
    pub infrastructure: Vec<InfrastructureKind>,
}

/// Adds the controllers to a manager.
pub fn register(manager: &mut Manager, settings: MachinesSettings) {
    let nodes = nodes::Nodes::new(settings.reach.clone());
    cluster::register(manager, &settings);
    deployment::register(manager, &settings.scope);
    machine::register(manager, &settings, &nodes);
    health_check::register(manager, &settings, &nodes);
    set::register(manager, settings);
}
