//! What is wrong with one pod: its place, its volumes, its images, its containers. A pod that merely starts is not wrong.

use jiff::Timestamp;
use serde_json::Value;

use super::{Walk, events};
use crate::{
    cause::Trouble,
    kind::Kind,
    object::{Object, Truth, time},
    rule,
    scene::Place,
};

/// Reasons of a container that waits because of its image.
const OF_IMAGE: &[&str] = &[
    "ImagePullBackOff",
    "ErrImagePull",
    "ErrImageNeverPull",
    "InvalidImageName",
    "ImageInspectError",
    "RegistryUnavailable",
];
/// Reasons of a container that waits because of what its pod says.
const OF_CONTAINER: &[&str] = &[
    "CreateContainerConfigError",
    "CreateContainerError",
    "RunContainerError",
];
/// How often a container may have failed before it counts as one that goes on failing, although it runs just now.
const FAILURES_TOLERATED: i64 = 1;
/// How long a container may run before it has to answer its probe.
const PATIENCE_SECONDS: i64 = 60;

/// What is wrong with a pod.
pub(super) fn trouble(walk: &mut Walk<'_>, pod: &Object) -> Option<Trouble> {
    if pod.text("/status/phase") == Some("Succeeded") || pod.says("Ready", Truth::True) {
        return None;
    }
    claim(walk, pod)
        .or_else(|| unscheduled(pod))
        .or_else(|| containers(walk, pod))
        .or_else(|| not_mounted(walk, pod))
}

/// A claim of the pod that has no volume.
fn claim(walk: &mut Walk<'_>, pod: &Object) -> Option<Trouble> {
    let names: Vec<&str> = pod
        .items("/spec/volumes")
        .filter_map(|volume| volume.pointer("/persistentVolumeClaim/claimName")?.as_str())
        .collect();
    if names.is_empty() {
        return None;
    }
    let claims = walk.list(Kind::PersistentVolumeClaim, &Place::namespace(pod.namespace()));
    let mut mine = claims.iter().filter(|claim| names.contains(&claim.name()));
    let pending = mine.find(|claim| claim.text("/status/phase") != Some("Bound"))?;
    let said = events::last_warning(walk, pending, &[]);
    let class = pending.text("/spec/storageClassName").unwrap_or("the default one");
    let what = match said {
        Some(said) => format!("has no volume: {}", said.words()),
        None => format!("has no volume (storage class: {class})"),
    };
    let remedy = "Let the management cluster have a storage class that makes volumes, or name one in \
                  spec.etcd.managed.storage of the HostedCluster.";
    let trouble = Trouble::new(pending.reference(), &rule::VOLUME_PENDING, what, remedy).since(pending.created());
    Some(trouble.fact("pod", Some(pod.name())).fact("storage class", Some(class)))
}

fn unscheduled(pod: &Object) -> Option<Trouble> {
    let scheduled = pod.condition("PodScheduled")?;
    if scheduled.status != Truth::False {
        return None;
    }
    let what = format!("has no node: {}", scheduled.words());
    let remedy = "Give the management cluster a node that takes it (capacity, labels, taints, zones as the message says), \
                  or ask for less.";
    Some(Trouble::new(pod.reference(), &rule::UNSCHEDULABLE, what, remedy).since(scheduled.since))
}

/// The first container that is wrong, those that come first included.
fn containers(walk: &Walk<'_>, pod: &Object) -> Option<Trouble> {
    let first = pod.items("/status/initContainerStatuses");
    let all = first.chain(pod.items("/status/containerStatuses"));
    let all: Vec<&Value> = all.collect();
    let waiting = all.iter().find_map(|status| waiting(pod, status));
    let failing = || all.iter().find_map(|status| failing_again(pod, status));
    waiting
        .or_else(failing)
        .or_else(|| all.iter().find_map(|status| unready(walk, pod, status)))
}

fn text<'a>(status: &'a Value, pointer: &str) -> &'a str {
    status.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
}

fn waiting(pod: &Object, status: &Value) -> Option<Trouble> {
    let (name, image) = (text(status, "/name"), text(status, "/image"));
    let (reason, message) = (
        text(status, "/state/waiting/reason"),
        text(status, "/state/waiting/message"),
    );
    let words = if message.is_empty() { reason } else { message };
    let since = not_ready_since(pod);
    let trouble = if OF_IMAGE.contains(&reason) {
        let remedy = format!(
            "Let the management cluster pull {}: look at its name, the registry and the pull secret. It starts by itself \
             then.",
            if image.is_empty() { "the image" } else { image }
        );
        let what = format!("container {name} cannot be started: {words}");
        Trouble::new(pod.reference(), &rule::IMAGE, what, remedy).keyed(format!("{name} {image}"))
    } else if OF_CONTAINER.contains(&reason) {
        let remedy = "Look at what its pod takes from Secrets and ConfigMaps, and let the one that is named be there.";
        let what = format!("container {name} cannot be created: {words}");
        Trouble::new(pod.reference(), &rule::CONTAINER, what, remedy)
    } else if reason == "CrashLoopBackOff" || has_failed(status, "/state") {
        return Some(crash(pod, status).since(since));
    } else {
        return None;
    };
    Some(trouble.since(since).fact("container", Some(name)))
}

