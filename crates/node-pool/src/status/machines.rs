//! What the machines of a pool say, taken together: whether they are ready, whether their nodes are healthy, and whether
//! there are as many as there are to be.

use std::{collections::BTreeMap, sync::Arc};

use hyperplane_api::{
    cluster_api::machine::Machine,
    constants::{
        ConditionType, Reason,
        conditions::{machine, machine_health_check, node_pool as types},
        reasons,
    },
    hypershift::platform_type::PlatformType,
};
use hyperplane_runtime::{Disposition, Failure, conditions::Observation};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use kube::ResourceExt as _;

use super::{
    Report,
    conditions::{fails, holds, list},
    hosts,
};
use crate::{build, dereference::Machines};

/// How many machines are named for one reason; the rest is counted.
const MOST_NAMES: usize = 3;
/// How many reasons are told.
const MOST_REASONS: usize = 10;
/// How much of what one machine says is handed on.
const LONGEST_WORDS: usize = 300;

pub(super) fn observe(report: &Report<'_>) -> Vec<Observation> {
    let mut observed = if joins_by_itself(report) {
        hosts::together(report.seen)
    } else {
        together(&report.seen.machines, wanted(report))
    };
    observed.push(ready(report));
    observed.extend(live_migratable(report));
    observed
}

/// What all machines say, of which there are to be so many.
pub(super) fn together(machines: &Machines, wanted: i32) -> Vec<Observation> {
    let all = |type_: ConditionType, of_machine: ConditionType, good: &str| {
        all(&machines.all, wanted, (type_, of_machine), good)
    };
    vec![
        all(types::ALL_MACHINES_READY, machine::READY, "All machines are ready."),
        all(
            types::ALL_NODES_HEALTHY,
            machine::NODE_HEALTHY,
            "All nodes are healthy.",
        ),
    ]
}

/// Whether virtual machines can move while they run. Only told where their provider says something of it.
fn live_migratable(report: &Report<'_>) -> Option<Observation> {
    let type_ = types::KUBEVIRT_NODES_LIVE_MIGRATABLE;
    let instances = &report.seen.machines.instances;
    let said: Vec<Result<(), String>> = instances
        .iter()
        .filter_map(|instance| instance.live_migratable())
        .collect();
    if said.is_empty() {
        return None;
    }
    let stuck: Vec<&String> = said.iter().filter_map(|one| one.as_ref().err()).collect();
    if stuck.is_empty() {
        return Some(holds(type_, reasons::AS_EXPECTED, "Every virtual machine can migrate."));
    }
    let shown: Vec<String> = stuck.iter().take(MOST_NAMES).map(|words| bounded(words)).collect();
    let message = format!("{} of {} cannot migrate: {}", stuck.len(), said.len(), shown.join("; "));
    Some(fails(type_, reasons::KUBEVIRT_NODES_NOT_LIVE_MIGRATABLE, message))
}

/// Whether a condition of machines holds for all of them, told by one of the pool.
fn all(
    machines: &[Arc<Machine>],
    wanted: i32,
    (type_, of_machine): (ConditionType, ConditionType),
    good: &str,
) -> Observation {
    if machines.is_empty() {
        return if wanted == 0 {
            fails(type_, reasons::AS_EXPECTED, "The pool is to have no machines.")
        } else {
            fails(type_, reasons::NOT_FOUND, "There are no machines yet.")
        };
    }
    let mut bad: BTreeMap<String, Vec<(String, String)>> = BTreeMap::new();
    for machine in machines {
        if let Some((reason, message)) = complaint(machine, of_machine) {
            bad.entry(reason).or_default().push((machine.name_any(), message));
        }
    }
    let Some(reason) = bad.keys().next().cloned() else {
        return holds(type_, reasons::AS_EXPECTED, good);
    };
    let count: usize = bad.values().map(Vec::len).sum();
    let groups: Vec<String> = bad.iter().take(MOST_REASONS).map(described).collect();
    let message = format!("{count} of {} machines are not: {}", machines.len(), groups.join("; "));
    Observation::fails(type_.as_str(), reason, message)
}

/// What machines that go wait for, in words: each that has to be emptied first, with what is in the way. None where none has.
pub(crate) fn drains<'a>(machines: impl Iterator<Item = &'a Machine>) -> Option<String> {
    let drains = machines.filter_map(|machine| {
        let (_, message) = drain(machine)?;
        Some(format!("{}: {message}", machine.name_any()))
    });
    let drains: Vec<String> = drains.take(MOST_NAMES).collect();
    (!drains.is_empty()).then(|| drains.join("; "))
}

/// What the drain of a machine that goes waits for. A pod that a PodDisruptionBudget keeps is named in it.
fn drain(machine: &Machine) -> Option<(String, String)> {
    machine.metadata.deletion_timestamp.as_ref()?;
    let found = find(&machine.status.as_ref()?.conditions, machine::DELETING)?;
    let waits = [reasons::DRAINING_NODE, reasons::WAITING_FOR_VOLUME_DETACH];
    let is_waiting = waits.iter().any(|reason| reason.as_str() == found.reason);
    (found.status == "True" && is_waiting).then(|| (found.reason.clone(), bounded(&found.message)))
}

fn bounded(message: &str) -> String {
    message.chars().take(LONGEST_WORDS).collect()
}

