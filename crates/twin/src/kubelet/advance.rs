//! A pod from its arrival at a node to its end: what its status says next, and when to look again. Pure: everything
//! that has happened is in the status, so a kubelet that starts anew goes on where it was.

use std::time::Duration;

use jiff::Timestamp;
use k8s_openapi::api::core::v1::{
    ContainerState, ContainerStateTerminated, ContainerStatus, HostIP, Pod, PodCondition, PodIP, PodStatus,
};

use super::{
    container::{self, Note, Role, Step, Surroundings, end, is_running, restarts, step},
    facts::Facts,
    files,
};
use crate::{
    faults::FaultKind,
    moment, names, pods,
    settings::{Pace, drawn},
};

/// How a container ends that had to be killed, as the kubelet shows it.
const KILLED: i32 = 137;
/// How long a pod may take to end where nobody says.
const GRACE: i64 = 30;

/// What a pod is after one look at it.
pub(crate) struct Advance {
    /// The status.
    pub(crate) status: PodStatus,
    /// When to look again, if nothing changes.
    pub(crate) wake: Option<Timestamp>,
    /// What happened.
    pub(crate) notes: Vec<Note>,
    /// Whether the pod can go: its containers have ended, and it is being deleted.
    pub(crate) is_finished: bool,
}

/// Time, pace and chance.
#[derive(Clone, Copy)]
pub(crate) struct Course<'a> {
    pub(crate) pace: &'a Pace,
    pub(crate) seed: u64,
    pub(crate) now: Timestamp,
}

/// The next status of a pod on its node.
pub(crate) fn advance(pod: &Pod, facts: &dyn Facts, course: Course<'_>) -> Advance {
    if pods::is_terminating(pod) {
        return terminate(pod, facts, course);
    }
    let before = own_status(pod);
    if pods::is_over(pod) {
        return Advance {
            status: before,
            wake: None,
            notes: Vec::new(),
            is_finished: false,
        };
    }
    let around = Surroundings {
        pod,
        facts,
        pace: course.pace,
        seed: course.seed,
        now: course.now,
    };
    let start = before.start_time.clone().unwrap_or_else(|| moment::written(course.now));
    let problems = if has_begun(&before) {
        Vec::new()
    } else {
        files::problems(pod, facts)
    };
    let progress = if problems.is_empty() {
        containers(&around, &before, start.0)
    } else {
        Progress::held(pod, &problems)
    };
    let mut status = PodStatus {
        start_time: Some(start),
        host_ip: Some(facts.host(pod)),
        host_ips: Some(vec![HostIP { ip: facts.host(pod) }]),
        observed_generation: pod.metadata.generation,
        init_container_statuses: Some(progress.init).filter(|statuses| !statuses.is_empty()),
        container_statuses: Some(progress.main),
        ..PodStatus::default()
    };
    if problems.is_empty() {
        let is_on_host = pods::spec(pod).and_then(|spec| spec.host_network) == Some(true);
        let address = if is_on_host {
            facts.host(pod)
        } else {
            facts.address(pod)
        };
        status.pod_ip = Some(address.clone());
        status.pod_ips = Some(vec![PodIP { ip: address }]);
    }
    status.phase = Some(phase(pod, &status, progress.is_initialized).to_owned());
    status.conditions = Some(conditions(
        pod,
        &status,
        (problems.is_empty(), progress.is_initialized),
        course.now,
    ));
    Advance {
        status,
        wake: progress.wake,
        notes: progress.notes,
        is_finished: false,
    }
}

/// What the kubelet itself said last; conditions of others are theirs.
fn own_status(pod: &Pod) -> PodStatus {
    let mut status = pod.status.clone().unwrap_or_default();
    if let Some(conditions) = &mut status.conditions {
        conditions.retain(|condition| TYPES.contains(&condition.type_.as_str()));
    }
    status.qos_class = None;
    status
}

/// The conditions that a kubelet writes.
const TYPES: [&str; 4] = ["PodReadyToStartContainers", "Initialized", "ContainersReady", "Ready"];

/// A condition of a node that is gone is written for it.
pub(crate) fn lost(pod: &Pod, now: Timestamp) -> PodStatus {
    let mut status = own_status(pod);
    let known = status.conditions.take().unwrap_or_default();
    let mut conditions: Vec<PodCondition> = known
        .into_iter()
        .filter(|condition| condition.type_ != "Ready")
        .collect();
    conditions.push(condition(pod, "Ready", Err(("NodeNotReady", String::new())), now));
    status.conditions = Some(conditions);
    status
}

fn has_begun(status: &PodStatus) -> bool {
    let all = status
        .init_container_statuses
        .iter()
        .chain(&status.container_statuses)
        .flatten();
    all.into_iter().any(|status| {
        let is_waiting = status.state.as_ref().is_none_or(|state| state.waiting.is_some());
        !is_waiting
            || status
                .last_state
                .as_ref()
                .is_some_and(|state| state.terminated.is_some())
    })
}

/// The containers after one look at them.
#[derive(Default)]
struct Progress {
    init: Vec<ContainerStatus>,
    main: Vec<ContainerStatus>,
    is_initialized: bool,
    wake: Option<Timestamp>,
    notes: Vec<Note>,
}

