//! Members of etcd that keep failing while the others have a quorum: whether one is to be brought back, and how far that
//! is. Pure: what is done about it is done by the Job that is decided on here, which asks etcd itself before it acts.

#[cfg(test)]
mod tests;

use std::{sync::Arc, time::Duration};

use hyperplane_api::{
    constants::objects::components::ETCD,
    hypershift::{availability::AvailabilityPolicy, etcd::EtcdManagementType, hosted_cluster::HostedCluster},
};
use hyperplane_components::{ETCD_RECOVERY, FailingMember, recovered_member};
use jiff::Timestamp;
use k8s_openapi::api::{
    apps::v1::StatefulSet,
    batch::v1::Job,
    core::v1::{ContainerStatus, PersistentVolumeClaim, Pod, PodCondition},
};
use kube::ResourceExt as _;

/// How often it is looked again while a member is not ready: its pod announces itself to nobody here.
const LOOK_AGAIN: Duration = Duration::from_secs(30);

/// The fewest members of which the others have a quorum without one.
const FEWEST: i32 = 3;

/// The containers of a pod whose failures are those of the member. What runs beside it says nothing about its data.
const OF_MEMBER: [&str; 2] = [ETCD, "reset-member"];

/// From when on a container keeps failing: it was started again so often, and is held back now. Fewer failures pass by
/// themselves, and a member without its data is worth less than one that is late.
const RESTARTS: i32 = 3;
const HELD_BACK: &str = "CrashLoopBackOff";

/// What is seen of an etcd whose members can be brought back.
#[derive(Clone, Debug, Default)]
pub(crate) struct Etcd {
    /// Its members as a whole.
    pub(crate) set: Option<Arc<StatefulSet>>,
    /// The Job that brings one back.
    pub(crate) job: Option<Arc<Job>>,
    /// Their pods, which are looked at only while one of them is not ready.
    pub(crate) pods: Vec<Pod>,
    /// The claim of the data of the one that is not.
    pub(crate) claim: Option<PersistentVolumeClaim>,
}

/// How far the recovery of a member is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Recovery {
    /// Nothing is to be done.
    Idle,
    /// This one is to be brought back.
    Start(FailingMember),
    /// The Job works on it.
    Running(String),
    /// The Job is done, and the member has not joined the others yet.
    Joining(String),
    /// All members are there again, and what was made for it is to go.
    Over,
    /// Somebody has to look at it, and why.
    Failed(String),
}

/// Whether members of the etcd of a cluster can be brought back: it is ours, and has several.
pub(crate) fn is_possible(cluster: &HostedCluster) -> bool {
    let spec = &cluster.spec;
    spec.etcd.management_type != EtcdManagementType::Unmanaged
        && spec.controller_availability_policy == AvailabilityPolicy::HighlyAvailable
}

/// Whether pods have to be looked at: one of several members is not ready, and the others are.
pub(crate) fn lacks_one(set: &StatefulSet) -> bool {
    let (replicas, ready) = counts(set);
    replicas >= FEWEST && ready == replicas - 1
}

/// When it is looked again without a reason.
pub(crate) fn look_again(etcd: Option<&Etcd>) -> Option<Duration> {
    let set = etcd.and_then(|etcd| etcd.set.as_deref());
    set.is_some_and(lacks_one).then_some(LOOK_AGAIN)
}

/// The only member that is not ready, if there is one and all others are.
pub(crate) fn laggard<'a>(set: &StatefulSet, pods: &'a [Pod]) -> Option<&'a Pod> {
    let names = (0..counts(set).0).map(|number| format!("{ETCD}-{number}"));
    let mut laggard = None;
    for name in names {
        let pod = pods.iter().find(|pod| pod.name_any() == name)?;
        if is_ready(pod) {
            continue;
        }
        if laggard.replace(pod).is_some() {
            return None;
        }
    }
    laggard
}

