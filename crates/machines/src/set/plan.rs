//! What a set does next: which machines it makes, which it deletes, and which it tells of new timeouts. Pure. Machines
//! that go count until they are gone, so that there are never more than the set is told to have.
//!
//! A machine's name follows from the set and a number that is never used again. The next number is the one behind all
//! that are seen, and behind the mark that is kept on the set when a machine that was seen may go. So a run on a cache
//! that lags behind, or one after a crash, gives the same names and meets the same objects.

use std::{cmp::Reverse, collections::BTreeSet, sync::Arc};

use hyperplane_api::{
    cluster_api::{machine::Machine, machine_set::MachineSet, replicas::DeletionOrder},
    constants::{annotations, ours},
};
use hyperplane_rollout::{Candidate, Order, Rounding, amount, fingerprint, joined, victims};
use hyperplane_runtime::Failure;
use kube::ResourceExt as _;
use serde_json::{Map, Value, json};

use super::{apply::BATCH, dereference::Seen};
use crate::counts::{awaits_owner, candidate, created, is_deleting, wanted};

/// Consonants and digits that spell no words, as in names that Kubernetes generates.
const ALPHABET: &[u8] = b"bcdfghjklmnpqrstvwxz2456789";
/// How many of them a name ends with.
const SUFFIX: usize = 5;
/// The most numbers that one run looks at: names that are taken are rare.
const MOST_NUMBERS: usize = 4 * BATCH;
/// The longest name of a machine: it becomes the name of a node, which is also a label.
const LONGEST_NAME: usize = 63;

/// What is to be done.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Plan {
    /// The mark to keep on the set before anything goes, where it has to move.
    pub(super) mark: Option<u64>,
    /// Machines to change in place, with the change.
    pub(super) change: Vec<(String, Value)>,
    /// Machines to delete because they are unhealthy.
    pub(super) replace: Vec<String>,
    /// Machines to delete because there are too many.
    pub(super) remove: Vec<String>,
    /// Machines to make, with their numbers.
    pub(super) make: Vec<(u64, String)>,
}

pub(super) fn plan(seen: &Seen) -> Result<Plan, Failure> {
    let set = seen.set.as_ref();
    let replicas = usize::try_from(wanted(set.spec.replicas)).unwrap_or(usize::MAX);
    let replace = unhealthy(seen)?;
    let excess = seen.machines.len().saturating_sub(replicas);
    let missing = replicas.saturating_sub(seen.machines.len());
    let used = first_unused(&seen.machines);
    let mark = kept_mark(set);
    Ok(Plan {
        mark: (used > mark).then_some(used),
        change: seen
            .machines
            .iter()
            .filter_map(|machine| changed(set, machine))
            .collect(),
        remove: too_many(seen, &replace, excess),
        make: if may_make(seen) {
            names(set, &seen.machines, used.max(mark), missing)
        } else {
            Vec::new()
        },
        replace,
    })
}

/// Whether machines are made at all: not for a cluster that goes or is not there, and not where another set makes them.
fn may_make(seen: &Seen) -> bool {
    let is_stopped = seen
        .set
        .annotations()
        .contains_key(annotations::DISABLE_MACHINE_CREATE.as_str());
    let cluster = seen.cluster.as_ref();
    !is_stopped && cluster.is_some_and(|cluster| !is_deleting(&cluster.metadata))
}

/// Machines that the health check wants replaced, as many as may be at a time. The newest come first, because one that
/// never came up disturbs nobody. In a set that a rollout empties they are left to the rollout: what came instead of them
/// would have to go, too.
fn unhealthy(seen: &Seen) -> Result<Vec<String>, Failure> {
    let is_stopped = seen
        .set
        .annotations()
        .contains_key(annotations::DISABLE_MACHINE_CREATE.as_str());
    if !seen.is_current && !is_stopped {
        return Ok(Vec::new());
    }
    let (going, mut waiting): (Vec<&Arc<Machine>>, Vec<&Arc<Machine>>) = seen
        .machines
        .iter()
        .filter(|machine| awaits_owner(machine))
        .partition(|machine| is_deleting(&machine.metadata));
    let room = in_flight(seen)?.saturating_sub(going.len());
    waiting.sort_by_cached_key(|machine| (Reverse(created(&machine.metadata)), machine.name_any()));
    Ok(waiting
        .into_iter()
        .take(room)
        .map(|machine| machine.name_any())
        .collect())
}

