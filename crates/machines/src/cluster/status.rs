//! The status of a cluster, as a function of what was seen; and the one field of its spec that it lacks. Pure.
//!
//! RemoteConnectionProbe is left out: a manager that asked every API server over and over would never be at rest, and the
//! control plane is available only while its own address answers.

use hyperplane_api::{
    cluster_api::{
        cluster::{ApiEndpoint, Cluster, ClusterAvailabilityGate},
        cluster_status::{ClusterInitialization, ClusterPhase, ClusterStatus},
        common::ConditionPolarity,
    },
    constants::{ConditionType, Reason, conditions::cluster as types, reasons},
    hypershift::endpoint,
};
use hyperplane_runtime::conditions::{Observation, merge};
use jiff::Timestamp;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;

use super::dereference::{Referred, Remaining, Seen};
use crate::conditions::either;

/// The longest host that the spec takes, by its schema.
const LONGEST_HOST: usize = 512;

pub(super) fn status(seen: &Seen, now: Timestamp) -> ClusterStatus {
    let cluster = seen.cluster.as_ref();
    let steps = steps(seen);
    let mut observed = vec![
        infrastructure_ready(seen, &steps),
        control_plane_initialized(seen, &steps),
        control_plane_available(seen, &steps),
        deleting(seen),
        either(
            seen.pause.is_some(),
            types::PAUSED,
            (reasons::PAUSED, seen.pause.unwrap_or_default()),
            reasons::NOT_PAUSED,
        ),
    ];
    observed.push(available(cluster, &observed));
    let generation = cluster.metadata.generation;
    ClusterStatus {
        conditions: merge(conditions(cluster), observed, generation, now),
        phase: Some(phase(seen, &steps)),
        initialization: (steps != ClusterInitialization::default()).then_some(steps),
        observed_generation: generation,
        ..ClusterStatus::default()
    }
}

/// Where the API server is reached, if the spec does not say it, but somebody else does. As with Cluster API it is written
/// once, and stays.
pub(super) fn missing_endpoint(seen: &Seen) -> Option<ApiEndpoint> {
    let is_left_alone = seen.pause.is_some() || seen.is_leaving();
    if is_left_alone || has_endpoint(&seen.cluster) {
        return None;
    }
    let infrastructure = seen.infrastructure.get().and_then(|found| found.endpoint.as_ref());
    let control_plane = seen.control_plane.get().and_then(|found| found.endpoint.as_ref());
    [infrastructure, control_plane]
        .into_iter()
        .flatten()
        .find(|endpoint| is_writable(endpoint))
        .map(|endpoint| ApiEndpoint {
            host: Some(endpoint.host.clone()),
            port: Some(endpoint.port),
        })
}

fn has_endpoint(cluster: &Cluster) -> bool {
    let endpoint = cluster.spec.control_plane_endpoint.as_ref();
    endpoint.is_some_and(|endpoint| endpoint.host.is_some() && endpoint.port.is_some())
}

/// Whether the spec of a cluster takes an endpoint.
fn is_writable(endpoint: &endpoint::ApiEndpoint) -> bool {
    let is_host = (1..=LONGEST_HOST).contains(&endpoint.host.chars().count());
    is_host && u16::try_from(endpoint.port).is_ok_and(|port| port > 0)
}

/// The steps that are done. What was done once stays so: who waits for a step must not stop in the middle of its work.
fn steps(seen: &Seen) -> ClusterInitialization {
    let before = seen.cluster.status.as_ref();
    let before = before
        .and_then(|status| status.initialization.clone())
        .unwrap_or_default();
    let is_provisioned = seen.infrastructure.get().is_some_and(|found| found.is_provisioned);
    let is_initialized = seen.control_plane.get().is_some_and(|found| found.has_served);
    let done = |before: Option<bool>, now: bool| (before == Some(true) || now).then_some(true);
    ClusterInitialization {
        infrastructure_provisioned: done(before.infrastructure_provisioned, is_provisioned),
        control_plane_initialized: done(before.control_plane_initialized, is_initialized),
    }
}

fn infrastructure_ready(seen: &Seen, steps: &ClusterInitialization) -> Observation {
    let type_ = types::INFRASTRUCTURE_READY;
    match &seen.infrastructure {
        Referred::Missing(why) => missing(type_, steps.infrastructure_provisioned, why),
        Referred::Present(found) if found.is_provisioned => {
            Observation::holds(type_.as_str(), reasons::READY.as_str(), "")
        }
        Referred::Present(_) => {
            let message = "the provider does not say that it is provisioned";
            Observation::fails(type_.as_str(), reasons::NOT_READY.as_str(), message)
        }
    }
}

fn control_plane_initialized(seen: &Seen, steps: &ClusterInitialization) -> Observation {
    let type_ = types::CONTROL_PLANE_INITIALIZED;
    match &seen.control_plane {
        _ if steps.control_plane_initialized == Some(true) => {
            Observation::holds(type_.as_str(), reasons::INITIALIZED.as_str(), "")
        }
        Referred::Missing(why) => missing(type_, None, why),
        Referred::Present(_) => {
            let message = "the control plane has not served yet";
            Observation::fails(type_.as_str(), reasons::NOT_INITIALIZED.as_str(), message)
        }
    }
}