impl Progress {
    /// Nothing begins before the volumes are there.
    fn held(pod: &Pod, problems: &[String]) -> Self {
        let waiting = |container| container::waiting(pod, container);
        let note = |message: &String| Note {
            is_warning: true,
            reason: "FailedMount",
            message: message.clone(),
        };
        Self {
            init: pods::init_containers(pod).iter().map(waiting).collect(),
            main: pods::containers(pod).iter().map(waiting).collect(),
            notes: problems.iter().map(note).collect(),
            ..Self::default()
        }
    }

    fn take(&mut self, step: Step) -> ContainerStatus {
        self.wake = moment::sooner(self.wake, step.wake);
        self.notes.extend(step.notes);
        step.status
    }
}

fn find<'a>(statuses: Option<&'a Vec<ContainerStatus>>, name: &str) -> Option<&'a ContainerStatus> {
    statuses?.iter().find(|status| status.name == name)
}

/// Init containers one after the other, then all others at once.
fn containers(around: &Surroundings<'_>, before: &PodStatus, start: Timestamp) -> Progress {
    let mut progress = Progress {
        is_initialized: true,
        ..Progress::default()
    };
    let mut since = start;
    for container in pods::init_containers(around.pod) {
        let known = find(before.init_container_statuses.as_ref(), &container.name);
        if !progress.is_initialized {
            let status = known
                .cloned()
                .unwrap_or_else(|| container::waiting(around.pod, container));
            progress.init.push(status);
            continue;
        }
        let role = if pods::is_sidecar(container) {
            Role::Sidecar
        } else {
            Role::Init
        };
        let step = step(around, container, role, known, since);
        let status = progress.take(step);
        match (role, ended(&status)) {
            (Role::Init, Some((0, finished))) => since = finished,
            (Role::Sidecar, _) if is_running(&status) && status.started == Some(true) => {}
            _ => progress.is_initialized = false,
        }
        progress.init.push(status);
    }
    for container in pods::containers(around.pod) {
        let known = find(before.container_statuses.as_ref(), &container.name);
        let status = if progress.is_initialized {
            let step = step(around, container, Role::Main, known, since);
            progress.take(step)
        } else {
            known
                .cloned()
                .unwrap_or_else(|| container::waiting(around.pod, container))
        };
        progress.main.push(status);
    }
    progress
}

fn ended(status: &ContainerStatus) -> Option<(i32, Timestamp)> {
    let end = end(status)?;
    Some((end.exit_code, end.finished_at.as_ref()?.0))
}

/// The phase, by upstream's rules (pkg/kubelet/kubelet_pods.go, getPhase).
fn phase(pod: &Pod, status: &PodStatus, is_initialized: bool) -> &'static str {
    let main = status.container_statuses.as_deref().unwrap_or_default();
    if !is_initialized {
        let init = status.init_container_statuses.iter().flatten();
        let has_failed = init
            .into_iter()
            .any(|status| end(status).is_some_and(|end| end.exit_code != 0));
        return if has_failed && restarts(pod) == "Never" {
            "Failed"
        } else {
            "Pending"
        };
    }
    let has_stopped = |status: &&ContainerStatus| {
        end(status).is_some()
            || status
                .last_state
                .as_ref()
                .is_some_and(|state| state.terminated.is_some())
    };
    let running = main.iter().filter(|status| is_running(status)).count();
    let waiting = main
        .iter()
        .filter(|status| !is_running(status) && !has_stopped(status))
        .count();
    let succeeded = main
        .iter()
        .filter(|status| end(status).is_some_and(|end| end.exit_code == 0))
        .count();
    if waiting > 0 {
        "Pending"
    } else if running > 0 || restarts(pod) == "Always" {
        "Running"
    } else if succeeded == main.len() {
        "Succeeded"
    } else if restarts(pod) == "Never" {
        "Failed"
    } else {
        "Running"
    }
}

fn condition(pod: &Pod, type_: &str, outcome: Result<(), (&str, String)>, now: Timestamp) -> PodCondition {
    let status = if outcome.is_ok() { "True" } else { "False" };
    let known = pods::condition(pod, type_).filter(|known| known.status == status);
    let since = known.and_then(|known| known.last_transition_time.clone());
    let (reason, message) = match outcome {
        Ok(()) => (None, None),
        Err((reason, message)) => (
            Some(reason.to_owned()),
            Some(message).filter(|message| !message.is_empty()),
        ),
    };
    PodCondition {
        type_: type_.to_owned(),
        status: status.to_owned(),
        reason,
        message,
        last_transition_time: Some(since.unwrap_or_else(|| moment::written(now))),
        ..PodCondition::default()
    }
}

