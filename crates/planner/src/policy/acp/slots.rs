//! Where nodes have places of their own, there is none for a further one: such pools roll without surge.

use super::{
    moves_row,
    prerequisites::{BARE_METAL, missing},
};
use crate::{
    blocker::Moment,
    check::{Case, Finding, Findings, Named},
    policy::shared,
    state::{Pool, State},
};

fn does_surge(pool: &Pool) -> Option<bool> {
    pool.max_surge.as_deref().map(|surge| !matches!(surge, "0" | "0%"))
}

/// The state that rolls, and when it is.
fn rolling(case: Case<'_>) -> (Moment, &State) {
    match case.after {
        Some(after) => (Moment::After, after),
        None => (Moment::Before, case.before),
    }
}

/// Pools with disks or machines of their own cannot have a node more.
pub(in crate::policy) fn fixed_slots(case: Case<'_>, findings: &mut Findings) {
    let (moment, state) = rolling(case);
    let are_all = case.before.providers.contains_key(BARE_METAL) && moves_row(case);
    for pool in state.pools.iter().filter(|pool| pool.has_fixed_slots || are_all) {
        let finding = match does_surge(pool) {
            Some(false) => continue,
            Some(true) => Finding::violation(Named::new("A-19", "SurgeWithFixedSlots"), shared::pool_subject(pool)),
            None => Finding::unknown("A-19", shared::pool_subject(pool)),
        };
        let finding = finding
            .at(moment)
            .says(format!(
                "nodes of pool {} have places of their own, and there is none for a further one: maxSurge is {}",
                pool.name,
                pool.max_surge.as_deref().unwrap_or("not given")
            ))
            .shows("maxSurge", pool.max_surge.as_deref().unwrap_or("not given"))
            .remedy(format!(
                "Set maxSurge of pool {} and of the control plane to 0.",
                pool.name
            ));
        findings.push(finding);
    }
}

/// The provider that cannot roll a control plane of one.
const NO_SINGLE: &str = "hcs";

/// A control plane of one cannot roll where its only machine has to go first.
pub(in crate::policy) fn single_control_plane(case: Case<'_>, findings: &mut Findings) {
    if !moves_row(case) || !case.before.providers.contains_key(NO_SINGLE) {
        return;
    }
    let finding = match case.before.control_plane.kube_api_servers.len() {
        0 => missing("A-19", "controlPlane.kubeApiServers"),
        1 => Finding::violation(Named::new("A-19", "SingleControlPlane"), "controlPlane.kubeApiServers")
            .says("a control plane of one instance cannot roll on this provider")
            .fact("instances", 1)
            .remedy("Scale the control plane to three instances first."),
        _ => return,
    };
    findings.push(finding);
}
