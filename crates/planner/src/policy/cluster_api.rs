//! Cluster API: topologies, kubeadm control planes and machine sets.

use super::{Need, Policy, Role, Skew, When, shared};
use crate::{
    blocker::Weight,
    check::{Case, Finding, Findings, Named},
    state::{State, newest},
    version::Version,
};

/// The policy.
pub(super) const POLICY: Policy = Policy {
    name: "cluster-api",
    title: "Cluster API's topologies and machines",
    source: "kubernetes-sigs/cluster-api, core/webhooks and core/reconcilers/machineset",
    need: Need::ClusterVersion,
    first_rule: "C-01",
    skews: &SKEWS,
    judges: &[
        never_down,
        distance,
        listed,
        settled,
        core_dns_goes_up,
        stable,
        cannot_create,
        pinned,
    ],
};

const SUBJECT: &str = "controlPlane";
const SKEWS: [Skew; 1] = [Skew {
    subject: Role::Pool,
    object: Role::Cluster,
    when: When::Always,
    older: 3,
    newer: 0,
    weight: Weight::Violation,
    too_old: Named::new("C-15", "KubernetesVersionSkew"),
    too_new: Named::new("C-15", "KubernetesVersionSkew"),
    mixed: None,
}];

fn numbers(version: &Version) -> (u64, u64, u64) {
    (version.major(), version.minor(), version.patch())
}

/// Pre-releases do not count.
fn never_down(case: Case<'_>, findings: &mut Findings) {
    let Some((from, to)) = shared::cluster_move(case.before, case.after) else {
        return;
    };
    if numbers(to) < numbers(from) {
        let finding = Finding::violation(Named::new("C-01", "VersionDecreased"), SUBJECT)
            .says(format!("version cannot be decreased from {from} to {to}"))
            .shows("from", from)
            .shows("to", to)
            .remedy(format!("Stay at {from} and repair forward."))
            .skippable();
        findings.push(finding);
    }
}

/// Without a list of versions, one minor at a time; a control plane takes one at a time in any case.
fn distance(case: Case<'_>, findings: &mut Findings) {
    let Some((from, to)) = shared::cluster_move(case.before, case.after) else {
        return;
    };
    if case.before.offered.is_none() {
        shared::no_skip(Named::with("C-02", "SkipMinor", &["C-13"]), SUBJECT, from, to, findings);
    }
}

/// With a list, the target is in it, and no minor is missing on the way.
fn listed(case: Case<'_>, findings: &mut Findings) {
    let (Some(offered), Some((from, to))) = (&case.before.offered, shared::cluster_move(case.before, case.after))
    else {
        return;
    };
    let named = Named::new("C-03", "NotListed");
    let facts = |finding: Finding| {
        let list: Vec<String> = offered.iter().map(ToString::to_string).collect();
        finding
            .shows("from", from)
            .shows("to", to)
            .fact("kubernetesVersions", list)
    };
    if !offered.iter().any(|version| version.precedence(to).is_eq()) {
        let finding = Finding::violation(named, SUBJECT)
            .says(format!("{to} is not in kubernetesVersions"))
            .remedy(format!(
                "Add {to} to the list of the class, or choose one that is in it."
            ));
        findings.push(facts(finding).skippable());
    }
    // The class itself is refused with a gap in its list, on the way or not.
    let generations = || offered.iter().chain([from]).map(Version::generation);
    let (Some(first), Some(last)) = (generations().min(), generations().max()) else {
        return;
    };
    for generation in first..last {
        if !generations().any(|other| other == generation) {
            let missing = shared::minor_at(from, generation);
            let finding = Finding::violation(Named::new("C-03", "GapInList"), "kubernetesVersions")
                .says(format!("kubernetesVersions has no version of the minor {missing}"))
                .fact("missing", &*missing)
                .remedy(format!("Add a version of {missing} to the list of the class."));
            findings.push(facts(finding).skippable());
        }
    }
}

