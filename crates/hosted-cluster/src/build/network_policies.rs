//! Who reaches the pods of a control plane, and whom they reach. Everything is closed, and each policy opens one way. One
//! family per file; who reaches whom in the end is proven by a test that evaluates all of them together.

mod elsewhere;
mod general;
mod management;
mod parts;
mod published;
#[cfg(test)]
mod tests;
mod virtual_machines;

use k8s_openapi::api::networking::v1::NetworkPolicy;

pub(crate) use self::elsewhere::{MachinesElsewhere, elsewhere, elsewhere_name};
use super::Blueprint;

/// All policies in the namespace of a control plane.
pub(super) fn build(blueprint: &Blueprint<'_>) -> Vec<NetworkPolicy> {
    let mut policies = general::policies(blueprint);
    policies.extend(management::policies(blueprint));
    policies.extend(published::policies(blueprint));
    policies.extend(virtual_machines::policies(blueprint));
    policies
}
