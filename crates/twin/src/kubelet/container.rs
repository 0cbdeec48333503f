//! One container from its creation to its end: what its status says next. Pure; time and chance are parameters.

use std::time::Duration;

use jiff::Timestamp;
use k8s_openapi::api::core::v1::{
    Container, ContainerState, ContainerStateRunning, ContainerStateTerminated, ContainerStateWaiting, ContainerStatus,
    Pod,
};
use kube::ResourceExt;

use super::{
    capabilities, environment,
    facts::{Facts, Progress, Serving},
    files,
    members::{self, MemberStart},
};
use crate::{
    faults::FaultKind,
    moment, names, pods,
    programs::{self, API_SERVER, Flags, Invocation, OURS},
    settings::{Pace, drawn},
};

/// The pause before the first restart, doubled with each one; the kubelet's.
const BACKOFF: Duration = Duration::from_secs(10);
/// The longest pause.
const LONGEST_BACKOFF: Duration = Duration::from_mins(5);
/// How often it is looked again for something that comes without an event: a name, a port, an image.
const POLL: Duration = Duration::from_secs(2);
const POLL_IMAGE: Duration = Duration::from_mins(1);
/// How long a member of etcd waits for the others before its container ends and is started again; our own program's.
const MEMBER_TIMEOUT: Duration = Duration::from_mins(5);

/// What a container is in its pod.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// It ends before the next one begins.
    Init,
    /// It begins before the next one and goes on.
    Sidecar,
    /// It is what the pod is for.
    Main,
}

/// Why something happened, for an event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Note {
    pub(crate) is_warning: bool,
    pub(crate) reason: &'static str,
    pub(crate) message: String,
}

/// The surroundings of a container.
pub(super) struct Surroundings<'a> {
    pub(super) pod: &'a Pod,
    pub(super) facts: &'a dyn Facts,
    pub(super) pace: &'a Pace,
    pub(super) seed: u64,
    pub(super) now: Timestamp,
}

/// A container after one look at it.
pub(super) struct Step {
    pub(super) status: ContainerStatus,
    /// When to look again.
    pub(super) wake: Option<Timestamp>,
    pub(super) notes: Vec<Note>,
}

/// A container that is being looked at.
struct Look<'a> {
    around: &'a Surroundings<'a>,
    container: &'a Container,
    role: Role,
    faults: Vec<FaultKind>,
    status: ContainerStatus,
    wake: Option<Timestamp>,
    notes: Vec<Note>,
}

/// The next status of a container that may begin at a moment.
pub(super) fn step(
    around: &Surroundings<'_>,
    container: &Container,
    role: Role,
    before: Option<&ContainerStatus>,
    since: Timestamp,
) -> Step {
    let mut look = Look {
        around,
        container,
        role,
        faults: around.facts.faults(around.pod, &container.name),
        status: before.cloned().unwrap_or_else(|| waiting(around.pod, container)),
        wake: None,
        notes: Vec::new(),
    };
    let state = look.status.state.clone().unwrap_or_default();
    if let Some(running) = state.running {
        let started = running.started_at.map_or(around.now, |time| time.0);
        look.run(started);
    } else if let Some(terminated) = state.terminated {
        look.after_end(&terminated);
    } else if state.waiting.and_then(|waiting| waiting.reason).as_deref() == Some("CrashLoopBackOff") {
        look.after_pause();
    } else {
        let due = moment::after(since, look.drawn("start", around.pace.start));
        look.when(due, Look::begin);
    }
    Step {
        status: look.status,
        wake: look.wake,
        notes: look.notes,
    }
}

/// A container that has not begun.
pub(super) fn waiting(pod: &Pod, container: &Container) -> ContainerStatus {
    let reason = if pods::init_containers(pod).is_empty() {
        "ContainerCreating"
    } else {
        "PodInitializing"
    };
    ContainerStatus {
        name: container.name.clone(),
        image: container.image.clone().unwrap_or_default(),
        state: Some(waits(reason, None)),
        started: Some(false),
        ..ContainerStatus::default()
    }
}

fn waits(reason: &str, message: Option<String>) -> ContainerState {
    ContainerState {
        waiting: Some(ContainerStateWaiting {
            reason: Some(reason.to_owned()),
            message,
        }),
        ..ContainerState::default()
    }
}

