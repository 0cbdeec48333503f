//! Jobs: pods that run to their end, so many times. Owns counting, retries and the conditions at the end.

use std::{sync::Arc, time::Duration};

use hyperplane_runtime::{Context, Failure, Next, ObjectKey, Reconciler, Store};
use jiff::Timestamp;
use k8s_openapi::api::{
    batch::v1::{Job, JobCondition, JobStatus, UncountedTerminatedPods},
    core::v1::Pod,
};
use kube::{Resource, ResourceExt};

use crate::{moment, names, number::count, pods, write};

/// Failures that are borne where nobody says; upstream's.
const BACKOFF_LIMIT: i32 = 6;
/// The pause after the first failure, doubled with each further one.
const PAUSE: Duration = Duration::from_secs(10);
/// The longest pause.
const LONGEST_PAUSE: Duration = Duration::from_mins(10);

/// Drives Jobs.
pub(crate) struct Jobs {
    /// Every pod.
    pub(crate) pods: Store<Pod>,
}

impl Reconciler for Jobs {
    type Object = Job;

    async fn reconcile(&self, context: &Context, job: Arc<Job>) -> Result<Next, Failure> {
        let namespace = job.namespace().unwrap_or_default();
        let owned = pods::owned(self.pods.namespace(&namespace).all(), job.uid().as_deref());
        let now = context.now();
        let decision = decide(&job, &owned, now);
        if decision.is_over {
            context.delete(job.as_ref()).await?;
            return Ok(Next::OnChange);
        }
        for pod in &decision.create {
            write::create(context, pod).await?;
        }
        for pod in &decision.delete {
            context.delete(pod.as_ref()).await?;
        }
        context.apply_status(job.as_ref(), &decision.status).await?;
        Ok(decision
            .wake
            .map_or(Next::OnChange, |at| Next::After(moment::until(at, now))))
    }
}

#[derive(Default)]
struct Decision {
    create: Vec<Pod>,
    delete: Vec<Arc<Pod>>,
    status: JobStatus,
    /// Whether the Job itself goes.
    is_over: bool,
    wake: Option<Timestamp>,
}

/// Whether a Job has come to one of its ends.
pub(crate) fn is_finished(job: &Job) -> bool {
    let conditions = job.status.as_ref().and_then(|status| status.conditions.as_ref());
    conditions
        .into_iter()
        .flatten()
        .any(|condition| matches!(condition.type_.as_str(), "Complete" | "Failed") && condition.status == "True")
}

fn decide(job: &Job, owned: &[Arc<Pod>], now: Timestamp) -> Decision {
    if is_finished(job) {
        return finished(job, owned, now);
    }
    let spec = job.spec.clone().unwrap_or_default();
    let before = job.status.clone().unwrap_or_default();
    let many = |phase: &str| count(owned.iter().filter(|pod| pods::phase(pod) == phase).count());
    let active: Vec<&Arc<Pod>> = owned.iter().filter(|pod| pods::is_active(pod)).collect();
    let is_suspended = spec.suspend == Some(true);
    let start = before
        .start_time
        .clone()
        .or_else(|| (!is_suspended).then(|| moment::written(now)));
    // Pods that are gone were counted while they were there.
    let succeeded = many("Succeeded").max(before.succeeded.unwrap_or_default());
    let failed = many("Failed").max(before.failed.unwrap_or_default());
    let mut decision = Decision::default();
    let deadline = spec
        .active_deadline_seconds
        .and_then(|seconds| Some(moment::after_seconds(start.as_ref()?.0, seconds)));
    let end = end(
        &spec,
        (succeeded, failed, active.len()),
        deadline.is_some_and(|at| at <= now),
    );
    if end.is_some() || is_suspended {
        decision.delete = active.iter().map(|pod| Arc::clone(pod)).collect();
    } else {
        let (wanted, wake) = wanted(&spec, owned, (succeeded, failed), now);
        decision.wake = moment::sooner(wake, deadline);
        decision.create = missing(job, owned, active.len(), wanted);
    }
    decision.status = JobStatus {
        start_time: start,
        active: Some(count(active.len())).filter(|many| *many > 0 && end.is_none()),
        ready: Some(count(active.iter().filter(|pod| pods::is_ready(pod)).count())),
        terminating: Some(count(
            owned
                .iter()
                .filter(|pod| pods::is_terminating(pod) && !pods::is_over(pod))
                .count(),
        )),
        succeeded: Some(succeeded).filter(|many| *many > 0),
        failed: Some(failed).filter(|many| *many > 0),
        uncounted_terminated_pods: Some(UncountedTerminatedPods::default()),
        completion_time: end.as_ref().filter(|end| end.is_success).map(|_| moment::written(now)),
        conditions: end.map(|end| end.conditions(now)).or(before.conditions),
        ..JobStatus::default()
    };
    decision
}

