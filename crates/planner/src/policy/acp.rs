//! ACP: two phases, rows of a matrix, and what has to be ready before each. The manager is the global cluster.

mod hop;
mod prerequisites;
mod slots;

use super::{Need, Policy, shared};
use crate::{
    blocker::{Disagreement, Moment},
    check::{Case, Finding, Findings, Named},
    policy::matrix::{self, Row},
    state::State,
    version::Version,
};

/// The policy.
pub(super) const POLICY: Policy = Policy {
    name: "acp",
    title: "ACP's two phases and its matrix",
    source: "alauda/immutable-infra-docs, upgrade-cluster, and alauda/acp-docs, upgrade",
    need: Need::ClusterVersion,
    first_rule: "A-02",
    skews: &[],
    judges: &[
        global_first,
        same_as_global,
        range_of_global,
        core_path,
        core_hops,
        core_alone,
        hop::known_row,
        hop::first_phase,
        hop::one_minor,
        hop::latest_row,
        hop::dead_end,
        hop::chart_first,
        hop::one_row,
        hop::no_component_down,
        hop::no_way_back,
        prerequisites::artifacts,
        prerequisites::providers,
        prerequisites::kubelet_fields,
        prerequisites::kernel,
        slots::fixed_slots,
        slots::single_control_plane,
        prerequisites::extensions,
        prerequisites::modifications,
        prerequisites::processors,
        prerequisites::backup,
        prerequisites::health,
    ],
};

const API_SERVERS: &str = "controlPlane.kubeApiServers";

/// The move of Kubernetes itself, which is the second phase.
fn kubernetes_move(case: Case<'_>) -> Option<(&Version, &Version)> {
    let (from, to) = (case.before.api_servers()?, case.after?.api_servers()?);
    let moves = from.0.precedence(to.0).is_ne() || from.1.precedence(to.1).is_ne();
    moves.then_some((from.0, to.1))
}

/// Whether nodes or the control plane get a new row.
fn moves_row(case: Case<'_>) -> bool {
    let row = |state: &State| state.distribution.row.clone();
    let changes = case
        .after
        .is_some_and(|after| row(after).is_some() && row(after) != row(case.before));
    changes || kubernetes_move(case).is_some()
}

/// The rows before and after.
fn rows(case: Case<'_>) -> Option<(&'static Row, &'static Row)> {
    let row = |state: &State| matrix::row_named(state.distribution.row.as_deref()?);
    Some((row(case.before)?, row(case.after?)?))
}

fn same_or_older(version: &Version, other: &Version) -> bool {
    version.precedence(other).is_le()
}

/// The manager of a state: of two, the older counts.
fn manager(state: &State) -> Option<&Version> {
    let both = state.manager.iter().chain(&state.standby_manager);
    both.min_by(|one, other| one.precedence(other))
}

/// A cluster is not newer than the global one.
fn global_first(case: Case<'_>, findings: &mut Findings) {
    for (moment, state) in case.states() {
        let Some(version) = &state.distribution.version else {
            continue;
        };
        let Some(manager) = manager(state) else {
            // Only who moves has to know.
            if shared::cluster_move(case.before, case.after).is_some() && moment == Moment::After {
                let finding = Finding::unknown("A-02", "manager")
                    .at(moment)
                    .says("the version of the global cluster is not given")
                    .remedy("Add manager.version to the state file.");
                findings.push(finding);
            }
            continue;
        };
        if !same_or_older(version, manager) {
            let finding = Finding::violation(Named::new("A-02", "GlobalBehind"), "controlPlane")
                .at(moment)
                .says(format!("{version} is newer than the global cluster at {manager}"))
                .shows("version", version)
                .shows("manager", manager)
                .remedy(format!(
                    "Bring the global cluster, and its standby, to {version} first."
                ));
            findings.push(finding);
        }
    }
}

