//! How far one component has come, told from its live workload.

#[cfg(test)]
mod tests;

use hyperplane_api::{
    constants::{Reason, annotations, reasons},
    hypershift::control_plane_component::ControlPlaneComponentStatus,
};
use k8s_openapi::api::{
    apps::v1::{Deployment, StatefulSet},
    batch::v1::Job,
};

use crate::{
    component::Component,
    decide::{Decision, Rendered},
    defaults, dependencies,
    inputs::Inputs,
    manifest::{ObjectName, Workload},
};

/// The most objects that a report lists, as its schema has it.
const MOST_RESOURCES: usize = 100;

/// The state of one aspect. The time of its last transition is added by whoever stores it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Judgement {
    /// Whether it holds.
    pub holds: bool,
    /// Why, in one word.
    pub reason: &'static str,
    /// Why, in a sentence.
    pub message: String,
}

impl Judgement {
    pub(crate) fn new(holds: bool, reason: Reason, message: impl Into<String>) -> Self {
        Self {
            holds,
            reason: reason.as_str(),
            message: message.into(),
        }
    }
}

/// How far a component has come.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ComponentReport {
    /// Whether it serves.
    pub available: Judgement,
    /// Whether every replica runs what is asked for.
    pub rollout_complete: Judgement,
    /// The version that runs everywhere.
    pub version: Option<String>,
    /// Everything that was written for it.
    pub resources: Vec<ObjectName>,
}

/// The report on a component, after its decision was carried out.
///
/// `live` is the workload as the server has it after that, `before` the last report, and `error` what went wrong while
/// the decision was carried out.
pub fn report(
    component: &Component,
    inputs: &Inputs<'_>,
    decision: &Decision,
    live: Option<&Workload>,
    before: Option<&ControlPlaneComponentStatus>,
    error: Option<&str>,
) -> ComponentReport {
    let mut rollout_complete = match (error, decision) {
        (Some(error), _) => Judgement::new(false, reasons::RECONCILIATION_ERROR, error),
        (None, Decision::Waiting(missing)) => {
            let message = format!("Waiting: {}", missing.join("; "));
            Judgement::new(false, reasons::WAITING_FOR_DEPENDENCIES, message)
        }
        (None, Decision::Absent(_)) => Judgement::new(
            false,
            reasons::NOT_FOUND,
            "This control plane does not have the component",
        ),
        (None, Decision::Apply(rendered)) => rollout(rendered, live),
    };
    let version = if rollout_complete.holds {
        Some(inputs.desired_version().to_owned())
    } else {
        before.and_then(|before| before.version.clone())
    };
    for note in notes(component, inputs, decision) {
        rollout_complete.message.push_str(". ");
        rollout_complete.message.push_str(&note);
    }
    ComponentReport {
        available: live.map_or_else(|| missing(component), available),
        rollout_complete,
        version,
        resources: resources(decision, before),
    }
}

/// What is left out of what was asked for, and what is not waited for.
fn notes(component: &Component, inputs: &Inputs<'_>, decision: &Decision) -> Vec<String> {
    let rendered = match decision {
        Decision::Apply(rendered) => Some(&rendered.workload),
        Decision::Absent(_) => return Vec::new(),
        Decision::Waiting(_) => None,
    };
    let mut ignored = defaults::request_problems(Some(component), inputs, rendered);
    ignored.extend((component.warnings)(inputs));
    let mut notes: Vec<String> = ignored
        .into_iter()
        .map(|problem| format!("Ignored: {problem}"))
        .collect();
    let dropped = dependencies::of(component, inputs).dropped;
    if !dropped.is_empty() {
        notes.push(format!(
            "Not waited for, as this control plane does not have it: {}",
            dropped.join(", ")
        ));
    }
    notes
}

/// What was written; while the component waits, what was written before.
fn resources(decision: &Decision, before: Option<&ControlPlaneComponentStatus>) -> Vec<ObjectName> {
    match decision {
        Decision::Apply(rendered) => {
            let others = rendered.manifests.iter().map(crate::manifest::Manifest::object_name);
            let mut all: Vec<ObjectName> = others.chain([rendered.workload.object_name()]).collect();
            all.truncate(MOST_RESOURCES);
            all
        }
        Decision::Absent(_) => Vec::new(),
        Decision::Waiting(_) => {
            let before = before.map(|before| before.resources.as_slice()).unwrap_or_default();
            before.iter().filter_map(ObjectName::of_report).collect()
        }
    }
}

fn missing(component: &Component) -> Judgement {
    let message = format!("The workload {} does not exist", component.name);
    Judgement::new(false, reasons::NOT_FOUND, message)
}

/// Whether a live workload serves.
fn available(live: &Workload) -> Judgement {
    match live {
        Workload::Deployment(deployment) => deployment_available(deployment),
        Workload::StatefulSet(set) => stateful_set_available(set),
        Workload::Job(job) => job_available(job),
        Workload::CronJob(_) => Judgement::new(true, reasons::AS_EXPECTED, "The CronJob exists"),
    }
}

fn deployment_available(deployment: &Deployment) -> Judgement {
    let conditions = deployment.status.as_ref().and_then(|status| status.conditions.as_ref());
    let condition = conditions.into_iter().flatten().find(|one| one.type_ == "Available");
    match condition {
        Some(condition) if condition.status == "True" => {
            Judgement::new(true, reasons::AS_EXPECTED, "The Deployment is available")
        }
        Some(condition) => {
            let message = condition
                .message
                .clone()
                .unwrap_or_else(|| "The Deployment is not available".to_owned());
            Judgement::new(false, reasons::WAITING_FOR_AVAILABLE, message)
        }
        None => Judgement::new(
            false,
            reasons::WAITING_FOR_AVAILABLE,
            "The Deployment has not been started yet",
        ),
    }
}

