//! Gardener: shoots and their worker pools.

use super::{Need, Policy, Role, Skew, When, shared};
use crate::{
    blocker::{Disagreement, Weight},
    check::{Case, Finding, Findings, Named, pool_distance},
    state::{Pool, newest, oldest},
    version::Version,
};

/// The policy.
pub(super) const POLICY: Policy = Policy {
    name: "gardener",
    title: "Gardener's shoots",
    source: "gardener/gardener, pkg/api/core/validation/shoot.go",
    need: Need::ClusterVersion,
    first_rule: "G-01",
    skews: &SKEWS,
    judges: &[
        control_plane,
        pools_not_newer,
        pools_move,
        documentation,
        in_place,
        strategy_stays,
        minors_roll,
    ],
};

const POOL: Named = Named::new("G-01", "WorkerPoolSkew");
const SKEWS: [Skew; 1] = [Skew {
    subject: Role::Pool,
    object: Role::Cluster,
    when: When::Always,
    older: 3,
    newer: 0,
    weight: Weight::Violation,
    too_old: POOL,
    too_new: POOL,
    mixed: None,
}];

fn control_plane(case: Case<'_>, findings: &mut Findings) {
    let Some((from, to)) = shared::cluster_move(case.before, case.after) else {
        return;
    };
    shared::no_skip(Named::new("G-01", "SkipMinor"), "controlPlane", from, to, findings);
    if to.precedence(from).is_lt() {
        findings.push(downgrade("controlPlane", from, to));
    }
}

/// No version goes down, not even by a patch.
fn downgrade(subject: &str, from: &Version, to: &Version) -> Finding {
    Finding::violation(Named::new("G-01", "Downgrade"), subject)
        .says(format!("{from} to {to} goes down, which is not supported"))
        .shows("from", from)
        .shows("to", to)
        .remedy(format!("Stay at {from} and repair forward."))
}

/// The table counts minors; within one, a pool is not newer by a patch either.
fn pools_not_newer(case: Case<'_>, findings: &mut Findings) {
    for (moment, state) in case.states() {
        let Some(cluster) = state.cluster_version() else {
            continue;
        };
        for pool in &state.pools {
            let newest = newest(pool.distribution_versions(state.distribution.scheme));
            let newest = newest.filter(|newest| newest.same_minor(cluster) && newest.precedence(cluster).is_gt());
            let Some(newest) = newest else { continue };
            let finding = Finding::violation(Named::new("G-01", "WorkerPoolNewer"), shared::pool_subject(pool))
                .at(moment)
                .says(format!(
                    "pool {} at {newest} is newer than the control plane at {cluster}",
                    pool.name
                ))
                .shows("pool", newest)
                .shows("cluster", cluster)
                .remedy(format!(
                    "Bring the control plane to {newest} first, or keep the pool at {cluster}."
                ));
            findings.push(finding);
        }
    }
}

/// Pools do not go down either.
fn pools_move(case: Case<'_>, findings: &mut Findings) {
    for (pool, from, to) in shared::pool_moves(case) {
        if to.precedence(from).is_lt() {
            findings.push(downgrade(&shared::pool_subject(pool), from, to));
        }
    }
}

/// Minors that the documentation speaks of.
const DOCUMENTED: u64 = 2;

/// The code allows three minors, the documentation two.
fn documentation(case: Case<'_>, findings: &mut Findings) {
    for (moment, state) in case.states() {
        for pool in &state.pools {
            if pool_distance(state, pool).is_some_and(|distance| distance == DOCUMENTED + 1) {
                let finding = Finding::warning(Named::new("G-01", "SourcesDisagree"), shared::pool_subject(pool))
                    .at(moment)
                    .says(format!(
                        "pool {} is three minors behind: the code allows it, the documentation does not",
                        pool.name
                    ))
                    .remedy(format!("Roll pool {} if you want to be inside of both.", pool.name))
                    .disputed(vec![Disagreement {
                        policy: "gardener",
                        verdict: "at most two minors behind".to_owned(),
                        source: "gardener/gardener, docs, worker_pool_k8s_versions.md",
                    }]);
                findings.push(finding);
            }
        }
    }
}

/// Pools may skip minors when nodes are replaced, not when they are changed in place.
fn in_place(case: Case<'_>, findings: &mut Findings) {
    let Some(after) = case.after else { return };
    let scheme = case.scheme();
    for (was, is) in shared::pools(case.before, after) {
        let versions = (
            oldest(was.distribution_versions(scheme)),
            newest(is.distribution_versions(scheme)),
        );
        if let ((Some(from), Some(to)), true) = (versions, is_in_place(is) == Some(true)) {
            shared::no_skip(
                Named::new("G-02", "SkipMinorInPlace"),
                &shared::pool_subject(is),
                from,
                to,
                findings,
            );
        }
    }
}

fn is_in_place(pool: &Pool) -> Option<bool> {
    pool.upgrade_type.as_deref().map(|word| word.contains("InPlace"))
}

/// Whether nodes are replaced or changed in place is said once.
fn strategy_stays(case: Case<'_>, findings: &mut Findings) {
    let Some(after) = case.after else { return };
    for (was, is) in shared::pools(case.before, after) {
        if let (Some(from), Some(to)) = (is_in_place(was), is_in_place(is))
            && from != to
        {
            let finding = Finding::violation(Named::new("G-02", "StrategyImmutable"), shared::pool_subject(is))
                .says(format!(
                    "pool {} changes between replacing nodes and changing them in place: it cannot",
                    is.name
                ))
                .shows("from", was.upgrade_type.as_deref().unwrap_or_default())
                .shows("to", is.upgrade_type.as_deref().unwrap_or_default())
                .remedy("Make a new pool with the other strategy and move the work there.");
            findings.push(finding);
        }
    }
}

/// A patch restarts the kubelet where it is; a minor rolls.
fn minors_roll(case: Case<'_>, findings: &mut Findings) {
    super::kubernetes::drained(Named::new("G-05", "NeedsDrain"), case, findings);
}
