//! Distances between versions, judged by the lines of a table. The pairs come from the state; how far they may be apart
//! comes from the policy.

use std::collections::BTreeMap;

use serde::Serialize;

use super::{Case, Finding, Findings};
use crate::{
    blocker::{Moment, Weight},
    policy::{Role, Skew, minor_at, minors},
    state::{Pool, State, oldest},
    version::Version,
};

/// Something whose version is judged, and the versions that it is judged by.
struct Pair<'a> {
    subject: String,
    version: &'a Version,
    /// How many have that version.
    count: usize,
    /// Empty where nobody said.
    others: Vec<&'a Version>,
}

/// Judges all lines of a table in all states.
pub(crate) fn judge(skews: &[Skew], case: Case<'_>, findings: &mut Findings) {
    for (moment, state) in case.states() {
        let mut is_reported = Vec::new();
        for skew in skews {
            for pair in pairs(state, skew.subject, skew.object) {
                if pair.others.is_empty() {
                    // Several lines of a table may miss the same.
                    let missing = (pair.subject.clone(), skew.object);
                    if !is_reported.contains(&missing) {
                        findings.push(unjudged(skew, &pair, moment));
                        is_reported.push(missing);
                    }
                    continue;
                }
                judge_pair(skew, &pair, moment, findings);
            }
        }
    }
}

fn judge_pair(skew: &Skew, pair: &Pair<'_>, moment: Moment, findings: &mut Findings) {
    let Some((oldest, newest)) = extremes(&pair.others) else {
        return;
    };
    let version = pair.version;
    let (older, newer) = (older_by(version, newest), newer_by(version, oldest));
    if skew.when.holds(version, newest) && older > skew.older {
        let is_mixed = older_by(version, oldest) <= skew.older;
        let named = skew.mixed.filter(|_| is_mixed).map_or(skew.too_old, |(old, _)| old);
        let finding = finding(skew, pair, moment, named).fact("minorsOlder", older);
        let finding = compared(finding, skew, version, newest, ("older", older, skew.older));
        findings.push(finding.remedy(too_old_remedy(skew, pair, newest)));
    }
    if skew.when.holds(version, oldest) && newer > skew.newer {
        let is_mixed = newer_by(version, newest) <= skew.newer;
        let named = skew.mixed.filter(|_| is_mixed).map_or(skew.too_new, |(_, new)| new);
        let finding = finding(skew, pair, moment, named).fact("minorsNewer", newer);
        let finding = compared(finding, skew, version, oldest, ("newer", newer, skew.newer));
        findings.push(finding.remedy(too_new_remedy(skew, pair, oldest)));
    }
}

/// Says which way, how far and how far at most a version is from another.
fn compared(
    finding: Finding,
    skew: &Skew,
    version: &Version,
    other: &Version,
    (way, distance, limit): (&str, u64, u64),
) -> Finding {
    finding
        .says(format!(
            "{} {version} is {} {way} than {} {other}: {} allowed",
            word(skew.subject),
            minors(distance),
            word(skew.object),
            allowed(limit),
        ))
        .shows(word(skew.object), other)
        .fact("minorsAllowed", limit)
}

fn finding(skew: &Skew, pair: &Pair<'_>, moment: Moment, named: super::Named) -> Finding {
    Finding::weighing(named, skew.weight, &pair.subject)
        .at(moment)
        .shows(word(skew.subject), pair.version)
        .fact("count", pair.count)
}

fn unjudged(skew: &Skew, pair: &Pair<'_>, moment: Moment) -> Finding {
    let missing = match skew.object {
        Role::Cluster => "distribution.version",
        Role::Kubelet => "the kubelet in the same place of the list",
        _ => "controlPlane.kubeApiServers",
    };
    Finding::unknown(skew.too_old.rule, &pair.subject)
        .at(moment)
        .says(format!(
            "{} {} is judged by {missing}, which is not given",
            word(skew.subject),
            pair.version
        ))
        .shows(word(skew.subject), pair.version)
        .remedy(format!("Add {missing} to the state file."))
}