/// Stricter than HyperShift, which is content with one replica: what holds data serves only with most of its members.
fn stateful_set_available(set: &StatefulSet) -> Judgement {
    let wanted = set.spec.as_ref().and_then(|spec| spec.replicas).unwrap_or(1);
    let ready = set
        .status
        .as_ref()
        .and_then(|status| status.ready_replicas)
        .unwrap_or_default();
    let quorum = wanted / 2 + 1;
    let message = format!("{ready} of {wanted} members are ready, and {quorum} are needed");
    if wanted == 0 || ready >= quorum {
        Judgement::new(true, reasons::AS_EXPECTED, message)
    } else {
        Judgement::new(false, reasons::WAITING_FOR_AVAILABLE, message)
    }
}

fn job_available(job: &Job) -> Judgement {
    match job_condition(job, "Failed") {
        Some(message) => Judgement::new(false, reasons::JOB_FAILED, message),
        None if job_condition(job, "Complete").is_some() => {
            Judgement::new(true, reasons::JOB_COMPLETE, "The Job has succeeded")
        }
        None => Judgement::new(true, reasons::JOB_ACTIVE, "The Job runs"),
    }
}

fn job_condition(job: &Job, condition: &str) -> Option<String> {
    let conditions = job.status.as_ref()?.conditions.as_ref()?;
    let found = conditions
        .iter()
        .find(|one| one.type_ == condition && one.status == "True")?;
    Some(
        found
            .message
            .clone()
            .unwrap_or_else(|| format!("The Job is {}", condition.to_lowercase())),
    )
}

/// Whether every replica of a live workload runs what was rendered.
fn rollout(rendered: &Rendered, live: Option<&Workload>) -> Judgement {
    let problem = match live {
        None => Some("The workload does not exist yet".to_owned()),
        Some(live) if !is_same(&rendered.workload, live) => {
            Some("What was written last has not been seen yet".to_owned())
        }
        Some(Workload::Deployment(deployment)) => deployment_rollout(deployment),
        Some(Workload::StatefulSet(set)) => stateful_set_rollout(set),
        Some(Workload::Job(job)) => match job_condition(job, "Failed") {
            Some(message) => return Judgement::new(false, reasons::JOB_FAILED, message),
            None => job_condition(job, "Complete")
                .is_none()
                .then(|| "The Job runs".to_owned()),
        },
        Some(Workload::CronJob(_)) => None,
    };
    match problem {
        Some(problem) => Judgement::new(false, reasons::WAITING_FOR_ROLLOUT_COMPLETE, problem),
        None => Judgement::new(true, reasons::AS_EXPECTED, "All replicas run what is asked for"),
    }
}

/// Whether a live workload is what was rendered: a cache may still hold the one before.
fn is_same(rendered: &Workload, live: &Workload) -> bool {
    let hash = |workload: &Workload| {
        let of_workload = workload.meta().annotations.as_ref()?;
        of_workload.get(annotations::DESIRED_STATE_HASH.as_str()).cloned()
    };
    hash(rendered) == hash(live)
}

/// Whether every replica of a live Deployment runs what it says, and none of those before is still about to end.
pub(crate) fn is_rolled_out(live: &Workload) -> bool {
    let Workload::Deployment(deployment) = live else {
        return false;
    };
    // Only newer clusters count what is ending; elsewhere such a replica gets no new requests at least.
    let ending = deployment
        .status
        .as_ref()
        .and_then(|status| status.terminating_replicas);
    deployment_rollout(deployment).is_none() && ending.unwrap_or_default() == 0
}

fn deployment_rollout(deployment: &Deployment) -> Option<String> {
    let status = deployment.status.clone().unwrap_or_default();
    let wanted = deployment.spec.as_ref().and_then(|spec| spec.replicas).unwrap_or(1);
    if status.observed_generation != deployment.metadata.generation {
        return Some("The Deployment has not been looked at since it changed".to_owned());
    }
    let counts = [
        ("updated", status.updated_replicas.unwrap_or_default()),
        ("available", status.available_replicas.unwrap_or_default()),
    ];
    if let Some((word, count)) = counts.into_iter().find(|(_, count)| *count != wanted) {
        return Some(format!("{count} of {wanted} replicas are {word}"));
    }
    let all = status.replicas.unwrap_or_default();
    if all != wanted {
        return Some(format!("{} old replicas are still there", all.saturating_sub(wanted)));
    }
    let unavailable = status.unavailable_replicas.unwrap_or_default();
    (unavailable > 0).then(|| format!("{unavailable} replicas are not available"))
}

fn stateful_set_rollout(set: &StatefulSet) -> Option<String> {
    let status = set.status.clone().unwrap_or_default();
    let wanted = set.spec.as_ref().and_then(|spec| spec.replicas).unwrap_or(1);
    if status.observed_generation != set.metadata.generation {
        return Some("The StatefulSet has not been looked at since it changed".to_owned());
    }
    let ready = status.ready_replicas.unwrap_or_default();
    if ready != wanted {
        return Some(format!("{ready} of {wanted} members are ready"));
    }
    let is_current = status.update_revision == status.current_revision;
    (!is_current).then(|| {
        let updated = status.updated_replicas.unwrap_or_default();
        format!("{updated} of {wanted} members are updated")
    })
}
