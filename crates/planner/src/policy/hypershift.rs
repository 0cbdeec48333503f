//! HyperShift's own checks of hosted clusters and their node pools, and what they leave open: where its code lets an
//! upgrade through that Kubernetes forbids, this policy does not.

use super::{Need, Policy, Role, Skew, When, shared};
use crate::{
    blocker::{Disagreement, Moment, Weight},
    check::{Case, Finding, Findings, Named, pool_distance},
    state::{Pool, State, newest},
    version::{Scheme, Version},
};

/// The policy.
pub(super) const POLICY: Policy = Policy {
    name: "hypershift",
    title: "HyperShift's hosted clusters and node pools",
    source: "openshift/hypershift, support/supportedversion/version.go",
    need: Need::ClusterVersion,
    first_rule: "H-01",
    skews: &SKEWS,
    judges: &[
        window,
        pools_not_newer,
        control_plane_moves,
        pools_move,
        upgradeable,
        rollouts,
        disputed,
    ],
};

/// How many minors pools may be behind by HyperShift's code.
const BEHIND: u64 = 3;

const fn pool(when: When, too_old: Named, too_new: Named) -> Skew {
    Skew {
        subject: Role::Pool,
        object: Role::Cluster,
        when,
        older: BEHIND,
        newer: 0,
        weight: Weight::Violation,
        too_old,
        too_new,
        mixed: None,
    }
}

const SKEWS: [Skew; 2] = [
    pool(
        When::SameMajor,
        Named::new("H-05", "SupportedVersionSkew"),
        Named::with("H-08", "ValidReleaseImage", &["H-04"]),
    ),
    pool(
        When::AcrossMajors,
        Named::with("H-06", "SupportedVersionSkew", &["H-05"]),
        Named::with("H-08", "ValidReleaseImage", &["H-04", "H-07"]),
    ),
];

/// The minors that are supported, counted through the majors: 4.14 to 5.1.
const OLDEST: u64 = 14;
const NEWEST: u64 = 24;

fn window(case: Case<'_>, findings: &mut Findings) {
    for (moment, state) in case.states() {
        let Some(version) = state.cluster_version() else {
            continue;
        };
        if version.scheme() == Scheme::OpenShift && !(OLDEST..=NEWEST).contains(&version.generation()) {
            let finding = Finding::violation(Named::new("H-01", "ValidReleaseImage"), "controlPlane")
                .at(moment)
                .says(format!("{version} is outside of what is supported: 4.14 to 5.1"))
                .shows("version", version)
                .remedy("Choose a release from 4.14 to 5.1, or a manager that knows this one.");
            findings.push(finding);
        }
    }
}

/// The one rule of these that holds for node pools of every distribution.
pub(super) const NEVER_NEWER: Policy = Policy {
    name: "hypershift-pools",
    title: "Node pools that are never newer than their cluster",
    source: POLICY.source,
    need: Need::Nothing,
    first_rule: "H-04",
    skews: &[],
    judges: &[never_newer],
};

/// A pool is not newer than its cluster, patches included. By how many minors is said elsewhere.
pub(super) fn pools_not_newer(case: Case<'_>, findings: &mut Findings) {
    newer_pools(case, findings, |_| false);
}

/// The same where nobody else judges distribution versions of pools. Kubelets say by themselves how many minors they are
/// newer; a distribution whose versions are not Kubernetes' has no such rule.
fn never_newer(case: Case<'_>, findings: &mut Findings) {
    newer_pools(case, findings, |version| version.scheme() == Scheme::Acp);
}

fn newer_pools(case: Case<'_>, findings: &mut Findings, counts_minors: fn(&Version) -> bool) {
    for (moment, state) in case.states() {
        let Some(cluster) = state.cluster_version() else {
            continue;
        };
        for pool in &state.pools {
            let Some(newest) = newest(pool.distribution_versions(state.distribution.scheme)) else {
                continue;
            };
            let is_judged_here = newest.generation() == cluster.generation() || counts_minors(newest);
            if is_judged_here && newest.precedence(cluster).is_gt() {
                findings.push(newer_pool(pool, newest, cluster).at(moment));
            }
        }
    }
}

fn newer_pool(pool: &Pool, newest: &Version, cluster: &Version) -> Finding {
    Finding::violation(Named::new("H-04", "SupportedVersionSkew"), shared::pool_subject(pool))
        .says(format!(
            "pool {} at {newest} is newer than the cluster at {cluster}",
            pool.name
        ))
        .shows("pool", newest)
        .shows("cluster", cluster)
        .remedy(format!(
            "Bring the cluster to {newest} first, or keep the pool at {cluster}."
        ))
}

fn control_plane_moves(case: Case<'_>, findings: &mut Findings) {
    let Some((from, to)) = shared::cluster_move(case.before, case.after) else {
        return;
    };
    shared::no_downgrade(
        Named::new("H-02", "ValidReleaseImage"),
        "controlPlane",
        from,
        to,
        findings,
    );
    // HyperShift itself lets this through, also when only the control plane moves (H-12).
    shared::no_skip(
        Named::with("H-03", "SkipMinor", &["H-12"]),
        "controlPlane",
        from,
        to,
        findings,
    );
}