fn too_old_remedy(skew: &Skew, pair: &Pair<'_>, newest: &Version) -> String {
    let floor = minor_at(newest, newest.generation().saturating_sub(skew.older));
    let subject = &pair.subject;
    match (skew.subject, skew.object) {
        (Role::Kubectl, _) => format!("Use kubectl {floor} or later."),
        (_, Role::Kubelet) => {
            format!("Bring kube-proxy of {subject} to {floor} or later, best to the kubelet's version.")
        }
        (Role::Kubelet | Role::KubeProxy | Role::Pool, _) => {
            format!("Roll {subject} to {floor} or later, and not above the control plane.")
        }
        _ => format!("Bring {subject} to {floor} or later, and not above kube-apiserver."),
    }
}

fn too_new_remedy(skew: &Skew, pair: &Pair<'_>, oldest: &Version) -> String {
    let (subject, wanted, ceiling) = (&pair.subject, pair.version.minor_text(), oldest.minor_text());
    match (skew.subject, skew.object) {
        (Role::Kubectl, _) => format!("Use kubectl {ceiling}."),
        (_, Role::Kubelet) => format!("Bring kubelet and kube-proxy of {subject} to the same version."),
        (_, Role::Cluster) => {
            format!("Bring the cluster to {wanted} first, or replace the nodes of {subject} by ones at {ceiling}.")
        }
        (Role::Kubelet | Role::KubeProxy | Role::Pool, _) => {
            format!(
                "Bring every kube-apiserver to {wanted} first, or replace the nodes of {subject} by ones at {ceiling}."
            )
        }
        _ => format!("Bring every kube-apiserver to {wanted} first, or {subject} back to {ceiling}."),
    }
}

/// How far a pair is from the limit of a line.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Margin {
    /// Minors that are left until the line forbids it.
    pub minors: u64,
    /// The rule that would.
    pub rule: &'static str,
    /// What it is about.
    pub subject: String,
}

/// The smallest margin in a state that nothing forbids; none where no line counts.
pub(crate) fn tightest(skews: &[Skew], state: &State) -> Option<Margin> {
    let mut tightest: Option<Margin> = None;
    for skew in skews.iter().filter(|skew| skew.weight == Weight::Violation) {
        for pair in pairs(state, skew.subject, skew.object) {
            let Some((_, newest)) = extremes(&pair.others).filter(|(_, newest)| skew.when.holds(pair.version, newest))
            else {
                continue;
            };
            let margin = Margin {
                minors: skew.older.saturating_sub(older_by(pair.version, newest)),
                rule: skew.too_old.rule,
                subject: pair.subject,
            };
            if tightest.as_ref().is_none_or(|known| margin < *known) {
                tightest = Some(margin);
            }
        }
    }
    tightest
}

/// By how many minors one version is older than another.
fn older_by(version: &Version, other: &Version) -> u64 {
    other.generation().saturating_sub(version.generation())
}

fn newer_by(version: &Version, other: &Version) -> u64 {
    version.generation().saturating_sub(other.generation())
}

/// By how many minors the nodes of a pool are behind a cluster; none where one of them is not known.
pub(crate) fn pool_distance(state: &State, pool: &Pool) -> Option<u64> {
    let version = oldest(pool.distribution_versions(state.distribution.scheme))?;
    Some(older_by(version, state.cluster_version()?))
}

fn allowed(minors: u64) -> String {
    match minors {
        0 => "none is".to_owned(),
        1 => "one is".to_owned(),
        minors => format!("{minors} are"),
    }
}

/// The word for a role in sentences and among facts.
fn word(role: Role) -> &'static str {
    match role {
        Role::ApiServer => "kube-apiserver",
        Role::ControllerManager => "kube-controller-manager",
        Role::Scheduler => "kube-scheduler",
        Role::CloudControllerManager => "cloud-controller-manager",
        Role::Kubelet => "kubelet",
        Role::KubeProxy => "kube-proxy",
        Role::Kubectl => "kubectl",
        Role::Cluster => "cluster",
        Role::Pool => "pool",
    }
}

