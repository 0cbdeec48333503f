//! What several policies say alike.

use crate::{
    check::{Case, Finding, Findings, Named},
    state::{Pool, State, newest, oldest},
    version::{Scheme, Version},
};

/// How findings name a pool.
pub(super) fn pool_subject(pool: &Pool) -> String {
    format!("pools/{}", pool.name)
}

/// The controllers of a control plane, by the names of their fields.
pub(super) fn controllers(state: &State) -> [(&'static str, &[Version]); 3] {
    let control_plane = &state.control_plane;
    [
        ("kubeControllerManager", &control_plane.kube_controller_manager),
        ("kubeScheduler", &control_plane.kube_scheduler),
        ("cloudControllerManager", &control_plane.cloud_controller_manager),
    ]
}

/// Pools that are in both states.
pub(super) fn pools<'a>(before: &'a State, after: &'a State) -> Vec<(&'a Pool, &'a Pool)> {
    let pairs = after.pools.iter().map(|is| Some((before.pool(&is.name)?, is)));
    pairs.flatten().collect()
}

/// Pools of which the newest version is known before and after, with both.
pub(super) fn pool_moves(case: Case<'_>) -> Vec<(&Pool, &Version, &Version)> {
    let (scheme, pools) = (case.scheme(), case.after.map(|after| pools(case.before, after)));
    let moves = pools.into_iter().flatten().map(|(was, is)| {
        let from = newest(was.distribution_versions(scheme))?;
        Some((is, from, newest(is.distribution_versions(scheme))?))
    });
    moves.flatten().collect()
}

/// What each of several was and is. Nodes and instances have no names here, so the oldest becomes the oldest; where one
/// comes or goes, all that is known is that the oldest may have become the newest.
pub(super) fn paired<'a>(were: &'a [Version], are: &'a [Version]) -> Vec<(&'a Version, &'a Version)> {
    if were.len() != are.len() {
        return oldest(were).zip(newest(are)).into_iter().collect();
    }
    let in_order = |versions: &'a [Version]| {
        let mut versions: Vec<&Version> = versions.iter().collect();
        versions.sort_by(|one, other| one.precedence(other));
        versions
    };
    in_order(were).into_iter().zip(in_order(are)).collect()
}

/// Whether something was acknowledged, before or after; none where nobody said what was.
pub(super) fn acknowledged(case: Case<'_>, name: &str) -> Option<bool> {
    let states = [Some(case.before), case.after];
    let acks: Vec<_> = states
        .into_iter()
        .flatten()
        .filter_map(|state| state.acks.as_ref())
        .collect();
    (!acks.is_empty()).then(|| acks.iter().any(|acks| acks.contains(name)))
}

/// Some minors before a version, as text.
pub(super) fn back(version: &Version, minors: u64) -> String {
    minor_at(version, version.generation().saturating_sub(minors))
}

/// The minor before a version's.
pub(super) fn minor_below(version: &Version) -> String {
    back(version, 1)
}

/// The minor after a version's.
pub(super) fn minor_above(version: &Version) -> String {
    minor_at(version, version.generation() + 1)
}

/// The generation of OpenShift 5.0: what 4.23 would be.
const FIFTH_MAJOR: u64 = 23;

/// The minor with a generation, as a scheme writes it: in OpenShift 5.0 comes after 4.22.
pub(crate) fn minor_at(version: &Version, generation: u64) -> String {
    match (version.scheme(), generation.checked_sub(FIFTH_MAJOR)) {
        (Scheme::OpenShift, Some(minor)) => format!("5.{minor}"),
        (Scheme::OpenShift, None) => format!("4.{generation}"),
        _ => {
            let minor = (version.minor() + generation).saturating_sub(version.generation());
            format!("{}.{minor}", version.major())
        }
    }
}

/// A number of minors in a sentence.
pub(crate) fn minors(count: u64) -> String {
    match count {
        1 => "one minor".to_owned(),
        count => format!("{count} minors"),
    }
}

/// A move takes one minor at a time.
pub(super) fn no_skip(named: Named, subject: &str, from: &Version, to: &Version, findings: &mut Findings) {
    let distance = to.generation().saturating_sub(from.generation());
    if distance > 1 {
        let finding = Finding::violation(named, subject)
            .says(format!(
                "{from} to {to} skips {}: they are taken one by one",
                minors(distance - 1)
            ))
            .shows("from", from)
            .shows("to", to)
            .fact("minors", distance)
            .remedy(format!("Go to {} first.", minor_above(from)));
        findings.push(finding);
    }
}

/// A minor never goes down.
pub(super) fn no_downgrade(named: Named, subject: &str, from: &Version, to: &Version, findings: &mut Findings) {
    if to.generation() < from.generation() {
        let finding = Finding::violation(named, subject)
            .says(format!("{from} to {to} goes down by a minor, which is not supported"))
            .shows("from", from)
            .shows("to", to)
            .remedy(format!("Stay at {} and repair forward.", from.minor_text()));
        findings.push(finding);
    }
}

/// The move of the whole cluster's version, if it is known on both sides.
pub(super) fn cluster_move<'a>(before: &'a State, after: Option<&'a State>) -> Option<(&'a Version, &'a Version)> {
    let (from, to) = (before.cluster_version()?, after?.cluster_version()?);
    (from.precedence(to).is_ne()).then_some((from, to))
}
