//! etcd: floors below which the next minor is not safe, and no way down.

use super::{Need, Policy, shared};
use crate::{
    blocker::Moment,
    check::{Case, Finding, Findings, Named},
    state::{newest, oldest},
    version::{Scheme, Version},
};

/// The policy.
pub(super) const POLICY: Policy = Policy {
    name: "etcd",
    title: "Floors of etcd",
    source: "etcd.io, 2025, upgrades to 3.6; etcd-io/etcd 19557 and 20793; OpenShift's update graph for 4.21",
    need: Need::Etcd,
    first_rule: "E-01",
    skews: &[],
    judges: &[floor, never_down, no_old_member, openshift_floor],
};

const SUBJECT: &str = "controlPlane.etcd";
/// The oldest etcd 3.5 from which 3.6 is safe: before it, members could keep a wrong idea of who is a member.
const FLOOR: (u64, u64, u64) = (3, 5, 26);

fn numbers(version: &Version) -> (u64, u64, u64) {
    (version.major(), version.minor(), version.patch())
}

fn is_below_floor(version: &Version) -> bool {
    numbers(version) < FLOOR
}

fn is_above(version: &Version) -> bool {
    (version.major(), version.minor()) > (FLOOR.0, FLOOR.1)
}

fn floor(case: Case<'_>, findings: &mut Findings) {
    let Some(after) = case.after else { return };
    let (Some(from), Some(to)) = (
        oldest(&case.before.control_plane.etcd),
        newest(&after.control_plane.etcd),
    ) else {
        return;
    };
    let is_new = !case.before.control_plane.etcd.iter().any(is_above);
    if is_below_floor(from) && is_above(to) && is_new {
        let finding = Finding::violation(Named::with("E-01", "EtcdFloor", &["E-04"]), SUBJECT)
            .says(format!(
                "etcd goes from {from} to {to}: 3.6 is safe from 3.5.26 on only"
            ))
            .shows("from", from)
            .shows("to", to)
            .fact("floor", "3.5.26")
            .remedy("Bring every member to etcd 3.5.26 or later first, and let all of them run there.");
        findings.push(finding);
    }
}

fn never_down(case: Case<'_>, findings: &mut Findings) {
    let Some(after) = case.after else { return };
    let members = shared::paired(&case.before.control_plane.etcd, &after.control_plane.etcd);
    let down = members.into_iter().find(|(from, to)| to.precedence(from).is_lt());
    if let Some((from, to)) = down {
        let finding = Finding::violation(Named::with("E-03", "EtcdDowngrade", &["A-20"]), SUBJECT)
            .says(format!(
                "etcd goes down from {from} to {to}: it never does inside of an upgrade"
            ))
            .shows("from", from)
            .shows("to", to)
            .remedy(format!("Choose a release whose etcd is {from} or later."));
        findings.push(finding);
    }
}

/// A member of 3.6 gets the data of an old member when it joins: beside one below the floor, it fails.
fn no_old_member(case: Case<'_>, findings: &mut Findings) {
    for (moment, state) in case.states() {
        let members = &state.control_plane.etcd;
        let (Some(oldest), Some(newest)) = (oldest(members), newest(members)) else {
            continue;
        };
        if is_below_floor(oldest) && is_above(newest) {
            let finding = Finding::violation(Named::with("E-04", "EtcdFloor", &["E-01"]), SUBJECT)
                .at(moment)
                .says(format!(
                    "etcd {newest} runs beside {oldest}: a member that joins copies what the old one has"
                ))
                .shows("oldest", oldest)
                .shows("newest", newest)
                .remedy("Bring every member to 3.5.26 or later before the first one takes 3.6.");
            findings.push(finding);
        }
    }
}

/// The risk's name in OpenShift's graph.
const RISK: &str = "EtcdStorageVersion3Migration";
/// Patches of 4.20 for which it is declared.
const RISKY_PATCHES: u64 = 14;

/// OpenShift declares the same hazard for its own releases.
fn openshift_floor(case: Case<'_>, findings: &mut Findings) {
    let Some(after) = case.after else { return };
    if case.scheme() != Scheme::OpenShift {
        return;
    }
    let (Some(from), Some(to)) = (case.before.cluster_version(), after.cluster_version()) else {
        return;
    };
    let is_exposed = from.generation() == 20 && from.patch() <= RISKY_PATCHES && to.generation() == 21;
    if is_exposed && shared::acknowledged(case, RISK) != Some(true) {
        let finding = Finding::violation(Named::new("E-02", RISK), "controlPlane")
            .at(Moment::Transition)
            .says(format!(
                "{from} to {to} carries the risk {RISK}: etcd of 4.20 is below the floor until 4.20.15"
            ))
            .shows("from", from)
            .shows("to", to)
            .remedy(format!(
                "Go to 4.20.15 or later first, or accept the risk by putting {RISK} into acks."
            ))
            .skippable();
        findings.push(finding);
    }
}