/// The version changes only when everything is where it was asked to be.
fn settled(case: Case<'_>, findings: &mut Findings) {
    let Some((from, to)) = shared::cluster_move(case.before, case.after) else {
        return;
    };
    let lagging = |finding: Finding| {
        finding
            .shows("from", from)
            .shows("to", to)
            .remedy(format!("Wait until everything is at {from}."))
            .skippable()
    };
    let named = Named::new("C-04", "VersionCannotBeChanged");
    let servers = &case.before.control_plane.kube_api_servers;
    if servers.iter().any(|version| !version.precedence(from).is_eq()) && is_kubernetes(case.before) {
        let finding = Finding::violation(named, SUBJECT).says(format!(
            "version cannot be changed: the control plane is not at {from} yet"
        ));
        findings.push(lagging(finding));
    }
    for pool in &case.before.pools {
        let versions = pool.distribution_versions(case.scheme());
        if let Some(other) = versions.iter().find(|version| !version.precedence(from).is_eq()) {
            let finding = Finding::violation(named, shared::pool_subject(pool))
                .says(format!(
                    "version cannot be changed: pool {} has nodes at {other}, not {from}",
                    pool.name
                ))
                .shows("pool", other);
            findings.push(lagging(finding));
        }
    }
}

fn is_kubernetes(state: &State) -> bool {
    use crate::version::Scheme;
    !matches!(state.distribution.scheme, Scheme::OpenShift | Scheme::Acp)
}

/// CoreDNS only goes up: its configuration is migrated forwards only.
fn core_dns_goes_up(case: Case<'_>, findings: &mut Findings) {
    let Some(after) = case.after else { return };
    let row = |state: &State| super::matrix::row_named(state.distribution.row.as_deref()?);
    let (Some(from), Some(to)) = (row(case.before), row(after)) else {
        return;
    };
    super::matrix::no_component_down(Named::new("C-13", "CoreDnsDowngrade"), from, to, "coredns", findings);
}

/// Machines are made and replaced while the control plane is stable only.
fn stable(case: Case<'_>, findings: &mut Findings) {
    if shared::cluster_move(case.before, case.after).is_none() {
        return;
    }
    let finding = match case.before.health.control_plane {
        Some(false) => Finding::violation(Named::with("C-19", "ControlPlaneNotHealthy", &["C-14"]), SUBJECT)
            .says("the control plane is not healthy: no machine is made or removed")
            .remedy("Bring kube-apiserver, controllers, scheduler and every member of etcd back to health first."),
        Some(true) | None => return,
    };
    findings.push(finding);
}

/// A pool that is behind keeps its nodes and gets no new ones: with a topology by a patch, with kubeadm by a minor.
fn cannot_create(case: Case<'_>, findings: &mut Findings) {
    for (moment, state) in case.states() {
        let Some(cluster) = state.cluster_version() else {
            continue;
        };
        for pool in &state.pools {
            let Some(newest) = newest(pool.distribution_versions(state.distribution.scheme)) else {
                continue;
            };
            if newest.precedence(cluster).is_lt() {
                let named = if newest.same_minor(cluster) {
                    Named::new("C-17", "CannotCreateMachines")
                } else {
                    Named::with("C-16", "CannotCreateMachines", &["C-17"])
                };
                let finding = Finding::warning(named, shared::pool_subject(pool))
                    .at(moment)
                    .says(format!(
                        "pool {} at {newest} cannot grow or replace nodes while the control plane is at {cluster}",
                        pool.name
                    ))
                    .shows("pool", newest)
                    .shows("cluster", cluster)
                    .remedy(format!(
                        "Roll pool {} soon; until then nodes that fail stay away.",
                        pool.name
                    ));
                findings.push(finding);
            }
        }
    }
}

/// A pool that is pinned holds the cluster to three minors above it.
fn pinned(case: Case<'_>, findings: &mut Findings) {
    let Some((_, to)) = shared::cluster_move(case.before, case.after) else {
        return;
    };
    for pool in case.before.pools.iter().filter(|pool| pool.is_paused) {
        let Some(newest) = newest(pool.distribution_versions(case.scheme())) else {
            continue;
        };
        let distance = to.generation().saturating_sub(newest.generation());
        if distance > 3 {
            let finding = Finding::violation(Named::new("C-25", "PoolPinned"), shared::pool_subject(pool))
                .says(format!(
                    "pool {} is held at {newest}: {to} would be {} above it",
                    pool.name,
                    shared::minors(distance)
                ))
                .shows("pool", newest)
                .shows("to", to)
                .remedy(format!(
                    "Unpause pool {} and roll it to {} or later first.",
                    pool.name,
                    shared::back(to, 3)
                ));
            findings.push(finding);
        }
    }
}