/// How far it is, and what is next.
pub(crate) fn decide(etcd: &Etcd) -> Recovery {
    let Some(job) = &etcd.job else {
        return failing(etcd).map_or(Recovery::Idle, Recovery::Start);
    };
    if job.metadata.deletion_timestamp.is_some() {
        return Recovery::Idle;
    }
    let member = recovered_member(job).unwrap_or(ETCD).to_owned();
    match end(job) {
        None => Recovery::Running(member),
        Some(Err(why)) => Recovery::Failed(format!(
            "Job {ETCD_RECOVERY} could not bring {member} back ({why}): look at the logs of its pods, bring the member \
             back, and delete the Job, so that the next one can be helped."
        )),
        Some(Ok(())) if etcd.set.as_deref().is_some_and(is_whole) => Recovery::Over,
        Some(Ok(())) => match failing(etcd) {
            Some(failing) if failing.name == member => Recovery::Failed(format!(
                "{member} keeps failing without its data, too: find out why, and delete Job {ETCD_RECOVERY} to let it \
                 be tried again."
            )),
            // The member has come back, and another one is next.
            Some(_) => Recovery::Over,
            None => Recovery::Joining(member),
        },
    }
}

/// The member that keeps failing, while all others are ready.
fn failing(etcd: &Etcd) -> Option<FailingMember> {
    let set = etcd.set.as_deref().filter(|set| counts(set).0 >= FEWEST)?;
    let pod = laggard(set, &etcd.pods)?;
    let is_leaving = pod.metadata.deletion_timestamp.is_some();
    let whole = etcd.pods.iter().filter_map(ready_since).max();
    if is_leaving || !(keeps_failing(pod, whole) || etcd.claim.as_ref().is_some_and(is_lost)) {
        return None;
    }
    Some(FailingMember {
        name: pod.name_any(),
        uid: pod.uid()?,
    })
}

/// Whether the member fails by itself: at least once while the others were a quorum. Without one any member fails.
fn keeps_failing(pod: &Pod, whole: Option<Timestamp>) -> bool {
    let statuses = pod.status.iter().flat_map(|status| {
        let first = status.init_container_statuses.iter().flatten();
        first.chain(status.container_statuses.iter().flatten())
    });
    let of_member = |status: &&ContainerStatus| OF_MEMBER.contains(&status.name.as_str());
    statuses.filter(of_member).any(|status| {
        let waiting = status.state.as_ref().and_then(|state| state.waiting.as_ref());
        let reason = waiting.and_then(|waiting| waiting.reason.as_deref());
        let terminated = status.last_state.as_ref().and_then(|state| state.terminated.as_ref());
        let failed = terminated.and_then(|terminated| Some(terminated.finished_at.as_ref()?.0));
        reason == Some(HELD_BACK) && status.restart_count >= RESTARTS && failed > whole
    })
}

/// Whether the volume behind a claim is gone for ever.
fn is_lost(claim: &PersistentVolumeClaim) -> bool {
    claim.status.as_ref().and_then(|status| status.phase.as_deref()) == Some("Lost")
}

/// The name of the claim of a member's data.
pub(crate) fn claim_of(member: &str) -> String {
    format!("data-{member}")
}

fn is_ready(pod: &Pod) -> bool {
    pod.metadata.deletion_timestamp.is_none() && ready(pod).is_some()
}

fn ready_since(pod: &Pod) -> Option<Timestamp> {
    Some(ready(pod)?.last_transition_time.as_ref()?.0)
}

fn ready(pod: &Pod) -> Option<&PodCondition> {
    let mut conditions = pod.status.iter().flat_map(|status| status.conditions.iter().flatten());
    conditions.find(|condition| condition.type_ == "Ready" && condition.status == "True")
}

fn is_whole(set: &StatefulSet) -> bool {
    let (replicas, ready) = counts(set);
    ready >= replicas
}

/// How many members there are to be, and how many are ready.
fn counts(set: &StatefulSet) -> (i32, i32) {
    let wanted = set.spec.as_ref().and_then(|spec| spec.replicas).unwrap_or(1);
    let ready = set.status.as_ref().and_then(|status| status.ready_replicas);
    (wanted, ready.unwrap_or_default())
}

/// How a Job ended, if it did.
fn end(job: &Job) -> Option<Result<(), String>> {
    let conditions = job.status.iter().flat_map(|status| status.conditions.iter().flatten());
    let mut conditions = conditions.filter(|condition| condition.status == "True");
    conditions.find_map(|condition| match condition.type_.as_str() {
        "Complete" => Some(Ok(())),
        "Failed" => Some(Err(condition.message.clone().unwrap_or_default())),
        _ => None,
    })
}