/// A Job that is done keeps its status, and goes when its time has come.
fn finished(job: &Job, owned: &[Arc<Pod>], now: Timestamp) -> Decision {
    let status = job.status.clone().unwrap_or_default();
    let ended = status
        .conditions
        .iter()
        .flatten()
        .filter_map(|condition| condition.last_transition_time.clone())
        .max();
    let seconds = job.spec.as_ref().and_then(|spec| spec.ttl_seconds_after_finished);
    let end = seconds.and_then(|seconds| Some(moment::after_seconds(ended?.0, i64::from(seconds))));
    Decision {
        delete: owned.iter().filter(|pod| pods::is_active(pod)).cloned().collect(),
        is_over: end.is_some_and(|end| end <= now),
        wake: end,
        status,
        ..Decision::default()
    }
}

struct End {
    is_success: bool,
    reason: &'static str,
    message: &'static str,
}

impl End {
    fn conditions(&self, now: Timestamp) -> Vec<JobCondition> {
        let types = if self.is_success {
            ["SuccessCriteriaMet", "Complete"]
        } else {
            ["FailureTarget", "Failed"]
        };
        let make = |type_: &str| JobCondition {
            type_: type_.to_owned(),
            status: "True".to_owned(),
            reason: Some(self.reason.to_owned()),
            message: Some(self.message.to_owned()),
            last_probe_time: Some(moment::written(now)),
            last_transition_time: Some(moment::written(now)),
        };
        types.into_iter().map(make).collect()
    }
}

fn end(
    spec: &k8s_openapi::api::batch::v1::JobSpec,
    (succeeded, failed, active): (i32, i32, usize),
    is_late: bool,
) -> Option<End> {
    let is_complete = match spec.completions {
        Some(completions) => succeeded >= completions,
        None => succeeded > 0 && active == 0,
    };
    if is_complete {
        return Some(End {
            is_success: true,
            reason: "CompletionsReached",
            message: "Reached expected number of succeeded pods",
        });
    }
    if failed > spec.backoff_limit.unwrap_or(BACKOFF_LIMIT) {
        return Some(End {
            is_success: false,
            reason: "BackoffLimitExceeded",
            message: "Job has reached the specified backoff limit",
        });
    }
    is_late.then_some(End {
        is_success: false,
        reason: "DeadlineExceeded",
        message: "Job was active longer than specified deadline",
    })
}

/// How many pods there should be now, and when there should be more.
fn wanted(
    spec: &k8s_openapi::api::batch::v1::JobSpec,
    owned: &[Arc<Pod>],
    (succeeded, failed): (i32, i32),
    now: Timestamp,
) -> (i32, Option<Timestamp>) {
    let parallelism = spec.parallelism.unwrap_or(1);
    let wanted = match spec.completions {
        Some(completions) => parallelism.min(completions - succeeded),
        None if succeeded > 0 => 0,
        None => parallelism,
    };
    let last = owned
        .iter()
        .filter(|pod| pods::phase(pod) == "Failed")
        .filter_map(|pod| ended(pod))
        .max();
    let doubled = PAUSE * 2_u32.saturating_pow(u32::try_from(failed - 1).unwrap_or_default());
    let pause = doubled.min(LONGEST_PAUSE);
    match last.map(|last| moment::after(last, pause)).filter(|at| *at > now) {
        Some(at) => (0, Some(at)),
        None => (wanted, None),
    }
}