fn extremes<'a>(versions: &[&'a Version]) -> Option<(&'a Version, &'a Version)> {
    let oldest = versions.iter().min_by(|one, other| one.precedence(other))?;
    let newest = versions.iter().max_by(|one, other| one.precedence(other))?;
    Some((oldest, newest))
}

/// Everything in a state that has a role, with what it is judged by.
fn pairs(state: &State, subject: Role, object: Role) -> Vec<Pair<'_>> {
    let control_plane = &state.control_plane;
    match subject {
        Role::ControllerManager => controllers(state, "kubeControllerManager", &control_plane.kube_controller_manager),
        Role::Scheduler => controllers(state, "kubeScheduler", &control_plane.kube_scheduler),
        Role::CloudControllerManager => {
            controllers(state, "cloudControllerManager", &control_plane.cloud_controller_manager)
        }
        Role::Kubectl => grouped("clients.kubectl", &state.kubectl, &others(state, object)),
        Role::ApiServer => grouped(
            "controlPlane.kubeApiServers",
            &control_plane.kube_api_servers,
            &others(state, object),
        ),
        Role::Cluster => Vec::new(),
        Role::Kubelet | Role::KubeProxy | Role::Pool => {
            let pools = state.pools.iter();
            pools
                .flat_map(|pool| pool_pairs(state, pool, subject, object))
                .collect()
        }
    }
}

fn pool_pairs<'a>(state: &'a State, pool: &'a Pool, subject: Role, object: Role) -> Vec<Pair<'a>> {
    let name = format!("pools/{}", pool.name);
    let versions = match subject {
        Role::Kubelet => &pool.kubelets,
        Role::KubeProxy => &pool.kube_proxies,
        _ => pool.distribution_versions(state.distribution.scheme),
    };
    if object != Role::Kubelet {
        return grouped(&name, versions, &others(state, object));
    }
    // Side by side on one node. One kubelet's version for all of them is written once.
    let mut pairs: BTreeMap<(&Version, Option<&Version>), usize> = BTreeMap::new();
    for (place, version) in versions.iter().enumerate() {
        let beside = match &pool.kubelets[..] {
            [only] => Some(only),
            kubelets => kubelets.get(place),
        };
        *pairs.entry((version, beside)).or_default() += 1;
    }
    let pairs = pairs.into_iter().map(|((version, beside), count)| Pair {
        subject: name.clone(),
        version,
        count,
        others: beside.into_iter().collect(),
    });
    pairs.collect()
}

fn others(state: &State, object: Role) -> Vec<&Version> {
    match object {
        Role::Cluster => state.cluster_version().into_iter().collect(),
        _ => state.control_plane.kube_api_servers.iter().collect(),
    }
}

/// One pair for each version that is there.
fn grouped<'a>(subject: &str, versions: &'a [Version], others: &[&'a Version]) -> Vec<Pair<'a>> {
    let mut counts: BTreeMap<&Version, usize> = BTreeMap::new();
    for version in versions {
        *counts.entry(version).or_default() += 1;
    }
    let pairs = counts.into_iter().map(|(version, count)| Pair {
        subject: subject.to_owned(),
        version,
        count,
        others: others.to_vec(),
    });
    pairs.collect()
}

/// Controllers reach every kube-apiserver, or only the one in their place.
fn controllers<'a>(state: &'a State, name: &str, versions: &'a [Version]) -> Vec<Pair<'a>> {
    let subject = format!("controlPlane.{name}");
    let servers = &state.control_plane.kube_api_servers;
    if !state.control_plane.is_local || versions.len() < servers.len() {
        return grouped(&subject, versions, &servers.iter().collect::<Vec<_>>());
    }
    let pairs = versions.iter().enumerate().map(|(place, version)| Pair {
        subject: format!("{subject}[{place}]"),
        version,
        count: 1,
        others: servers.get(place).into_iter().collect(),
    });
    pairs.collect()
}
