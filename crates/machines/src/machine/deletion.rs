//! The way of a machine out of the world, step by step. Pure: from what is known to the step that comes next, since
//! when it has been under way, and when it is given up. The order is Cluster API's: hooks, pods, volumes, hooks,
//! instance, Node.

use std::time::Duration;

use hyperplane_api::{
    cluster_api::{
        constants::DEFAULT_NODE_DELETION_TIMEOUT_SECONDS,
        machine::MachineDeletionSpec,
        machine_status::{MachineDeletionStatus, MachinePhase},
    },
    constants::{Annotation, KeyPrefix, Reason, annotations, reasons},
};
use hyperplane_runtime::conditions::written;
use jiff::Timestamp;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;

use super::facts::{Facts, Infrastructure, NodeFacts};
use crate::nodes::{NodeView, age};

/// How often a node is looked at whose pods are on their way out.
const LOOK_AT_ENDING: Duration = Duration::from_secs(5);
/// How often one is looked at that somebody holds up, or that waits for something else out there.
const LOOK_AT_HELD: Duration = Duration::from_secs(30);
/// How many volumes and hooks are named; the rest is counted.
const NAMED: usize = 5;

/// What comes next.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Stage {
    /// Somebody wants to do something before pods go, by the names of their hooks.
    PreDrainHooks(Vec<String>),
    /// Pods are to go from the node of this name.
    Drain(String),
    /// These volumes are to come off the node; none if the hosted cluster does not tell which there are.
    Volumes(Option<Vec<String>>),
    /// Somebody wants to do something before the instance ends.
    PreTerminateHooks(Vec<String>),
    /// The instance is to go, and is asked to if it was not yet.
    Instance,
    /// The instance is of a provider that is not served here, in words: nobody can remove it.
    Stranded(String),
    /// The Node object is to go.
    Node(Box<NodeView>),
    /// The hosted cluster does not answer, and has a Node of this name to be removed.
    NodeUnseen(String),
    /// Nothing is left.
    Done,
}

/// What is told of a deletion under way.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Ending {
    /// The step in one word.
    pub(crate) reason: Reason,
    /// What is waited for.
    pub(crate) what: String,
    /// Since when each step has been under way.
    pub(crate) times: MachineDeletionStatus,
    /// Only the Node object is left.
    pub(crate) is_instance_gone: bool,
}

impl Ending {
    /// A sentence for people.
    pub(crate) fn message(&self) -> String {
        format!("Waiting for {}", self.what)
    }
}

/// What the deletion of a machine is at. `is_drained` says that the node has just been seen empty.
pub(crate) fn stage(facts: &Facts, is_drained: bool) -> Stage {
    let node = concerned(facts);
    if let Some(before) = before_instance(facts, &node, is_drained) {
        return before;
    }
    match &facts.infrastructure {
        Infrastructure::Unserved(what) => return Stage::Stranded(what.clone()),
        Infrastructure::Present(..) if !is_foreign(facts) => return Stage::Instance,
        Infrastructure::Present(..) | Infrastructure::Missing => {}
    }
    match node {
        Concerned::Present(node) => Stage::Node(Box::new(node.clone())),
        Concerned::Unseen(name) if !is_removal_over(facts) => Stage::NodeUnseen(name.to_owned()),
        Concerned::Unseen(_) | Concerned::Nobody => Stage::Done,
    }
}

/// Whether it is the turn of volumes, if there are any. What a Node lists is not all that may be attached to it.
pub(crate) fn is_turn_of_volumes(facts: &Facts, is_drained: bool) -> bool {
    let supposed = facts.with_volumes(&[String::new()]);
    matches!(stage(&supposed, is_drained), Stage::Volumes(Some(_)))
}

/// What is told of a stage. `detail` adds what a look at the node found.
pub(crate) fn ending(facts: &Facts, stage: &Stage, detail: Option<&str>) -> Ending {
    let (reason, what) = words(facts, stage);
    let what = match detail {
        Some(detail) => format!("{what}: {detail}"),
        None => what,
    };
    Ending {
        reason,
        what,
        times: times(facts, stage),
        is_instance_gone: matches!(stage, Stage::Node(_) | Stage::NodeUnseen(_) | Stage::Done),
    }
}

/// When to look again. Not later than a step is given up.
pub(crate) fn next_look(facts: &Facts, stage: &Stage, is_blocked: bool) -> Duration {
    let times = times(facts, stage);
    let limits = limits(facts);
    let (usual, end) = match stage {
        Stage::Drain(_) => {
            let usual = if is_blocked { LOOK_AT_HELD } else { LOOK_AT_ENDING };
            (
                usual,
                left(times.node_drain_start_time.as_ref(), limits.drain, facts.now),
            )
        }
        Stage::Volumes(_) => {
            let start = times.wait_for_node_volume_detach_start_time.as_ref();
            (LOOK_AT_ENDING, left(start, limits.volumes, facts.now))
        }
        Stage::Node(_) | Stage::NodeUnseen(_) => (LOOK_AT_ENDING, None),
        _ => (LOOK_AT_HELD, None),
    };
    // A step that ends this moment is looked at the next, not in a loop.
    end.map_or(usual, |end| usual.min(end.max(Duration::from_secs(1))))
}