/// Since when a pod is not ready; one that never was, since it was made.
fn not_ready_since(pod: &Object) -> Option<Timestamp> {
    let ready = pod.condition("Ready").and_then(|ready| ready.since);
    ready.or_else(|| pod.created())
}

fn has_failed(status: &Value, state: &str) -> bool {
    let code = status.pointer(&format!("{state}/terminated/exitCode"));
    code.and_then(Value::as_i64).is_some_and(|code| code != 0)
}

fn crash(pod: &Object, status: &Value) -> Trouble {
    let state = if has_failed(status, "/state") {
        "/state"
    } else {
        "/lastState"
    };
    let name = text(status, "/name");
    ended(pod, status, state, &format!("container {name} ends again and again"))
}

/// A container that has failed more than once, and runs again: it is between two ends, not on its way.
fn failing_again(pod: &Object, status: &Value) -> Option<Trouble> {
    let restarts = restarts(status);
    let is_running = status.pointer("/state/running").is_some();
    let is_ready = status.get("ready") == Some(&Value::Bool(true));
    if is_ready || !is_running || restarts <= FAILURES_TOLERATED || !has_failed(status, "/lastState") {
        return None;
    }
    let what = format!(
        "container {} has failed {restarts} times and runs again, the last time it ended",
        text(status, "/name")
    );
    Some(ended(pod, status, "/lastState", &what).since(not_ready_since(pod)))
}

fn restarts(status: &Value) -> i64 {
    status.get("restartCount").and_then(Value::as_i64).unwrap_or(0)
}

/// What is told of a container that ended, with how it did in one of its states.
fn ended(pod: &Object, status: &Value, state: &str, what: &str) -> Trouble {
    let name = text(status, "/name");
    let ended = |field: &str| status.pointer(&format!("{state}/terminated/{field}"));
    let code = ended("exitCode").and_then(Value::as_i64);
    let said = ["message", "reason"].iter().find_map(|field| ended(field)?.as_str());
    let said = said.filter(|said| !said.trim().is_empty());
    let restarts = restarts(status);
    let ending = code.map_or_else(String::new, |code| format!(" with code {code}"));
    let why = said.map(|said| format!(": {}", said.trim())).unwrap_or_default();
    let what = format!("{what}{ending}{why}");
    let remedy = format!(
        "Read why it ends: kubectl -n {} logs {} -c {name} --previous.",
        pod.namespace(),
        pod.name()
    );
    Trouble::new(pod.reference(), &rule::CRASH, what, remedy)
        .keyed(format!("{name}{ending}{why}"))
        .fact("container", Some(name))
        .fact("restarts", (restarts > 0).then(|| restarts.to_string()))
}

/// A container that runs for long and does not answer its probe.
fn unready(walk: &Walk<'_>, pod: &Object, status: &Value) -> Option<Trouble> {
    let started = time(status.pointer("/state/running/startedAt").and_then(Value::as_str))?;
    let lasted = walk.scene.now.as_second().saturating_sub(started.as_second());
    let is_ready = status.get("ready") == Some(&Value::Bool(true));
    // One that initialises others has no probe, and says that it is not ready as long as it runs.
    let is_first = pod.items("/status/initContainerStatuses").any(|first| first == status);
    if is_ready || is_first || lasted < PATIENCE_SECONDS {
        return None;
    }
    let name = text(status, "/name");
    let remedy = format!(
        "Read what it waits for: kubectl -n {} logs {} -c {name}.",
        pod.namespace(),
        pod.name()
    );
    let what = format!("container {name} runs, and does not answer its probe");
    Some(Trouble::new(pod.reference(), &rule::NOT_READY, what, remedy).since(Some(started)))
}

fn not_mounted(walk: &mut Walk<'_>, pod: &Object) -> Option<Trouble> {
    let said = events::last_warning(walk, pod, &["FailedMount", "FailedAttachVolume"])?;
    let remedy = "Let what the message names be there; the pod starts by itself then.";
    let what = format!("its volumes cannot be mounted: {}", said.message);
    let trouble = Trouble::new(pod.reference(), &rule::NOT_MOUNTED, what, remedy).since(pod.created());
    Some(trouble.fact("event", Some(said.words())))
}