fn ended(pod: &Pod) -> Option<Timestamp> {
    let statuses = pod.status.as_ref()?.container_statuses.as_ref()?;
    let ends = statuses
        .iter()
        .filter_map(|status| status.state.as_ref()?.terminated.as_ref()?.finished_at.as_ref());
    ends.map(|time| time.0).max()
}

/// The pods that are to be made. Names are numbered, so that each is made once.
fn missing(job: &Job, owned: &[Arc<Pod>], active: usize, wanted: i32) -> Vec<Pod> {
    let Some(spec) = &job.spec else { return Vec::new() };
    let many = usize::try_from(wanted).unwrap_or_default().saturating_sub(active);
    let (prefix, uid) = (job.name_any(), job.uid().unwrap_or_default());
    let sequence = (0_u64..).map(|number| names::named(&prefix, &format!("{uid}/{number}")));
    let free = sequence.filter(|name| owned.iter().all(|pod| pod.name_any() != *name));
    free.take(many)
        .map(|name| {
            let key = ObjectKey::namespaced(job.namespace().unwrap_or_default(), name);
            write::pod_of(&spec.template, key, job.controller_owner_ref(&()))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const NOW: &str = "2026-01-02T03:04:05Z";

    fn job(completions: i32, parallelism: i32, limit: i32) -> Job {
        hyperplane_objects::read(json!({
            "metadata": {"name": "j", "namespace": "n", "uid": "u"},
            "spec": {"completions": completions, "parallelism": parallelism, "backoffLimit": limit,
                "template": {"spec": {"restartPolicy": "Never", "containers": [{"name": "c"}]}}},
        }))
        .unwrap()
    }

    fn ended_pod(name: &str, phase: &str, at: &str) -> Arc<Pod> {
        let state = json!({"terminated": {"exitCode": 1, "finishedAt": at}});
        let pod = json!({"metadata": {"name": name}, "status": {"phase": phase, "containerStatuses": [
            {"name": "c", "image": "", "imageID": "", "ready": false, "restartCount": 0, "state": state}]}});
        Arc::new(hyperplane_objects::read(&pod).unwrap())
    }

    fn run(job: &Job, pods: &[Arc<Pod>]) -> Decision {
        decide(job, pods, NOW.parse().unwrap())
    }

    #[test]
    fn so_many_at_a_time_until_all_are_done() {
        assert_eq!(run(&job(3, 2, 6), &[]).create.len(), 2);
        let done = ["a", "b"].map(|name| ended_pod(name, "Succeeded", "2026-01-02T03:00:00Z"));
        assert_eq!(run(&job(3, 2, 6), &done).create.len(), 1);
        let decision = run(&job(2, 2, 6), &done);
        let types: Vec<String> = decision
            .status
            .conditions
            .unwrap()
            .into_iter()
            .map(|condition| condition.type_)
            .collect();
        assert_eq!(types, ["SuccessCriteriaMet", "Complete"]);
        assert!(decision.create.is_empty());
    }

    #[test]
    fn failures_are_retried_with_pauses_and_not_for_ever() {
        let failed = [ended_pod("a", "Failed", "2026-01-02T03:04:00Z")];
        let decision = run(&job(1, 1, 1), &failed);
        assert!(decision.create.is_empty());
        assert_eq!(decision.wake, Some("2026-01-02T03:04:10Z".parse().unwrap()));
        let failed = [ended_pod("a", "Failed", NOW), ended_pod("b", "Failed", NOW)];
        let conditions = run(&job(1, 1, 1), &failed).status.conditions.unwrap();
        assert_eq!(conditions[1].reason.as_deref(), Some("BackoffLimitExceeded"));
    }
}