/// Whether the status tells that a drain has begun.
pub(crate) fn is_drain_begun(facts: &Facts) -> bool {
    known_times(facts).node_drain_start_time.is_some()
}

/// For how long a drain has been tried when it is given up; none while it goes on, or where it has no limit.
pub(crate) fn drain_given_up(facts: &Facts) -> Option<Duration> {
    let start = known_times(facts).node_drain_start_time?;
    limits(facts)
        .drain
        .filter(|limit| is_past(Some(&start), Some(*limit), facts.now))
}

/// Whether the removal of a Node object has been tried for long enough. It begins when the instance is gone, which the
/// phase tells.
pub(crate) fn is_removal_over(facts: &Facts) -> bool {
    let status = facts.machine.status.as_ref();
    let begun = status.filter(|status| status.phase == Some(MachinePhase::Deleted));
    let start = begun.and_then(|status| status.last_updated.as_ref());
    is_past(start, limits(facts).node, facts.now)
}

/// The node that a deletion concerns.
enum Concerned<'a> {
    Nobody,
    Unseen(&'a str),
    Present(&'a NodeView),
}

/// Nobody cares for the nodes of a cluster that goes as a whole. A machine that never became a Node in a cluster that
/// does not answer has none.
fn concerned(facts: &Facts) -> Concerned<'_> {
    match (&facts.node, facts.known_node()) {
        _ if facts.is_cluster_leaving() => Concerned::Nobody,
        (NodeFacts::Present(node), _) => Concerned::Present(node),
        (NodeFacts::Unseen(_), Some(name)) => Concerned::Unseen(name),
        _ => Concerned::Nobody,
    }
}

/// What has to happen while the instance still runs. Hooks hold the Machine by contract, whatever became of its
/// instance: who set them may have to look at it once more.
fn before_instance(facts: &Facts, node: &Concerned<'_>, is_drained: bool) -> Option<Stage> {
    let name = match node {
        Concerned::Nobody => None,
        Concerned::Unseen(name) => Some(*name),
        Concerned::Present(node) => Some(node.name()),
    };
    if let Some(name) = name {
        let waiting = hooks(facts, annotations::PRE_DRAIN_DELETE_HOOK);
        if !waiting.is_empty() {
            return Some(Stage::PreDrainHooks(waiting));
        }
        // Who waits for the last hook was told that pods and volumes are gone.
        let is_told = known_times(facts).wait_for_pre_terminate_hook_start_time.is_some();
        let is_leaving = is_told || is_instance_leaving(facts);
        if !is_leaving && !is_drained && !is_drain_over(facts) {
            return Some(Stage::Drain(name.to_owned()));
        }
        if let Some(attached) = volumes(facts, node).filter(|_| !is_leaving) {
            return Some(attached);
        }
    }
    let waiting = hooks(facts, annotations::PRE_TERMINATE_DELETE_HOOK);
    (!waiting.is_empty()).then_some(Stage::PreTerminateHooks(waiting))
}

/// Whether there is no way back any more: an instance that goes takes its pods along, whatever we wait for.
fn is_instance_leaving(facts: &Facts) -> bool {
    match &facts.infrastructure {
        Infrastructure::Present(_, instance) => instance.metadata.deletion_timestamp.is_some(),
        Infrastructure::Missing => true,
        Infrastructure::Unserved(_) => false,
    }
}

/// What somebody else controls is not ours to remove.
fn is_foreign(facts: &Facts) -> bool {
    let uid = facts.machine.metadata.uid.as_deref();
    matches!(&facts.infrastructure, Infrastructure::Present(_, instance) if instance.foreign_controller(uid).is_some())
}

fn is_drain_over(facts: &Facts) -> bool {
    is_annotated(facts, annotations::EXCLUDE_NODE_DRAINING) || drain_given_up(facts).is_some()
}

/// The wait for volumes, if there is one. A silent kubelet never unmounts, so that waiting for it
/// would not end.
fn volumes(facts: &Facts, node: &Concerned<'_>) -> Option<Stage> {
    let start = known_times(facts).wait_for_node_volume_detach_start_time;
    let is_over = is_annotated(facts, annotations::EXCLUDE_WAIT_FOR_NODE_VOLUME_DETACH)
        || is_past(start.as_ref(), limits(facts).volumes, facts.now);
    match node {
        _ if is_over => None,
        Concerned::Unseen(_) => Some(Stage::Volumes(None)),
        Concerned::Present(node) if !node.is_unreachable() => {
            let attached = node.status.volumes_attached.iter().flatten();
            let names: Vec<String> = attached.map(|volume| volume.name.clone()).collect();
            (!names.is_empty()).then_some(Stage::Volumes(Some(names)))
        }
        Concerned::Present(_) | Concerned::Nobody => None,
    }
}

