//! CronJobs: a Job whenever the schedule says so. Owns which Job is due and which are forgotten; times are UTC,
//! whatever zone is asked for.

use std::sync::Arc;

use hyperplane_runtime::{Context, EventType, Failure, Next, Reconciler, Store};
use jiff::Timestamp;
use k8s_openapi::{
    api::{
        batch::v1::{CronJob, CronJobStatus, Job},
        core::v1::ObjectReference,
    },
    apimachinery::pkg::apis::meta::v1::ObjectMeta,
};
use kube::{Resource, ResourceExt};

use super::{job::is_finished, schedule::Schedule};
use crate::{moment, pods, write};

/// Moments that were missed and are looked through at most; upstream gives up at the same number.
const MISSED: usize = 100;
/// How many Jobs are kept at each end where nobody says; upstream's.
const SUCCEEDED: i32 = 3;
const FAILED: i32 = 1;

/// Drives CronJobs.
pub(crate) struct CronJobs {
    /// Every Job.
    pub(crate) jobs: Store<Job>,
}

impl Reconciler for CronJobs {
    type Object = CronJob;

    async fn reconcile(&self, context: &Context, cron: Arc<CronJob>) -> Result<Next, Failure> {
        let namespace = cron.namespace().unwrap_or_default();
        let owned = pods::owned(self.jobs.namespace(&namespace).all(), cron.uid().as_deref());
        let now = context.now();
        let schedule = match Schedule::parse(&cron.spec.schedule) {
            Ok(schedule) => schedule,
            Err(error) => {
                context.event(EventType::Warning, "UnparseableSchedule", error.to_string());
                return Ok(Next::OnChange);
            }
        };
        let decision = decide(&cron, &schedule, &owned, now);
        for job in decision.delete {
            context.delete(job.as_ref()).await?;
        }
        if let Some(job) = &decision.create {
            write::create(context, job).await?;
        }
        context.apply_status(cron.as_ref(), &decision.status).await?;
        Ok(decision
            .wake
            .map_or(Next::OnChange, |at| Next::After(moment::until(at, now))))
    }
}

struct Decision {
    create: Option<Job>,
    delete: Vec<Arc<Job>>,
    status: CronJobStatus,
    wake: Option<Timestamp>,
}

fn decide(cron: &CronJob, schedule: &Schedule, owned: &[Arc<Job>], now: Timestamp) -> Decision {
    let spec = cron.spec.clone();
    let mut status = cron.status.clone().unwrap_or_default();
    let active: Vec<&Arc<Job>> = owned.iter().filter(|job| !is_finished(job)).collect();
    let mut delete = superfluous(&spec, owned);
    let mut create = None;
    let due = due(cron, schedule, spec.starting_deadline_seconds, now);
    if let Some(at) = due.filter(|_| spec.suspend != Some(true)) {
        let policy = spec.concurrency_policy.as_deref().unwrap_or("Allow");
        if policy != "Forbid" || active.is_empty() {
            if policy == "Replace" {
                delete.extend(active.iter().map(|job| Arc::clone(job)));
            }
            create = Some(build(cron, at));
            status.last_schedule_time = Some(moment::written(at));
        }
    }
    status.active = Some(active.iter().map(|job| reference(job)).collect::<Vec<_>>()).filter(|jobs| !jobs.is_empty());
    let successes = owned
        .iter()
        .filter_map(|job| job.status.as_ref()?.completion_time.clone());
    status.last_successful_time = successes.max().or(status.last_successful_time);
    Decision {
        create,
        delete,
        status,
        wake: schedule.next(now).filter(|_| spec.suspend != Some(true)),
    }
}

/// The last moment that has come and for which nothing was made yet.
fn due(cron: &CronJob, schedule: &Schedule, deadline: Option<i64>, now: Timestamp) -> Option<Timestamp> {
    let last = cron
        .status
        .as_ref()
        .and_then(|status| status.last_schedule_time.as_ref());
    let from = last.map_or_else(|| pods::created(cron), |last| last.0);
    let from = deadline.map_or(from, |seconds| from.max(moment::after_seconds(now, -seconds)));
    let mut due = None;
    let mut moment = from;
    for _ in 0..MISSED {
        match schedule.next(moment).filter(|next| *next <= now) {
            None => return due,
            Some(next) => {
                due = Some(next);
                moment = next;
            }
        }
    }
    due
}