fn pools_move(case: Case<'_>, findings: &mut Findings) {
    for (pool, from, to) in shared::pool_moves(case) {
        let subject = shared::pool_subject(pool);
        shared::no_downgrade(Named::new("H-09", "ValidReleaseImage"), &subject, from, to, findings);
    }
    let Some(after) = case.after else { return };
    for (was, is) in shared::pools(case.before, after) {
        let types = (&was.upgrade_type, &is.upgrade_type);
        if let (Some(from), Some(to)) = types
            && from != to
        {
            let finding = Finding::violation(Named::new("H-14", "UpgradeTypeImmutable"), shared::pool_subject(is))
                .says(format!(
                    "pool {} goes from {from} to {to}: its upgrade type cannot change",
                    is.name
                ))
                .shows("from", from)
                .shows("to", to)
                .remedy("Make a new pool with the other type and move the work there.");
            findings.push(finding);
        }
    }
}

/// The hosted cluster itself may say that its minor must not change.
fn upgradeable(case: Case<'_>, findings: &mut Findings) {
    let Some((from, to)) = shared::cluster_move(case.before, case.after) else {
        return;
    };
    let said = &case.before.distribution.upgradeable;
    if to.generation() > from.generation()
        && let Some(said) = said.as_ref().filter(|said| !said.is_upgradeable)
    {
        let reason = said.reason.as_deref().unwrap_or("it gives no reason");
        let finding = Finding::violation(Named::new("H-10", "NotUpgradeable"), "controlPlane")
            .says(format!("cluster version is not upgradeable: {reason}"))
            .shows("from", from)
            .shows("to", to)
            .shows("reason", reason)
            .remedy(format!(
                "Mend what it names; patches of {} are not held back.",
                from.minor_text()
            ));
        findings.push(finding);
    }
}

/// A pool that may neither grow nor shrink cannot roll.
fn rollouts(case: Case<'_>, findings: &mut Findings) {
    let state = case.after.unwrap_or(case.before);
    let moment = if case.after.is_some() {
        Moment::After
    } else {
        Moment::Before
    };
    let is_zero = |text: &Option<String>| text.as_deref().is_some_and(|text| matches!(text, "0" | "0%"));
    for pool in &state.pools {
        let is_in_place = pool.upgrade_type.as_deref() == Some("InPlace");
        let cannot = is_zero(&pool.max_unavailable) && (is_in_place || is_zero(&pool.max_surge));
        if cannot {
            let finding = Finding::violation(Named::new("H-14", "CannotRoll"), shared::pool_subject(pool))
                .at(moment)
                .says(format!(
                    "pool {} may neither have a node more nor a node less: it cannot roll",
                    pool.name
                ))
                .shows("maxSurge", pool.max_surge.as_deref().unwrap_or("not given"))
                .shows("maxUnavailable", "0")
                .remedy("Let maxSurge or maxUnavailable be at least 1; in place, maxUnavailable.");
            findings.push(finding);
        }
    }
}

/// A published limit of how far pools may be behind.
struct Limit {
    policy: &'static str,
    source: &'static str,
    minors: fn(&Version) -> u64,
}

/// The first minor of a cluster for which one reading of all of them allows three.
const THREE_FROM: u64 = 20;

fn documented(cluster: &Version) -> u64 {
    if cluster.generation().is_multiple_of(2) { 2 } else { 1 }
}

/// The limits that are published for the same thing.
const LIMITS: [Limit; 4] = [
    Limit {
        policy: "hypershift",
        source: "the code since November 2025, support/supportedversion/version.go",
        minors: |_| BEHIND,
    },
    Limit {
        policy: "hypershift-api",
        source: "the words of the HostedCluster API",
        minors: |_| 2,
    },
    Limit {
        policy: "openshift-parity",
        source: "openshift/openshift-docs, modules/hcp-np-version-skew.adoc",
        minors: documented,
    },
    Limit {
        policy: "by version",
        source: "osac-project/enhancement-proposals, pull request 186",
        minors: |cluster| {
            if cluster.generation() >= THREE_FROM {
                BEHIND
            } else {
                documented(cluster)
            }
        },
    },
];

/// Shows where the published limits disagree about a pool.
pub(super) fn disputed(case: Case<'_>, findings: &mut Findings) {
    for (moment, state) in case.states() {
        if state.distribution.scheme != Scheme::OpenShift {
            continue;
        }
        for pool in &state.pools {
            findings_of_dispute(state, pool, moment, findings);
        }
    }
}

fn findings_of_dispute(state: &State, pool: &Pool, moment: Moment, findings: &mut Findings) {
    let (Some(cluster), Some(distance)) = (state.cluster_version(), pool_distance(state, pool)) else {
        return;
    };
    let verdict = |limit: &Limit| {
        let allowed = (limit.minors)(cluster);
        let word = if distance > allowed { "forbidden" } else { "allowed" };
        (
            distance > allowed,
            format!(
                "{word}: at most {} behind {}",
                super::minors(allowed),
                cluster.minor_text()
            ),
        )
    };
    let forbidding = LIMITS.iter().filter(|limit| verdict(limit).0).count();
    if forbidding == 0 || forbidding == LIMITS.len() {
        return;
    }
    let disagreements = LIMITS.iter().map(|limit| Disagreement {
        policy: limit.policy,
        verdict: verdict(limit).1,
        source: limit.source,
    });
    let rule = match cluster.generation() {
        even if even.is_multiple_of(2) => Named::with("H-17", "SourcesDisagree", &["H-18"]),
        _ => Named::with("H-16", "SourcesDisagree", &["H-18"]),
    };
    let finding = Finding::warning(rule, shared::pool_subject(pool))
        .at(moment)
        .says(format!(
            "pool {} is {} behind {cluster}: published limits disagree whether it may be",
            pool.name,
            super::minors(distance)
        ))
        .shows("cluster", cluster)
        .fact("minorsOlder", distance)
        .remedy(format!(
            "Roll pool {} until all of them allow it, or choose a policy by name.",
            pool.name
        ))
        .disputed(disagreements.collect());
    findings.push(finding);
}