/// Who asked to be waited for, by the names of their hooks, in order.
fn hooks(facts: &Facts, prefix: KeyPrefix) -> Vec<String> {
    let annotations = facts.machine.metadata.annotations.iter().flatten();
    annotations
        .filter_map(|(key, _)| prefix.rest_of(key).map(str::to_owned))
        .collect()
}

fn is_annotated(facts: &Facts, annotation: Annotation) -> bool {
    let annotations = facts.machine.metadata.annotations.as_ref();
    annotations.is_some_and(|all| all.contains_key(annotation.as_str()))
}

/// How long each step is given; none is without end.
struct Limits {
    drain: Option<Duration>,
    volumes: Option<Duration>,
    node: Option<Duration>,
}

fn limits(facts: &Facts) -> Limits {
    let none = MachineDeletionSpec::default();
    let spec = facts.machine.spec.deletion.as_ref().unwrap_or(&none);
    let limit = |seconds: Option<i32>| {
        let seconds = u64::try_from(seconds.unwrap_or(0)).unwrap_or(0);
        (seconds > 0).then(|| Duration::from_secs(seconds))
    };
    let node = spec
        .node_deletion_timeout_seconds
        .unwrap_or(DEFAULT_NODE_DELETION_TIMEOUT_SECONDS);
    Limits {
        drain: limit(spec.node_drain_timeout_seconds),
        volumes: limit(spec.node_volume_detach_timeout_seconds),
        node: limit(Some(node)),
    }
}

fn is_past(start: Option<&Time>, limit: Option<Duration>, now: Timestamp) -> bool {
    let lasted = start.and_then(|start| age(start.0, now));
    matches!((lasted, limit), (Some(lasted), Some(limit)) if lasted >= limit)
}

fn left(start: Option<&Time>, limit: Option<Duration>, now: Timestamp) -> Option<Duration> {
    // A start that is yet to come, because the clock went back, leaves the whole time.
    let lasted = start.map(|start| age(start.0, now).unwrap_or(Duration::ZERO))?;
    Some(limit?.saturating_sub(lasted))
}

fn known_times(facts: &Facts) -> MachineDeletionStatus {
    let status = facts.machine.status.as_ref();
    status.and_then(|status| status.deletion.clone()).unwrap_or_default()
}

/// Since when each step has been under way: a step that begins now has now.
fn times(facts: &Facts, stage: &Stage) -> MachineDeletionStatus {
    let mut times = known_times(facts);
    let start = match stage {
        Stage::PreDrainHooks(_) => &mut times.wait_for_pre_drain_hook_start_time,
        Stage::Drain(_) => &mut times.node_drain_start_time,
        Stage::Volumes(_) => &mut times.wait_for_node_volume_detach_start_time,
        Stage::PreTerminateHooks(_) => &mut times.wait_for_pre_terminate_hook_start_time,
        _ => return times,
    };
    start.get_or_insert_with(|| written(facts.now));
    times
}

fn words(facts: &Facts, stage: &Stage) -> (Reason, String) {
    let kind = &facts.machine.spec.infrastructure_ref.kind;
    match stage {
        Stage::PreDrainHooks(names) => (
            reasons::WAITING_FOR_PRE_DRAIN_HOOK,
            format!("hooks before the drain: {}", few(names)),
        ),
        Stage::Drain(node) => (reasons::DRAINING_NODE, format!("pods to leave node {node}")),
        Stage::Volumes(Some(names)) => (
            reasons::WAITING_FOR_VOLUME_DETACH,
            format!("volumes to come off the node: {}", few(names)),
        ),
        Stage::Volumes(None) => (
            reasons::WAITING_FOR_VOLUME_DETACH,
            "the hosted cluster to tell which volumes are on the node".to_owned(),
        ),
        Stage::PreTerminateHooks(names) => (
            reasons::WAITING_FOR_PRE_TERMINATE_HOOK,
            format!("hooks before the instance ends: {}", few(names)),
        ),
        Stage::Instance => (
            reasons::WAITING_FOR_INFRASTRUCTURE_DELETION,
            format!("the {kind} to be deleted"),
        ),
        Stage::Stranded(what) => (
            reasons::WAITING_FOR_INFRASTRUCTURE_DELETION,
            format!("somebody who can delete the {kind}: {what}"),
        ),
        Stage::Node(node) => (
            reasons::DELETING_NODE,
            format!("Node {} to be deleted in the hosted cluster", node.name()),
        ),
        Stage::NodeUnseen(name) => (
            reasons::DELETING_NODE,
            format!("the hosted cluster to answer, so that Node {name} can be deleted"),
        ),
        Stage::Done => (reasons::DELETION_COMPLETED, "nothing more".to_owned()),
    }
}

fn few(names: &[String]) -> String {
    let text = names.iter().take(NAMED).cloned().collect::<Vec<_>>().join(", ");
    match names.len().saturating_sub(NAMED) {
        0 => text,
        more => format!("{text} and {more} more"),
    }
}

#[cfg(test)]
mod tests;