/// The console offers one target: the global cluster's version.
fn same_as_global(case: Case<'_>, findings: &mut Findings) {
    let (Some(after), Some((_, to))) = (case.after, shared::cluster_move(case.before, case.after)) else {
        return;
    };
    if let Some(manager) = manager(after).filter(|manager| to.precedence(manager).is_lt()) {
        let finding = Finding::warning(Named::new("A-03", "TargetIsNotGlobal"), "controlPlane")
            .says(format!(
                "the console offers {manager}, the global cluster's version, and not {to}"
            ))
            .shows("to", to)
            .shows("manager", manager)
            .remedy(format!("Go to {manager}, or use the API for {to}."));
        findings.push(finding);
    }
}

/// Minors of Kubernetes that clusters may have under a global cluster, by its minor: oldest and newest.
const COMPATIBLE: [(u64, u64, u64); 5] = [(0, 28, 31), (1, 29, 32), (2, 30, 33), (3, 31, 34), (4, 32, 35)];
/// The last minor of the global cluster that wants clusters at the newest Kubernetes before it is entered.
const STRICT_UNTIL: u64 = 2;

fn compatible(global: &Version) -> Option<(u64, u64)> {
    let row = COMPATIBLE
        .iter()
        .find(|(minor, ..)| global.major() == 4 && global.minor() == *minor);
    row.map(|(_, low, high)| (*low, *high))
}

/// Before the global cluster moves, the others have a Kubernetes that it will still take.
fn range_of_global(case: Case<'_>, findings: &mut Findings) {
    let moves = (
        &case.before.manager,
        case.after.and_then(|after| after.manager.as_ref()),
    );
    let (Some(from), Some(to)) = moves else { return };
    if from.precedence(to).is_ge() {
        return;
    }
    let Some((oldest, newest)) = case.before.api_servers() else {
        let finding = Finding::unknown("A-04", API_SERVERS)
            .says(format!(
                "the global cluster goes to {to}: which Kubernetes this cluster has is not given"
            ))
            .remedy(format!("Add {API_SERVERS} to the state file."));
        findings.push(finding);
        return;
    };
    let Some((low, high)) = compatible(to) else {
        let finding = Finding::unknown("A-04", "manager")
            .says(format!(
                "which versions of Kubernetes a global cluster at {to} takes is not known"
            ))
            .shows("manager", to)
            .remedy("Look it up in the support matrix of that version before the global cluster moves.");
        findings.push(finding);
        return;
    };
    let facts = |finding: Finding| {
        finding
            .shows("kubernetes", oldest)
            .shows("manager", to)
            .fact("compatible", vec![format!("1.{low}"), format!("1.{high}")])
    };
    if oldest.minor() < low || newest.minor() > high {
        let finding = Finding::violation(Named::new("A-04", "WorkloadOutOfRange"), "controlPlane")
            .says(format!(
                "the global cluster goes to {to}, which takes Kubernetes 1.{low} to 1.{high}; this one is at {oldest}"
            ))
            .remedy(if oldest.minor() < low {
                format!("Bring this cluster to 1.{low} or later before the global one moves.")
            } else {
                format!(
                    "Choose a version of the global cluster that takes {}.",
                    newest.minor_text()
                )
            });
        findings.push(facts(finding));
    } else if to.minor() <= STRICT_UNTIL && oldest.minor() < high {
        findings.push(facts(not_at_top(oldest, from, to, high)));
    }
}

