//! What every rollout needs, whatever the distribution: a control plane and nodes that are well, and addresses for the
//! nodes that come before the old ones go. Facts that nobody gave count as unknown where somebody asked for this policy
//! by name, or where the distribution demands them.

use std::collections::BTreeSet;

use super::{Need, Policy, shared};
use crate::{
    check::{Case, Finding, Findings, Named},
    state::Pool,
    version::Scheme,
};

/// The policy.
pub(super) const POLICY: Policy = Policy {
    name: "prerequisites",
    title: "What every rollout needs",
    source: "the union of what kubeadm, Cluster API, OpenShift and ACP look at before they begin",
    need: Need::Nothing,
    first_rule: "P20",
    skews: &[],
    judges: &[health, addresses, paused_pools_stay],
};

fn is_demanded(case: Case<'_>) -> bool {
    case.is_chosen || case.scheme() == Scheme::Acp
}

/// Pools whose nodes change.
fn rolling(case: Case<'_>) -> Vec<&Pool> {
    let Some(after) = case.after else { return Vec::new() };
    // Half of a pool may have moved before: what its nodes have in all counts, not the newest of them.
    let changes = |was: &Pool, is: &Pool| {
        let versions = |pool: &Pool| {
            pool.versions
                .iter()
                .chain(&pool.kubelets)
                .cloned()
                .collect::<BTreeSet<_>>()
        };
        versions(was) != versions(is)
    };
    let pools = shared::pools(case.before, after).into_iter();
    pools.filter(|(was, is)| changes(was, is)).map(|(_, is)| is).collect()
}

fn is_move(case: Case<'_>) -> bool {
    let servers = |after: &crate::state::State| after.control_plane != case.before.control_plane;
    !rolling(case).is_empty() || case.after.is_some_and(servers)
}

fn health(case: Case<'_>, findings: &mut Findings) {
    // ACP's own policy says the same.
    let is_said = case.scheme() == Scheme::Acp && !case.is_chosen;
    if !is_move(case) || is_said {
        return;
    }
    let health = &case.before.health;
    let parts = [
        (
            "P20",
            "ControlPlaneNotHealthy",
            "health.controlPlane",
            health.control_plane,
        ),
        ("P24", "NodesNotReady", "health.nodesReady", health.nodes_ready),
    ];
    for (rule, reason, field, is_well) in parts {
        let finding = match is_well {
            Some(false) => Finding::violation(Named::new(rule, reason), field)
                .says(format!("{field} is false: a rollout begins when everything is well"))
                .remedy(if rule == "P24" {
                    "Bring every node to Ready first."
                } else {
                    "Bring kube-apiserver, controllers, scheduler and etcd back to health first."
                }),
            None if is_demanded(case) => Finding::unknown(rule, field)
                .says(format!("{field} is not given"))
                .remedy(format!("Add {field} to the state file.")),
            Some(true) | None => continue,
        };
        findings.push(finding);
    }
}

/// Whether a pool makes new nodes before the old ones go. Pools do unless somebody says otherwise.
fn surges(pool: &Pool) -> bool {
    !matches!(pool.max_surge.as_deref(), Some("0" | "0%")) && pool.upgrade_type.as_deref() != Some("InPlace")
}

fn addresses(case: Case<'_>, findings: &mut Findings) {
    let rolling = rolling(case);
    let surging: Vec<&str> = rolling
        .iter()
        .filter(|pool| surges(pool))
        .map(|pool| &*pool.name)
        .collect();
    if surging.is_empty() {
        return;
    }
    let Some(pools) = &case.before.ip_pools else {
        if is_demanded(case) {
            let finding = Finding::unknown("P31", "ipPools")
                .says("ipPools is not given: whether there are addresses for new nodes is not known")
                .remedy("Add ipPools with their free addresses to the state file.");
            findings.push(finding);
        }
        return;
    };
    for pool in pools.iter().filter(|pool| pool.free == 0) {
        let finding = Finding::violation(Named::new("P31", "NoFreeAddress"), format!("ipPools/{}", pool.name))
            .says(format!(
                "{} has no free address for the nodes that come before old ones go",
                pool.name
            ))
            .fact("free", pool.free)
            .fact("rolling", surging.clone())
            .remedy(format!(
                "Add addresses to {}, or set maxSurge to 0 where nodes may be missing.",
                pool.name
            ));
        findings.push(finding);
    }
}

/// Who pauses a pool wants it to stay: a state in which it has moved never comes.
fn paused_pools_stay(case: Case<'_>, findings: &mut Findings) {
    for pool in rolling(case).into_iter().filter(|pool| pool.is_paused) {
        let finding = Finding::violation(Named::new("HP-01", "PausedPoolMoves"), shared::pool_subject(pool))
            .says(format!(
                "pool {} is paused: it stays at its version and counts",
                pool.name
            ))
            .fact("isPaused", true)
            .remedy(format!(
                "Unpause pool {}, or leave its versions as they are.",
                pool.name
            ));
        findings.push(finding);
    }
}