/// What the control plane says of itself.
fn control_plane_available(seen: &Seen, steps: &ClusterInitialization) -> Observation {
    let type_ = types::CONTROL_PLANE_AVAILABLE;
    let said = match &seen.control_plane {
        Referred::Missing(why) => return missing(type_, steps.control_plane_initialized, why),
        Referred::Present(control_plane) => &control_plane.available,
    };
    let Some(said) = said else {
        let message = "the control plane does not say whether it is available";
        return Observation::unknown(type_.as_str(), reasons::AVAILABLE_UNKNOWN.as_str(), message);
    };
    Observation {
        status: verdict(said),
        ..Observation::holds(type_.as_str(), &*said.reason, &*said.message)
    }
}

/// A condition that cannot hold because an object is not there.
fn missing(type_: ConditionType, was_there: Option<bool>, why: &str) -> Observation {
    let reason = if was_there == Some(true) {
        reasons::OBJECT_DELETED
    } else {
        reasons::OBJECT_DOES_NOT_EXIST
    };
    Observation::fails(type_.as_str(), reason.as_str(), why)
}

fn deleting(seen: &Seen) -> Observation {
    let Remaining {
        deployments,
        sets,
        machines,
    } = seen.remaining;
    let left = format!("{deployments} machine deployments, {sets} machine sets and {machines} machines are left");
    let yes: (Reason, &str) = if seen.remaining.is_empty() {
        (reasons::DELETION_COMPLETED, "")
    } else {
        (reasons::WAITING_FOR_WORKERS_DELETION, &left)
    };
    either(seen.is_leaving(), types::DELETING, yes, reasons::NOT_DELETING)
}

/// Whether the cluster can be used: everything is good without which it could not, and whatever its owner added.
fn available(cluster: &Cluster, observed: &[Observation]) -> Observation {
    let needed = [
        (types::INFRASTRUCTURE_READY, true),
        (types::CONTROL_PLANE_AVAILABLE, true),
        (types::DELETING, false),
    ];
    let needed = needed.map(|(type_, good)| (type_.as_str(), good));
    let gates = cluster.spec.availability_gates.iter().map(gate);
    let mut is_bad = false;
    let mut problems: Vec<String> = Vec::new();
    for (type_, good) in needed.into_iter().chain(gates) {
        let (status, message) = said(cluster, observed, type_);
        if status != Some(good) {
            is_bad |= status.is_some();
            problems.push(format!("{type_}: {message}"));
        }
    }
    let type_ = types::AVAILABLE.as_str();
    if problems.is_empty() {
        Observation::holds(type_, reasons::AVAILABLE.as_str(), "")
    } else if is_bad {
        Observation::fails(type_, reasons::NOT_AVAILABLE.as_str(), problems.join("; "))
    } else {
        Observation::unknown(type_, reasons::AVAILABLE_UNKNOWN.as_str(), problems.join("; "))
    }
}

/// The type of a condition that others report, and which status of it is the good one.
fn gate(gate: &ClusterAvailabilityGate) -> (&str, bool) {
    let is_negative = gate.polarity == Some(ConditionPolarity::Negative);
    (gate.condition_type.as_str(), !is_negative)
}

/// What is said under a type: by us just now, or by others before.
fn said(cluster: &Cluster, observed: &[Observation], type_: &str) -> (Option<bool>, String) {
    let words = |reason: &str, message: &str| {
        let shown = if message.is_empty() { reason } else { message };
        shown.to_owned()
    };
    if let Some(found) = observed.iter().find(|observation| observation.type_ == type_) {
        return (found.status, words(&found.reason, &found.message));
    }
    match find(conditions(cluster), type_) {
        Some(found) => (verdict(found), words(&found.reason, &found.message)),
        None => (None, "nobody has reported it".to_owned()),
    }
}

fn phase(seen: &Seen, steps: &ClusterInitialization) -> ClusterPhase {
    let spec = &seen.cluster.spec;
    if seen.is_leaving() {
        ClusterPhase::Deleting
    } else if steps.infrastructure_provisioned == Some(true) && has_endpoint(&seen.cluster) {
        ClusterPhase::Provisioned
    } else if spec.infrastructure_ref.is_some() || spec.control_plane_ref.is_some() {
        ClusterPhase::Provisioning
    } else {
        ClusterPhase::Pending
    }
}

fn conditions(cluster: &Cluster) -> &[Condition] {
    let status = cluster.status.as_ref();
    status.map(|status| &*status.conditions).unwrap_or_default()
}

fn find<'a>(conditions: &'a [Condition], type_: &str) -> Option<&'a Condition> {
    conditions.iter().find(|condition| condition.type_ == type_)
}

fn verdict(condition: &Condition) -> Option<bool> {
    match condition.status.as_str() {
        "True" => Some(true),
        "False" => Some(false),
        _ => None,
    }
}