/// The newest Kubernetes of which list is not said: what only comes with the target, no cluster can have before it.
fn not_at_top(oldest: &Version, from: &Version, to: &Version, high: u64) -> Finding {
    let reachable = compatible(from).map_or(high, |(_, reachable)| reachable.min(high));
    let named = Named::new("A-05", "WorkloadNotAtTop");
    if oldest.minor() < reachable {
        return Finding::violation(named, "controlPlane")
            .says(format!(
                "before the global cluster goes to {to} every cluster has the newest Kubernetes, 1.{reachable}; this one is at {oldest}"
            ))
            .remedy(format!("Bring this cluster to 1.{reachable} before the global one moves."));
    }
    Finding::warning(Named::new("A-05", "SourcesDisagree"), "controlPlane")
        .says(format!(
            "before the global cluster goes to {to} every cluster has the newest Kubernetes: 1.{reachable} under {from}, \
             1.{high} by the list of {to}"
        ))
        .remedy(format!("Nothing, unless this cluster can have 1.{high} already."))
        .disputed(vec![Disagreement {
            policy: "acp",
            verdict: format!("forbidden: read as the list of {to}, 1.{high} is wanted"),
            source: "alauda/acp-docs, kubernetes-support-matrix, upgrade requirements",
        }])
}

/// The oldest minor from which 4.3 is entered.
const PATHS_INTO: (u64, &[u64]) = (3, &[0, 1, 2]);

fn core_path(case: Case<'_>, findings: &mut Findings) {
    let Some((from, to)) = shared::cluster_move(case.before, case.after) else {
        return;
    };
    let (minor, sources) = PATHS_INTO;
    let is_into = to.major() == 4 && to.minor() == minor;
    let is_from = from.major() == 4 && (sources.contains(&from.minor()) || from.minor() == minor);
    if is_into && !is_from {
        let finding = Finding::violation(Named::new("A-06", "VersionUpgradePath"), "controlPlane")
            .says(format!(
                "{from} to {to} is not a supported path: 4.3 is entered from 4.0, 4.1 and 4.2"
            ))
            .shows("from", from)
            .shows("to", to)
            .remedy("Go to 4.0, 4.1 or 4.2 first.");
        findings.push(finding);
    }
}

/// Sources disagree whether the distribution goes to its target at once or by every hop that is offered.
fn core_hops(case: Case<'_>, findings: &mut Findings) {
    let Some((from, to)) = shared::cluster_move(case.before, case.after) else {
        return;
    };
    let finding = match &case.before.distribution.available_updates {
        Some(offered) if offered.iter().any(|version| version.precedence(to).is_eq()) => return,
        Some(offered) => Finding::violation(Named::new("A-07", "NotOffered"), "controlPlane")
            .says(format!("{to} is not offered from {from}"))
            .fact(
                "availableUpdates",
                offered.iter().map(ToString::to_string).collect::<Vec<_>>(),
            )
            .remedy("Take a hop that is offered, and look again after it."),
        None if to.generation() > from.generation() + 1 => {
            Finding::warning(Named::new("A-07", "SourcesDisagree"), "controlPlane")
                .says(format!(
                    "{from} to {to} in one step: older pages go there directly, newer ones by every hop that is offered"
                ))
                .remedy("Read availableUpdates of the cluster, and take the hops that it offers.")
                .disputed(vec![Disagreement {
                    policy: "acp",
                    verdict: "forbidden unless it is offered: every hop in between is taken".to_owned(),
                    source: "alauda/immutable-infra-docs, upgrade-cluster",
                }])
        }
        None => return,
    };
    findings.push(finding.shows("from", from).shows("to", to));
}

/// A new core with an old Kubernetes is inside of the matrix, and not what was tested most.
fn core_alone(case: Case<'_>, findings: &mut Findings) {
    let Some((from, to)) = shared::cluster_move(case.before, case.after) else {
        return;
    };
    if to.generation() > from.generation() && kubernetes_move(case).is_none() && case.before.api_servers().is_some() {
        let finding = Finding::warning(Named::new("A-24", "CoreAlone"), "controlPlane")
            .says(format!(
                "the distribution goes to {to} and Kubernetes stays: allowed by the matrix, not validated as a pair"
            ))
            .shows("from", from)
            .shows("to", to)
            .remedy("Plan the second phase in the same window.")
            .disputed(vec![Disagreement {
                policy: "acp",
                verdict: "not validated: core and Kubernetes move in one window".to_owned(),
                source: "alauda/acp-docs, upgrade, overview",
            }]);
        findings.push(finding);
    }
}
