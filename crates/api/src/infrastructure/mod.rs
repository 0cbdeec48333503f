//! Kinds of infrastructure providers of Cluster API, as far as their contract goes: what a manager writes into them and
//! what Cluster API reads. The definitions of the providers themselves say much more, and take precedence where they are
//! installed; these exist so that everything works where they are not.

pub mod agent_cluster;
pub mod agent_machine;
mod common;
pub mod kubevirt_cluster;
pub mod kubevirt_machine;

pub use common::{
    InfrastructureInitialization, InfrastructureMachineStatus, InfrastructureStatus, NamespacedReference,
};