/// Why a condition of a machine does not hold.
fn complaint(machine: &Machine, type_: ConditionType) -> Option<(String, String)> {
    if let Some(drain) = drain(machine).filter(|_| type_ == machine::READY) {
        return Some(drain);
    }
    let conditions = machine.status.as_ref().map(|status| status.conditions.as_slice());
    match conditions.and_then(|conditions| find(conditions, type_)) {
        Some(condition) if condition.status == "True" => None,
        Some(condition) => Some((condition.reason.clone(), bounded(&condition.message))),
        None => {
            let message = "nothing is known yet".to_owned();
            Some((reasons::STATUS_UNKNOWN.as_str().to_owned(), message))
        }
    }
}

fn described((reason, machines): (&String, &Vec<(String, String)>)) -> String {
    let shown = machines.iter().take(MOST_NAMES);
    let shown: Vec<String> = shown.map(|(name, message)| format!("{name}: {message}")).collect();
    let more = match machines.len().saturating_sub(MOST_NAMES) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!("{reason}: {}{more}", shown.join(", "))
}

fn find(conditions: &[Condition], type_: ConditionType) -> Option<&Condition> {
    conditions.iter().find(|condition| condition.type_ == type_.as_str())
}

/// How many machines there are to be.
fn wanted(report: &Report<'_>) -> i32 {
    let live = report.seen.machines.deployment.as_ref();
    build::replicas(report.pool, live.and_then(|live| live.spec.replicas))
}

fn ready(report: &Report<'_>) -> Observation {
    let type_ = types::READY;
    if let Some(verdict) = report.plan.verdict.as_ref().filter(|verdict| !verdict.is_sound()) {
        let problems = list(verdict.problems());
        let message = if verdict.is_in_place {
            "Nodes cannot be changed in place here: UpdateManagementEnabled says more.".to_owned()
        } else {
            problems
        };
        return fails(type_, reasons::VALIDATION_FAILED, message);
    }
    let Some(deployment) = &report.seen.machines.deployment else {
        return without_machines(report);
    };
    if let Some(blocked) = repair_blocked(report) {
        return Observation::fails(type_.as_str(), blocked.reason.clone(), blocked.message.clone());
    }
    let count = deployment
        .status
        .as_ref()
        .and_then(|status| status.ready_replicas)
        .unwrap_or(0);
    let wanted = wanted(report);
    let mut message = format!("{count} of {wanted} machines are ready.");
    if let Some(drains) = drains(report.seen.machines.all.iter().map(AsRef::as_ref)) {
        message = format!("{message} Before others go: {drains}.");
    }
    // Machines that are ready stay so while something is missing to care for them; that it is must be said.
    let reason = report.failure.map_or(reasons::WAITING_FOR_AVAILABLE, reason_of);
    if let Some(failure) = report.failure {
        message = format!("{message} {}.", sentence(failure));
    }
    if count >= wanted {
        return holds(type_, reasons::AS_EXPECTED, message);
    }
    fails(type_, reason, message)
}

/// What ended a run, as a sentence without its end.
pub(super) fn sentence(failure: &Failure) -> String {
    let report = failure.report();
    let mut rest = report.chars();
    let first = rest.next().map(|first| first.to_uppercase().to_string());
    first.unwrap_or_default() + rest.as_str().trim_end_matches('.')
}

/// Whether the nodes of a pool are hosts that nobody makes.
pub(super) fn joins_by_itself(report: &Report<'_>) -> bool {
    report.seen.cluster.is_some() && report.pool.spec.platform.type_ == PlatformType::None
}

fn without_machines(report: &Report<'_>) -> Observation {
    let type_ = types::READY;
    if joins_by_itself(report) {
        return hosts::ready(report.seen, wanted(report));
    }
    let problems = report.plan.verdict.as_ref().map(|verdict| list(verdict.holds()));
    match (problems.filter(|problems| !problems.is_empty()), report.failure) {
        (Some(problems), _) => fails(type_, reasons::VALIDATION_FAILED, problems),
        (None, Some(failure)) => waiting(type_, failure),
        (None, None) if report.plan.skew.as_ref().is_some_and(|skew| !skew.allows()) => fails(
            type_,
            reasons::UNSUPPORTED_SKEW,
            "No machines are made: SupportedVersionSkew says why.",
        ),
        (None, None) => fails(type_, reasons::WAITING_FOR_AVAILABLE, "Machines are about to be made."),
    }
}

fn waiting(type_: ConditionType, failure: &Failure) -> Observation {
    fails(type_, reason_of(failure), failure.report())
}

pub(super) fn reason_of(failure: &Failure) -> Reason {
    match failure.disposition() {
        Disposition::Wait => reasons::WAITING_FOR_AVAILABLE,
        Disposition::Retry | Disposition::User | Disposition::Fatal => reasons::RECONCILE_ERROR,
    }
}

/// What the health check says, where too many machines are unhealthy for repair to help.
fn repair_blocked<'a>(report: &Report<'a>) -> Option<&'a Condition> {
    let check = report.seen.machines.health_check.as_deref()?;
    let conditions = &check.status.as_ref()?.conditions;
    let allowed = find(conditions, machine_health_check::REMEDIATION_ALLOWED)?;
    (allowed.status == "False").then_some(allowed)
}