fn conditions(
    pod: &Pod,
    status: &PodStatus,
    (is_mounted, is_initialized): (bool, bool),
    now: Timestamp,
) -> Vec<PodCondition> {
    let init = status.init_container_statuses.as_deref().unwrap_or_default();
    let main = status.container_statuses.as_deref().unwrap_or_default();
    let names = |statuses: Vec<&ContainerStatus>| {
        let names: Vec<&str> = statuses.into_iter().map(|status| status.name.as_str()).collect();
        names.join(" ")
    };
    let incomplete = init
        .iter()
        .filter(|status| ended(status).is_none_or(|(code, _)| code != 0) && !is_running(status));
    let sidecars: Vec<&str> = pods::init_containers(pod)
        .iter()
        .filter(|container| pods::is_sidecar(container))
        .map(|container| container.name.as_str())
        .collect();
    let serving = init
        .iter()
        .filter(|status| sidecars.contains(&status.name.as_str()))
        .chain(main);
    let unready: Vec<&ContainerStatus> = serving.filter(|status| !status.ready).collect();
    let is_over = matches!(status.phase.as_deref(), Some("Succeeded"));
    let initialized = if is_initialized {
        Ok(())
    } else {
        let text = format!("containers with incomplete status: [{}]", names(incomplete.collect()));
        Err(("ContainersNotInitialized", text))
    };
    let ready = if is_over {
        Err(("PodCompleted", String::new()))
    } else if unready.is_empty() {
        Ok(())
    } else {
        Err((
            "ContainersNotReady",
            format!("containers with unready status: [{}]", names(unready)),
        ))
    };
    let mounted = if is_mounted { Ok(()) } else { Err(("", String::new())) };
    let mut conditions = vec![
        condition(pod, "PodReadyToStartContainers", mounted, now),
        condition(pod, "Initialized", initialized, now),
        condition(pod, "ContainersReady", ready.clone(), now),
        condition(pod, "Ready", ready, now),
    ];
    for condition in &mut conditions {
        condition.reason = condition.reason.take().filter(|reason| !reason.is_empty());
    }
    conditions
}

/// Ends the containers in their time, then lets the pod go.
fn terminate(pod: &Pod, facts: &dyn Facts, course: Course<'_>) -> Advance {
    let before = own_status(pod);
    let stay = |wake| Advance {
        status: before.clone(),
        wake,
        notes: Vec::new(),
        is_finished: false,
    };
    let running: Vec<&ContainerStatus> = before
        .init_container_statuses
        .iter()
        .chain(&before.container_statuses)
        .flatten()
        .filter(|status| is_running(status))
        .collect();
    if running.is_empty() {
        return Advance {
            is_finished: true,
            ..stay(None)
        };
    }
    let is_slow = running
        .iter()
        .any(|status| facts.faults(pod, &status.name).contains(&FaultKind::SlowStop));
    let at = end_of_grace(pod, is_slow, course);
    if at > course.now {
        return stay(Some(at));
    }
    let exit_code = if is_slow { KILLED } else { 0 };
    Advance {
        status: stopped(pod, &before, exit_code, course.now),
        is_finished: true,
        ..stay(None)
    }
}

/// When the containers have stopped: in their time, and at the deadline at the latest.
fn end_of_grace(pod: &Pod, is_slow: bool, course: Course<'_>) -> Timestamp {
    let grace = pod.metadata.deletion_grace_period_seconds.unwrap_or(GRACE);
    let deadline = pod.metadata.deletion_timestamp.as_ref();
    let deadline = deadline.map_or(course.now, |time| time.0);
    let about = format!("{}/stop", names::steady(pod));
    let wanted = if is_slow {
        Duration::MAX
    } else {
        drawn(course.seed, &about, course.pace.stop)
    };
    let asked = moment::after_seconds(deadline, -grace);
    moment::after(asked, wanted).min(deadline)
}

/// The status of a pod whose containers have all ended.
fn stopped(pod: &Pod, before: &PodStatus, exit_code: i32, now: Timestamp) -> PodStatus {
    let mut status = before.clone();
    let all = status
        .init_container_statuses
        .iter_mut()
        .chain(&mut status.container_statuses)
        .flatten();
    for status in all.filter(|status| is_running(status)) {
        stop(status, exit_code, now);
    }
    let has_failed = status
        .container_statuses
        .iter()
        .flatten()
        .any(|status| end(status).is_none_or(|end| end.exit_code != 0));
    status.phase = Some(if has_failed { "Failed" } else { "Succeeded" }.to_owned());
    let initialized = before
        .conditions
        .iter()
        .flatten()
        .any(|known| known.type_ == "Initialized" && known.status == "True");
    status.conditions = Some(conditions(pod, &status, (true, initialized), now));
    status
}

fn stop(status: &mut ContainerStatus, exit_code: i32, now: Timestamp) {
    let running = status.state.as_ref().and_then(|state| state.running.as_ref());
    let started_at = running.and_then(|running| running.started_at.clone());
    let reason = if exit_code == 0 { "Completed" } else { "Error" };
    status.state = Some(ContainerState {
        terminated: Some(ContainerStateTerminated {
            exit_code,
            reason: Some(reason.to_owned()),
            started_at,
            finished_at: Some(moment::written(now)),
            container_id: status.container_id.clone(),
            ..ContainerStateTerminated::default()
        }),
        ..ContainerState::default()
    });
    status.ready = false;
    status.started = Some(false);
}