/// Whether a container runs.
pub(super) fn is_running(status: &ContainerStatus) -> bool {
    status.state.as_ref().is_some_and(|state| state.running.is_some())
}

/// How a container ended, if it did.
pub(super) fn end(status: &ContainerStatus) -> Option<&ContainerStateTerminated> {
    status.state.as_ref()?.terminated.as_ref()
}

impl Look<'_> {
    fn drawn(&self, what: &str, longest: Duration) -> Duration {
        let (pod, container) = (names::steady(self.around.pod), &self.container.name);
        let about = format!("{pod}/{container}/{}/{what}", self.status.restart_count);
        drawn(self.around.seed, &about, longest)
    }

    /// Does something once its time has come.
    fn when(&mut self, due: Timestamp, then: fn(&mut Self)) {
        if due <= self.around.now {
            then(self);
        } else {
            self.wake = Some(due);
        }
    }

    fn look_again(&mut self, after: Duration) {
        self.wake = Some(moment::after(self.around.now, after));
    }

    /// Creates the container and starts its program, or says why not.
    fn begin(&mut self) {
        let image = self.container.image.clone().unwrap_or_default();
        let is_withheld = self.faults.contains(&FaultKind::ImageMissing);
        let pulled = self.around.facts.pull(&image);
        if let Err(why) = pulled.and_then(|()| {
            if is_withheld {
                Err("not found".to_owned())
            } else {
                Ok(())
            }
        }) {
            let message = format!(
                "Back-off pulling image {image:?}: ErrImagePull: failed to pull and unpack image {image:?}: {why}"
            );
            self.notes
                .push(warning("Failed", format!("Failed to pull image {image:?}: {why}")));
            self.status.state = Some(waits("ImagePullBackOff", Some(message)));
            return self.look_again(POLL_IMAGE);
        }
        let invocation = match environment::invocation(self.around.pod, self.container, self.around.facts) {
            Ok(invocation) => invocation,
            Err(message) => {
                self.notes.push(warning("Failed", format!("Error: {message}")));
                self.status.state = Some(waits("CreateContainerConfigError", Some(message)));
                return;
            }
        };
        self.status.image.clone_from(&image);
        self.status.image_id = format!("twin://{image}");
        let identity = format!(
            "{}/{}/{}",
            self.around.pod.uid().unwrap_or_default(),
            self.container.name,
            self.status.restart_count
        );
        self.status.container_id = Some(format!("twin://{identity}"));
        self.notes.push(Note {
            is_warning: false,
            reason: "Started",
            message: format!("Started container {}", self.container.name),
        });
        if let Err(message) = self.check(&invocation) {
            return self.crash(self.around.now, &message);
        }
        let started_at = Some(moment::written(self.around.now));
        self.status.state = Some(ContainerState {
            running: Some(ContainerStateRunning { started_at }),
            ..ContainerState::default()
        });
        self.status.ready = false;
        self.status.started = Some(self.container.startup_probe.is_none());
        self.run(self.around.now);
    }

    fn check(&self, invocation: &Invocation) -> Result<Flags, String> {
        let program = &invocation.program;
        if programs::file_capability(program)
            .is_some_and(|capability| !capabilities::allows(self.container, capability))
        {
            return Err(format!("exec {program}: operation not permitted"));
        }
        let read = |path: &str| files::read(self.around.pod, self.container, path, self.around.facts);
        invocation.check(self.around.facts.programs(), &read)
    }

    /// Whether the member of etcd may start that the container prepares; none if it prepares none.
    fn member(&self) -> Option<MemberStart> {
        let (pod, facts) = (self.around.pod, self.around.facts);
        let invocation = environment::invocation(pod, self.container, facts).ok()?;
        if invocation.subcommand() != Some(members::RESET) {
            return None;
        }
        let flags = self.check(&invocation).ok()?;
        Some(members::start(pod, self.container, &flags, facts))
    }

    /// Whether everything is there that the program needs; that it is known was seen when it began.
    fn has_needs(&self) -> bool {
        let Ok(invocation) = environment::invocation(self.around.pod, self.container, self.around.facts) else {
            return false;
        };
        let Ok(flags) = self.check(&invocation) else {
            return false;
        };
        let read = |path: &str| files::read(self.around.pod, self.container, path, self.around.facts);
        let namespace = self.around.pod.namespace().unwrap_or_default();
        let needs = programs::needs(&invocation, &flags, &read);
        needs.iter().all(|need| self.around.facts.is_met(&namespace, need))
    }

    fn is_api_server(&self) -> bool {
        self.runs(API_SERVER)
    }

    fn runs(&self, program: &str) -> bool {
        let invocation = environment::invocation(self.around.pod, self.container, self.around.facts);
        invocation.is_ok_and(|invocation| invocation.program == program)
    }

    /// Looks at a container that runs.
    fn run(&mut self, started: Timestamp) {
        let crashes = self.faults.iter().find_map(|fault| match fault {
            FaultKind::CrashLoop { times } => Some(*times),
            _ => None,
        });
        if crashes.is_some_and(|times| self.status.restart_count < times) {
            let due = moment::after(started, self.drawn("crash", self.around.pace.ready));
            return self.when(due, |look| look.crash(look.around.now, "it was told to fail"));
        }
        if self.is_api_server()
            && let Serving::Failed(message) = self.around.facts.serving(self.around.pod)
        {
            return self.crash(started, &message);
        }
        match self.role {
            Role::Init => {
                let due = moment::after(started, self.drawn("init", self.around.pace.init));
                self.when(due, Look::finish_if_met);
            }
            Role::Main if restarts(self.around.pod) != "Always" => self.work(started),
            Role::Main | Role::Sidecar => self.become_ready(started),
        }
    }

    /// Comes to its end when its program does, where that really runs, and else when its time has come.
    fn work(&mut self, started: Timestamp) {
        let (pod, name) = (self.around.pod, &self.container.name);
        let progress = if self.runs(OURS) {
            self.around.facts.progress(pod, name, self.status.restart_count)
        } else {
            Progress::Unseen
        };
        match progress {
            Progress::Starting | Progress::Running => self.look_again(POLL),
            Progress::Unseen => {
                let due = moment::after(started, self.drawn("work", self.around.pace.work));
                self.when(due, Look::finish);
            }
            Progress::Ended(Ok(())) => self.finish(),
            Progress::Ended(Err(message)) => self.crash(started, &message),
        }
        self.status.ready = is_running(&self.status);
    }

    fn finish_if_met(&mut self) {
        let started = self.started();
        match self.member() {
            Some(MemberStart::Refused(why)) => return self.crash(started, &why),
            Some(MemberStart::Waits(why)) if moment::after(started, MEMBER_TIMEOUT) <= self.around.now => {
                return self.crash(started, &why);
            }
            Some(MemberStart::Waits(_)) => return self.look_again(POLL),
            Some(MemberStart::Starts) | None => {}
        }
        if self.has_needs() {
            self.finish();
        } else {
            self.look_again(POLL);
        }
    }

    fn finish(&mut self) {
        if self.faults.contains(&FaultKind::Fails) {
            let started = self.started();
            return self.crash(started, "it was told to fail");
        }
        self.terminate(0, "Completed", None);
    }

    fn started(&self) -> Timestamp {
        let running = self.status.state.as_ref().and_then(|state| state.running.as_ref());
        running
            .and_then(|running| running.started_at.as_ref())
            .map_or(self.around.now, |time| time.0)
    }

    fn terminate(&mut self, exit_code: i32, reason: &str, message: Option<String>) {
        let started = self.started();
        self.status.state = Some(ContainerState {
            terminated: Some(ContainerStateTerminated {
                exit_code,
                reason: Some(reason.to_owned()),
                message,
                started_at: Some(moment::written(started)),
                finished_at: Some(moment::written(self.around.now)),
                container_id: self.status.container_id.clone(),
                ..ContainerStateTerminated::default()
            }),
            ..ContainerState::default()
        });
        self.status.ready = self.role == Role::Init && exit_code == 0;
        self.status.started = Some(false);
    }

    /// Ends with an error, and waits for its next chance if it has one.
    fn crash(&mut self, started: Timestamp, message: &str) {
        let at = ContainerStateRunning {
            started_at: Some(moment::written(started)),
        };
        self.status.state = Some(ContainerState {
            running: Some(at),
            ..ContainerState::default()
        });
        self.terminate(1, "Error", Some(message.to_owned()));
        if let Some(terminated) = end(&self.status).cloned() {
            self.after_end(&terminated);
        }
    }

    /// Restarts what has ended and should not have.
    fn after_end(&mut self, terminated: &ContainerStateTerminated) {
        let policy = restarts(self.around.pod);
        let has_failed = terminated.exit_code != 0;
        let is_restarted = match self.role {
            Role::Sidecar => true,
            Role::Init => has_failed && policy != "Never",
            Role::Main => policy == "Always" || (has_failed && policy == "OnFailure"),
        };
        if !is_restarted {
            return;
        }
        let pod = self.around.pod;
        let pause = backoff(self.status.restart_count);
        let message = format!(
            "back-off {}s restarting failed container={} pod={}_{}({})",
            pause.as_secs(),
            self.container.name,
            pod.name_any(),
            pod.namespace().unwrap_or_default(),
            pod.uid().unwrap_or_default()
        );
        self.notes.push(warning("BackOff", message.clone()));
        self.status.last_state = Some(ContainerState {
            terminated: Some(terminated.clone()),
            ..ContainerState::default()
        });
        self.status.state = Some(waits("CrashLoopBackOff", Some(message)));
        self.status.ready = false;
        self.after_pause();
    }

    fn after_pause(&mut self) {
        let last = self
            .status
            .last_state
            .as_ref()
            .and_then(|state| state.terminated.as_ref());
        let finished = last
            .and_then(|last| last.finished_at.as_ref())
            .map_or(self.around.now, |time| time.0);
        let due = moment::after(finished, backoff(self.status.restart_count));
        if due <= self.around.now {
            self.status.restart_count += 1;
            self.begin();
        } else {
            self.wake = Some(due);
        }
    }

    /// Is ready once its time has come and everything that it needs is there; then it stays so.
    fn become_ready(&mut self, started: Timestamp) {
        let slow = self.faults.iter().find_map(|fault| match fault {
            FaultKind::SlowStart(duration) => Some(*duration),
            _ => None,
        });
        let due = moment::after(
            started,
            self.drawn("ready", self.around.pace.ready) + slow.unwrap_or_default(),
        );
        if self.faults.contains(&FaultKind::NeverReady) || !self.has_ports() {
            self.status.ready = false;
            return;
        }
        if due > self.around.now {
            self.wake = Some(due);
            return;
        }
        let is_up = !self.is_api_server() || self.around.facts.serving(self.around.pod) == Serving::Up;
        // An API server depends on its store all the time, others only to come up.
        let is_ready = if self.is_api_server() {
            is_up && self.has_needs()
        } else {
            self.status.ready || self.has_needs()
        };
        self.status.ready = is_ready;
        if is_ready {
            self.status.started = Some(true);
        } else {
            self.look_again(POLL);
        }
    }

    /// Whether the readiness probe asks a port that the container has.
    fn has_ports(&self) -> bool {
        use k8s_openapi::apimachinery::pkg::util::intstr::IntOrString;

        let probe = self.container.readiness_probe.as_ref();
        let http = probe.and_then(|probe| probe.http_get.as_ref()).map(|get| &get.port);
        let tcp = probe
            .and_then(|probe| probe.tcp_socket.as_ref())
            .map(|socket| &socket.port);
        match http.or(tcp) {
            Some(IntOrString::String(name)) => {
                let mut ports = self.container.ports.iter().flatten();
                ports.any(|port| port.name.as_ref() == Some(name))
            }
            _ => true,
        }
    }
}

fn warning(reason: &'static str, message: String) -> Note {
    Note {
        is_warning: true,
        reason,
        message,
    }
}

/// The restart policy of a pod.
pub(super) fn restarts(pod: &Pod) -> &str {
    pods::spec(pod)
        .and_then(|spec| spec.restart_policy.as_deref())
        .unwrap_or("Always")
}

fn backoff(restarts: i32) -> Duration {
    let doubled = 2_u32.saturating_pow(u32::try_from(restarts).unwrap_or_default());
    BACKOFF.saturating_mul(doubled).min(LONGEST_BACKOFF)
}
