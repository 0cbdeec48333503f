//! What a Deployment says of itself: counts, and the conditions Available and Progressing in upstream's words. Pure.

use jiff::Timestamp;
use k8s_openapi::api::apps::v1::{Deployment, DeploymentCondition, DeploymentStatus};

use super::{
    rollout::Bounds,
    sets::{Sets, available},
};
use crate::moment;

/// The value that means that a rollout may take for ever.
const NO_DEADLINE: i32 = i32::MAX;
/// How long a rollout may go without a step where nobody says; upstream's default.
const DEADLINE: i32 = 600;

/// The status, and when it will change by itself.
pub(super) fn status(deployment: &Deployment, sets: &Sets, now: Timestamp) -> (DeploymentStatus, Option<Timestamp>) {
    let before = deployment.status.clone().unwrap_or_default();
    let sum = |count: fn(&k8s_openapi::api::apps::v1::ReplicaSetStatus) -> i32| -> i32 {
        sets.all().filter_map(|set| set.status.as_ref().map(count)).sum()
    };
    let replicas = sum(|status| status.replicas);
    let serving = sum(|status| status.available_replicas.unwrap_or_default());
    let updated = sets
        .new
        .as_ref()
        .and_then(|set| set.status.as_ref())
        .map_or(0, |status| status.replicas);
    let mut status = DeploymentStatus {
        observed_generation: deployment.metadata.generation,
        replicas: some(replicas),
        updated_replicas: some(updated),
        ready_replicas: some(sum(|status| status.ready_replicas.unwrap_or_default())),
        available_replicas: some(serving),
        unavailable_replicas: some((replicas.max(Bounds::of(deployment).replicas) - serving).max(0)),
        terminating_replicas: Some(sum(|status| status.terminating_replicas.unwrap_or_default())),
        collision_count: before.collision_count,
        ..DeploymentStatus::default()
    };
    let mut conditions = vec![availability(deployment, sets, &before, now)];
    let mut wake = None;
    if let Some(condition) = progress(deployment, sets, &before, &status, now) {
        wake = timeout(deployment, &condition);
        conditions.push(condition);
    }
    conditions.sort_by(|left, right| left.type_.cmp(&right.type_));
    status.conditions = Some(conditions);
    (status, wake)
}

/// Zero is not written, except for pods that leave.
fn some(count: i32) -> Option<i32> {
    (count != 0).then_some(count)
}

fn found<'a>(status: &'a DeploymentStatus, type_: &str) -> Option<&'a DeploymentCondition> {
    status
        .conditions
        .iter()
        .flatten()
        .find(|condition| condition.type_ == type_)
}

/// A condition; what did not change keeps its times.
fn condition(
    before: Option<&DeploymentCondition>,
    type_: &str,
    (status, reason, message): (&str, &str, String),
    now: Timestamp,
) -> DeploymentCondition {
    let now = moment::written(now);
    if let Some(before) = before.filter(|before| {
        before.status == status && before.reason.as_deref() == Some(reason) && before.message.as_ref() == Some(&message)
    }) {
        return before.clone();
    }
    let since = before.filter(|before| before.status == status);
    DeploymentCondition {
        type_: type_.to_owned(),
        status: status.to_owned(),
        reason: Some(reason.to_owned()),
        message: Some(message),
        last_transition_time: since.map_or_else(|| Some(now.clone()), |before| before.last_transition_time.clone()),
        last_update_time: Some(now),
    }
}

fn availability(
    deployment: &Deployment,
    sets: &Sets,
    before: &DeploymentStatus,
    now: Timestamp,
) -> DeploymentCondition {
    let bounds = Bounds::of(deployment);
    let serving: i32 = sets.all().map(|set| available(set)).sum();
    let words = if serving >= bounds.replicas - bounds.unavailable {
        (
            "True",
            "MinimumReplicasAvailable",
            "Deployment has minimum availability.",
        )
    } else {
        (
            "False",
            "MinimumReplicasUnavailable",
            "Deployment does not have minimum availability.",
        )
    };
    condition(
        found(before, "Available"),
        "Available",
        (words.0, words.1, words.2.to_owned()),
        now,
    )
}