/// The Job of a moment; its name says which, so that it is made once.
fn build(cron: &CronJob, at: Timestamp) -> Job {
    let template = cron.spec.clone().job_template;
    let given = template.metadata.unwrap_or_default();
    Job {
        metadata: ObjectMeta {
            name: Some(format!("{}-{}", cron.name_any(), at.as_second() / 60)),
            namespace: cron.namespace(),
            labels: given.labels,
            annotations: given.annotations,
            owner_references: cron.controller_owner_ref(&()).map(|owner| vec![owner]),
            ..ObjectMeta::default()
        },
        spec: template.spec,
        status: None,
    }
}

fn reference(job: &Job) -> ObjectReference {
    ObjectReference {
        api_version: Some("batch/v1".to_owned()),
        kind: Some("Job".to_owned()),
        name: Some(job.name_any()),
        namespace: job.namespace(),
        uid: job.uid(),
        ..ObjectReference::default()
    }
}

/// Jobs at either end beyond what is kept, the oldest first.
fn superfluous(spec: &k8s_openapi::api::batch::v1::CronJobSpec, owned: &[Arc<Job>]) -> Vec<Arc<Job>> {
    let has_succeeded = |job: &Job| {
        job.status
            .as_ref()
            .is_some_and(|status| status.completion_time.is_some())
    };
    let (succeeded, failed): (Vec<_>, Vec<_>) = owned
        .iter()
        .filter(|job| is_finished(job))
        .partition(|job| has_succeeded(job));
    let oldest = |mut jobs: Vec<&Arc<Job>>, kept: i32| {
        jobs.sort_by_key(|job| (pods::created(job.as_ref()), job.name_any()));
        let many = jobs.len().saturating_sub(usize::try_from(kept).unwrap_or_default());
        jobs.into_iter().take(many).cloned().collect::<Vec<_>>()
    };
    let mut jobs = oldest(succeeded, spec.successful_jobs_history_limit.unwrap_or(SUCCEEDED));
    jobs.extend(oldest(failed, spec.failed_jobs_history_limit.unwrap_or(FAILED)));
    jobs
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn cron(policy: &str) -> CronJob {
        hyperplane_objects::read(json!({
            "metadata": {"name": "c", "namespace": "n", "uid": "u", "creationTimestamp": "2026-01-02T03:00:00Z"},
            "spec": {"schedule": "*/10 * * * *", "concurrencyPolicy": policy, "jobTemplate": {"spec": {"template": {}}}},
        }))
        .unwrap()
    }

    fn run(cron: &CronJob, owned: &[Arc<Job>], now: &str) -> Decision {
        decide(
            cron,
            &Schedule::parse("*/10 * * * *").unwrap(),
            owned,
            now.parse().unwrap(),
        )
    }

    #[test]
    fn a_job_is_made_once_for_its_moment() {
        let mut cron = cron("Allow");
        assert!(run(&cron, &[], "2026-01-02T03:09:59Z").create.is_none());
        let decision = run(&cron, &[], "2026-01-02T03:25:00Z");
        assert_eq!(decision.create.as_ref().unwrap().name_any(), "c-29455400");
        cron.status = Some(decision.status);
        assert!(run(&cron, &[], "2026-01-02T03:25:01Z").create.is_none());
    }

    #[test]
    fn a_job_that_still_runs_is_in_the_way_if_that_is_asked_for() {
        let running: Arc<Job> = Arc::new(hyperplane_objects::read(json!({"metadata": {"name": "old"}})).unwrap());
        for (policy, creates, deletes) in [("Allow", true, 0), ("Forbid", false, 0), ("Replace", true, 1)] {
            let decision = run(&cron(policy), &[Arc::clone(&running)], "2026-01-02T03:10:00Z");
            assert_eq!(
                (decision.create.is_some(), decision.delete.len()),
                (creates, deletes),
                "{policy}"
            );
        }
    }
}
