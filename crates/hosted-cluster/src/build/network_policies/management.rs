//! What pods of a control plane reach of the management cluster: its API only where they need it, and no pods of others.
//! Upstream closes this on AWS only; the reason for it does not depend on where machines run.

use hyperplane_api::constants::{labels, objects::components};
use k8s_openapi::api::networking::v1::NetworkPolicy;

use super::{
    Blueprint,
    parts::{APP, KUBEVIRT, VIRTUAL_MACHINE, addresses_outside, all, egress, pods, to, to_dns, without},
};

/// Where nothing is known of the management cluster's networks there is nothing to close.
pub(super) fn policies(blueprint: &Blueprint<'_>) -> Option<NetworkPolicy> {
    let closed = &blueprint.seen.closed_networks;
    if closed.is_empty() {
        return None;
    }
    // Virtual machines and the router have policies of their own, to which this one must add nothing.
    let selector = without(&[
        (labels::NEED_MANAGEMENT_KAS_ACCESS.as_str(), "true"),
        (APP, components::ROUTER),
        (KUBEVIRT, VIRTUAL_MACHINE),
    ]);
    let mut rules = vec![to(addresses_outside(closed)), to(vec![pods(all())])];
    rules.extend(to_dns(blueprint));
    Some(egress(blueprint, "management-kas", selector, rules))
}