/// How the rollout goes; nothing where it has no deadline.
fn progress(
    deployment: &Deployment,
    sets: &Sets,
    before: &DeploymentStatus,
    status: &DeploymentStatus,
    now: Timestamp,
) -> Option<DeploymentCondition> {
    let spec = deployment.spec.as_ref()?;
    if spec.progress_deadline_seconds == Some(NO_DEADLINE) {
        return None;
    }
    let known = found(before, "Progressing");
    let make = |words: (&str, &str, String)| Some(condition(known, "Progressing", words, now));
    if spec.paused == Some(true) {
        return make(("Unknown", "DeploymentPaused", "Deployment is paused".to_owned()));
    }
    let name = sets.name(deployment);
    if is_complete(status, spec.replicas.unwrap_or(1)) && sets.new.is_some() {
        return make((
            "True",
            "NewReplicaSetAvailable",
            format!("ReplicaSet {name:?} has successfully progressed."),
        ));
    }
    let was_complete = known.is_some_and(|known| known.reason.as_deref() == Some("NewReplicaSetAvailable"));
    let message = known.and_then(|known| known.message.as_deref());
    let is_about_this = message.is_some_and(|text| text.contains(&format!("{name:?}")));
    // A rollout that is over stays so, even if pods come and go.
    if is_about_this && was_complete && outdated(status) == 0 {
        return known.cloned();
    }
    if !is_about_this {
        return make((
            "True",
            "NewReplicaSetCreated",
            format!("Created new replica set {name:?}"),
        ));
    }
    if has_moved(before, status) {
        let text = format!("ReplicaSet {name:?} is progressing.");
        let mut moved = condition(known, "Progressing", ("True", "ReplicaSetUpdated", text), now);
        moved.last_update_time = Some(moment::written(now));
        return Some(moved);
    }
    if timeout(deployment, known?).is_some_and(|at| at <= now) {
        let text = format!("ReplicaSet {name:?} has timed out progressing.");
        return make(("False", "ProgressDeadlineExceeded", text));
    }
    known.cloned()
}

/// Whether all pods that are wanted are there, new, and serve; and no others.
fn is_complete(status: &DeploymentStatus, wanted: i32) -> bool {
    [status.replicas, status.updated_replicas, status.available_replicas]
        .into_iter()
        .all(|counted| counted.unwrap_or_default() == wanted)
}

/// Whether the rollout has made a step.
fn has_moved(before: &DeploymentStatus, status: &DeploymentStatus) -> bool {
    outdated(status) < outdated(before)
        || status.updated_replicas.unwrap_or_default() > before.updated_replicas.unwrap_or_default()
        || status.ready_replicas.unwrap_or_default() > before.ready_replicas.unwrap_or_default()
        || status.available_replicas.unwrap_or_default() > before.available_replicas.unwrap_or_default()
}

/// How many pods are of older templates.
fn outdated(status: &DeploymentStatus) -> i32 {
    status.replicas.unwrap_or_default() - status.updated_replicas.unwrap_or_default()
}

/// When a rollout that makes no step is given up.
fn timeout(deployment: &Deployment, condition: &DeploymentCondition) -> Option<Timestamp> {
    let is_over = matches!(
        condition.reason.as_deref(),
        Some("NewReplicaSetAvailable" | "ProgressDeadlineExceeded" | "DeploymentPaused")
    );
    let seconds = deployment.spec.as_ref()?.progress_deadline_seconds.unwrap_or(DEADLINE);
    let since = condition.last_update_time.as_ref()?.0;
    (!is_over).then(|| moment::after_seconds(since, i64::from(seconds)))
}
