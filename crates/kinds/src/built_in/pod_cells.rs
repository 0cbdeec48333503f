//! The rows of pods in tables: how ready, in which state, how often restarted.

use jiff::Timestamp;
use serde_json::Value;

use crate::{
    cells::{NONE, containers, has_condition, labels, name, object_age, or},
    human::age,
    value::{at, is_set, is_true, list, number, text},
};

/// What the walk over the statuses of containers found.
#[derive(Default)]
struct Summary<'a> {
    reason: String,
    ready: usize,
    restarts: i64,
    last_restart: Option<&'a Value>,
    is_initializing: bool,
}

pub(super) fn pod_cells(pod: &Value, now: Timestamp) -> Vec<Value> {
    let total = list(pod, "spec.containers").len() + sidecars(pod).count();
    let summary = summarize(pod);
    let restarts = match summary.last_restart.filter(|_| summary.restarts != 0) {
        Some(time) => format!("{} ({} ago)", summary.restarts, age(Some(time), now)),
        None => summary.restarts.to_string(),
    };
    let address = list(pod, "status.podIPs").first().map_or("", |entry| text(entry, "ip"));
    vec![
        name(pod),
        Value::from(format!("{}/{total}", summary.ready)),
        Value::from(state(pod, summary.reason)),
        Value::from(restarts),
        object_age(pod, now),
        Value::from(or(address, NONE)),
        Value::from(or(text(pod, "spec.nodeName"), NONE)),
        Value::from(or(text(pod, "status.nominatedNodeName"), NONE)),
        Value::from(readiness_gates(pod)),
    ]
}

pub(super) fn template_cells(template: &Value, _now: Timestamp) -> Vec<Value> {
    let [names, images] = containers(&template["template"]["spec"]);
    vec![
        name(template),
        names,
        images,
        Value::from(labels(at(template, "template.metadata.labels"))),
    ]
}

/// The names of init containers that run beside the others.
fn sidecars(pod: &Value) -> impl Iterator<Item = &str> {
    list(pod, "spec.initContainers")
        .iter()
        .filter(|container| text(container, "restartPolicy") == "Always")
        .map(|container| text(container, "name"))
}

fn summarize(pod: &Value) -> Summary<'_> {
    let mut summary = Summary {
        reason: or(text(pod, "status.reason"), text(pod, "status.phase")).to_owned(),
        ..Summary::default()
    };
    let is_gated =
        |condition: &Value| text(condition, "type") == "PodScheduled" && text(condition, "reason") == "SchedulingGated";
    if list(pod, "status.conditions").iter().any(is_gated) {
        "SchedulingGated".clone_into(&mut summary.reason);
    }
    let mut sidecars_only = Summary::default();
    read_init_containers(pod, &mut summary, &mut sidecars_only);
    if !summary.is_initializing || has_condition(pod, "status.conditions", "Initialized") {
        summary.restarts = sidecars_only.restarts;
        summary.last_restart = sidecars_only.last_restart;
        read_containers(pod, &mut summary);
    }
    summary
}

fn note_restarts<'a>(summary: &mut Summary<'a>, status: &'a Value) {
    summary.restarts += number(status, "restartCount").unwrap_or_default();
    if let Some(time) = at(status, "lastState.terminated.finishedAt").filter(|time| time.is_string())
        && summary.last_restart.is_none_or(|last| last.as_str() < time.as_str())
    {
        summary.last_restart = Some(time);
    }
}

/// Init containers run one after the other: the first that is not done says where the pod stands.
fn read_init_containers<'a>(pod: &'a Value, summary: &mut Summary<'a>, sidecars_only: &mut Summary<'a>) {
    let total = list(pod, "spec.initContainers").len();
    for (position, status) in list(pod, "status.initContainerStatuses").iter().enumerate() {
        let is_sidecar = sidecars(pod).any(|name| name == text(status, "name"));
        note_restarts(summary, status);
        if is_sidecar {
            note_restarts(sidecars_only, status);
        }
        let terminated = at(status, "state.terminated");
        if terminated.is_some_and(|terminated| number(terminated, "exitCode").unwrap_or_default() == 0) {
            continue;
        }
        if is_sidecar && is_true(status, "started") {
            summary.ready += usize::from(is_true(status, "ready"));
            continue;
        }
        let waiting = text(status, "state.waiting.reason");
        summary.reason = match terminated {
            Some(terminated) => format!("Init:{}", ending(terminated)),
            None if !waiting.is_empty() && waiting != "PodInitializing" => format!("Init:{waiting}"),
            None => format!("Init:{position}/{total}"),
        };
        summary.is_initializing = true;
        break;
    }
}

/// The last container with something to say is heard first, so that the first has the last word.
fn read_containers<'a>(pod: &'a Value, summary: &mut Summary<'a>) {
    let mut has_running = false;
    let mut failure = None;
    for status in list(pod, "status.containerStatuses").iter().rev() {
        note_restarts(summary, status);
        let waiting = text(status, "state.waiting.reason");
        if !waiting.is_empty() {
            waiting.clone_into(&mut summary.reason);
        } else if let Some(terminated) = at(status, "state.terminated") {
            summary.reason = ending(terminated);
            if number(terminated, "exitCode").unwrap_or_default() != 0 {
                failure = Some(summary.reason.clone());
            }
        } else if is_true(status, "ready") && at(status, "state.running").is_some() {
            has_running = true;
            summary.ready += 1;
        }
    }
    if summary.reason == "Completed" {
        if has_running && has_condition(pod, "status.conditions", "Ready") {
            "Running".clone_into(&mut summary.reason);
        } else if let Some(failure) = failure {
            summary.reason = failure;
        } else if has_running {
            "NotReady".clone_into(&mut summary.reason);
        }
    }
}

fn ending(terminated: &Value) -> String {
    let reason = text(terminated, "reason");
    let signal = number(terminated, "signal").unwrap_or_default();
    match (reason.is_empty(), signal) {
        (false, _) => reason.to_owned(),
        (true, 0) => format!("ExitCode:{}", number(terminated, "exitCode").unwrap_or_default()),
        (true, signal) => format!("Signal:{signal}"),
    }
}

fn state(pod: &Value, reason: String) -> String {
    let is_deleted = is_set(at(pod, "metadata.deletionTimestamp"));
    let has_ended = matches!(text(pod, "status.phase"), "Succeeded" | "Failed");
    if is_deleted && text(pod, "status.reason") == "NodeLost" {
        "Unknown".to_owned()
    } else if is_deleted && !has_ended {
        "Terminating".to_owned()
    } else {
        reason
    }
}

fn readiness_gates(pod: &Value) -> String {
    let gates = list(pod, "spec.readinessGates");
    if gates.is_empty() {
        return NONE.to_owned();
    }
    let open = gates
        .iter()
        .filter(|gate| has_condition(pod, "status.conditions", text(gate, "conditionType")));
    format!("{}/{}", open.count(), gates.len())
}