/// How many machines may be under repair at a time. A percentage is of all that the deployment wants, and not of what one
/// of its sets has in the middle of a rollout.
fn in_flight(seen: &Seen) -> Result<usize, Failure> {
    let Some(deployment) = &seen.deployment else {
        return Ok(usize::MAX);
    };
    let remediation = deployment.spec.remediation.as_ref();
    let Some(given) = remediation.and_then(|remediation| remediation.max_in_flight.as_ref()) else {
        return Ok(usize::MAX);
    };
    let most = amount(given, wanted(deployment.spec.replicas), Rounding::Up).map_err(|error| {
        let field = "spec.remediation.maxInFlight";
        Failure::user(field, error.to_string(), "set it to such on the MachineDeployment")
    })?;
    Ok(usize::try_from(most).unwrap_or(usize::MAX))
}

/// Machines that are too many, those that are replaced counted among those that go.
fn too_many(seen: &Seen, replaced: &[String], excess: usize) -> Vec<String> {
    let candidates: Vec<Candidate> = seen
        .machines
        .iter()
        .map(|machine| {
            let candidate = candidate(machine);
            Candidate {
                is_deleting: candidate.is_deleting || replaced.contains(&candidate.name),
                ..candidate
            }
        })
        .collect();
    let deletion = seen.set.spec.deletion.as_ref();
    let order = match deletion.and_then(|deletion| deletion.order.as_ref()) {
        Some(DeletionOrder::Newest) => Order::Newest,
        Some(DeletionOrder::Oldest) => Order::Oldest,
        Some(DeletionOrder::Random | DeletionOrder::Unrecognised(_)) | None => Order::Random,
    };
    let chosen = victims(&candidates, excess, order);
    chosen.into_iter().map(str::to_owned).collect()
}

/// The names of machines that are missing.
fn names(set: &MachineSet, machines: &[Arc<Machine>], first: u64, missing: usize) -> Vec<(u64, String)> {
    let mut taken: BTreeSet<String> = machines.iter().map(|machine| machine.name_any()).collect();
    (first..=u64::MAX)
        .take(MOST_NUMBERS)
        .map(|number| (number, name(set, number)))
        .filter(|(_, name)| taken.insert(name.clone()))
        .take(missing.min(BATCH))
        .collect()
}

/// The name of the machine with a number.
fn name(set: &MachineSet, number: u64) -> String {
    let uid = set.metadata.uid.as_deref().unwrap_or_default();
    let hash = fingerprint([uid, &number.to_string()]);
    // Two digits of the hash make one letter. The bias of the remainder does not matter: the suffix only has to differ.
    let letters = hash.as_bytes().chunks_exact(2).take(SUFFIX).map(|digits| {
        let value = digits
            .iter()
            .fold(0, |value: usize, digit| value * 16 + usize::from(*digit));
        char::from(ALPHABET[value % ALPHABET.len()])
    });
    joined(&set.name_any(), &letters.collect::<String>(), LONGEST_NAME)
}

/// The number behind those of all machines that are seen.
fn first_unused(machines: &[Arc<Machine>]) -> u64 {
    let numbers = machines
        .iter()
        .filter_map(|machine| number(ours::MACHINE_NUMBER.of(machine.as_ref())?));
    numbers.max().map_or(0, |highest| highest.saturating_add(1))
}

fn kept_mark(set: &MachineSet) -> u64 {
    ours::NEXT_MACHINE_NUMBER.of(set).and_then(number).unwrap_or_default()
}

fn number(text: &str) -> Option<u64> {
    text.parse().ok()
}

/// What a machine that exists has to be told: how patient its deletion is, and when it counts as available.
fn changed(set: &MachineSet, machine: &Machine) -> Option<(String, Value)> {
    let (template, spec) = (&set.spec.template.spec, &machine.spec);
    let mut change = Map::new();
    if template.deletion != spec.deletion {
        // A merge patch removes only what it names.
        let timeouts = template.deletion.as_ref().map(|wanted| {
            json!({
                "nodeDrainTimeoutSeconds": wanted.node_drain_timeout_seconds,
                "nodeVolumeDetachTimeoutSeconds": wanted.node_volume_detach_timeout_seconds,
                "nodeDeletionTimeoutSeconds": wanted.node_deletion_timeout_seconds,
            })
        });
        change.insert("deletion".to_owned(), json!(timeouts));
    }
    if template.min_ready_seconds != spec.min_ready_seconds {
        change.insert("minReadySeconds".to_owned(), json!(template.min_ready_seconds));
    }
    if template.readiness_gates != spec.readiness_gates {
        let gates = &template.readiness_gates;
        let gates = if gates.is_empty() { Value::Null } else { json!(gates) };
        change.insert("readinessGates".to_owned(), gates);
    }
    (!change.is_empty()).then(|| (machine.name_any(), json!({"spec": change})))
}
