//! The world on paused time: processes that live and die, and what must be true of them.

use std::{collections::BTreeMap, sync::PoisonError, time::Duration};

use hyperplane_runtime::{Admin, Clock, LeaseSettings, Manager, Random, Settings};
use serde_json::{Value, json};
use tokio::{
    task::JoinHandle,
    time::{Instant, sleep},
};
use tokio_util::sync::CancellationToken;

use crate::{
    server::{Faults, Server},
    state::{Id, Line},
    users::{Users, is_guarded},
    widget::{Runs, Widget, child_name, register},
};

/// Runs one world to its end on a runtime of its own, so that a seed is all that decides.
pub fn simulate<T>(world: impl AsyncFnOnce() -> T) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build();
    runtime.expect("a runtime without I/O can be built").block_on(world())
}

/// One running process.
pub struct Process {
    pub admin: Admin,
    task: JoinHandle<()>,
    stop: CancellationToken,
}

impl Process {
    /// Dies at once, wherever it stands.
    pub async fn crash(self) {
        self.task.abort();
        drop(self.task.await);
    }

    /// Shuts down in order.
    pub async fn stop(self) {
        self.stop.cancel();
        self.task.await.expect("the manager ends without a panic");
    }
}

/// Names an object of the namespace `a`.
pub fn id(plural: &str, name: &str) -> Id {
    (plural.to_owned(), "a".to_owned(), name.to_owned())
}

pub struct World {
    pub server: Server,
    pub users: Users,
    pub random: Random,
    pub runs: Runs,
    pub seed: u64,
    pub concurrency: usize,
    pub has_lease: bool,
    pub hosts: u64,
}

impl World {
    pub fn new(seed: u64, widgets: u64) -> Self {
        let clock = Clock::anchored("2026-01-01T00:00:00Z".parse().expect("a valid time"));
        Self {
            server: Server::new(seed, clock),
            users: Users {
                random: Random::named(seed, "users"),
                widgets,
            },
            random: Random::named(seed, "world"),
            runs: Runs::default(),
            seed,
            concurrency: 4,
            has_lease: true,
            hosts: 0,
        }
    }

    /// Starts a process with a name of its own.
    pub fn start(&mut self) -> Process {
        self.hosts += 1;
        let identity = format!("host-{}", self.hosts);
        let mut settings = Settings::new(
            "simulation",
            &identity,
            self.server.0.clock.clone(),
            self.seed ^ self.hosts,
        );
        settings.lease = self
            .has_lease
            .then(|| LeaseSettings::new("system", "runner", &identity));
        let mut manager = Manager::new(self.server.client(&identity), settings);
        register(&mut manager, &self.runs, self.concurrency);
        let stop = CancellationToken::new();
        let admin = manager.admin();
        let run = manager.run(stop.clone());
        let task = tokio::spawn(async move { run.await.expect("no controller ends by itself") });
        Process { admin, task, stop }
    }

    pub fn set_faults(&self, percent: u64) {
        self.server.lock().faults = Faults {
            percent,
            is_watch_flaky: percent > 0,
        };
    }

    /// Creates a widget in the namespace `a`, or gives it another spec.
    pub fn put(&self, name: &str, spec: &Value) {
        let id = id("widgets", name);
        let object = json!({"apiVersion": "example.test/v1", "kind": "Widget", "metadata": {}, "spec": spec});
        self.server.act("put", &id, |state| {
            if state.create(&id, object).is_err() {
                state.edit(&id, |live| live["spec"] = spec.clone()).expect("it exists");
            }
        });
    }

    /// An object of the namespace `a`; null if there is none.
    pub fn get(&self, plural: &str, name: &str) -> Value {
        self.server
            .lock()
            .state
            .objects
            .get(&id(plural, name))
            .cloned()
            .unwrap_or_default()
    }

    /// When the reconciler ran for a widget of the namespace `a`.
    pub fn runs_of(&self, name: &str) -> Vec<Instant> {
        let runs = self.runs.lock().unwrap_or_else(PoisonError::into_inner);
        let name = format!("a/{name}");
        runs.iter()
            .filter(|(_, found)| *found == name)
            .map(|(at, _)| *at)
            .collect()
    }

    /// Everything that is not as it should be.
    pub fn complaints(&self) -> Vec<String> {
        let inner = self.server.lock();
        let mut complaints = inner.violations.clone();
        let of = |plural: &str| -> BTreeMap<String, Value> {
            let found = inner.state.objects.iter().filter(|(id, _)| id.0 == plural);
            found
                .map(|(id, object)| (format!("{}/{}", id.1, id.2), object.clone()))
                .collect()
        };
        let (widgets, mut children, secrets) = (of("widgets"), of("configmaps"), of("secrets"));
        for (key, object) in &widgets {
            if object["metadata"]["deletionTimestamp"].is_string() {
                complaints.push(format!("{key} is still being deleted"));
                continue;
            }
            let widget: Widget = hyperplane_objects::read(object).expect("all are repaired");
            let namespace = widget.metadata.namespace.clone().unwrap_or_default();
            let tone = |name: &String| secrets[&format!("{namespace}/{name}")]["stringData"]["tone"].clone();
            let paint = match &widget.spec.palette {
                Some(palette) => format!("{}-{}", tone(palette).as_str().unwrap_or_default(), widget.spec.color),
                None => widget.spec.color.clone(),
            };
            for number in 0..widget.spec.children {
                let name = format!("{namespace}/{}", child_name(&widget, number));
                let child = children.remove(&name).unwrap_or_default();
                let label = &child["metadata"]["labels"]["app"];
                if child["data"]["paint"] != paint.as_str() || label != "widget" {
                    complaints.push(format!("{name} is {child}, not {paint}"));
                }
            }
            let status = &object["status"];
            let condition = &status["conditions"][0];
            if status["children"] != widget.spec.children || condition["message"] != format!("painted in {paint}") {
                complaints.push(format!("{key} has the status {status}"));
            }
            if !is_guarded(object) {
                complaints.push(format!("{key} is not guarded"));
            }
        }
        // Whoever takes the label off a child hides it from the controller; a garbage collector would find it.
        children.retain(|_, child| child["metadata"]["labels"]["app"] == "widget");
        complaints.extend(children.keys().map(|name| format!("{name} is nobody's")));
        complaints
    }

    /// Writes of processes since a position in the trace, the lease left out.
    pub fn writes_since(&self, position: usize) -> Vec<Line> {
        let inner = self.server.lock();
        let is_write = |line: &&Line| {
            !matches!(line.verb, "get" | "list" | "watch" | "fault")
                && line.actor != "user"
                && !line.object.starts_with("leases/")
        };
        inner.trace[position..].iter().filter(is_write).cloned().collect()
    }

    pub fn trace_length(&self) -> usize {
        self.server.lock().trace.len()
    }

    pub fn run_count(&self) -> usize {
        self.runs.lock().unwrap_or_else(PoisonError::into_inner).len()
    }

    /// Lets the world come to rest and checks that it did, and that it stays there.
    pub async fn settle_and_check(&mut self) {
        self.set_faults(0);
        self.server.lock().partitioned = None;
        Users::repair(&self.server);
        // Longer than the longest backoff, and far shorter than a resync: what was missed shows.
        sleep(Duration::from_mins(20)).await;
        let complaints = self.complaints();
        assert!(complaints.is_empty(), "seed {}: {complaints:#?}", self.seed);
        let (position, runs) = (self.trace_length(), self.run_count());
        sleep(Duration::from_mins(20)).await;
        let writes = self.writes_since(position);
        assert!(writes.is_empty(), "seed {}: writes at rest: {writes:#?}", self.seed);
        let extra = self.run_count() - runs;
        assert!(extra == 0, "seed {}: {extra} runs at rest", self.seed);
        assert!(self.complaints().is_empty(), "seed {}", self.seed);
    }
}

/// The spec of a widget.
pub fn spec(children: u32, color: &str) -> Value {
    json!({"children": children, "color": color})
}

/// A world without a lease, with one process that has started.
pub async fn running(widgets: &[(&str, Value)]) -> (World, Process) {
    let mut world = World::new(5, 1);
    world.has_lease = false;
    for (name, spec) in widgets {
        world.put(name, spec);
    }
    let process = world.start();
    sleep(Duration::from_secs(10)).await;
    (world, process)
}

/// Seconds until something is true, at most two hours.
pub async fn seconds_until(holds: impl Fn() -> bool) -> u64 {
    let start = Instant::now();
    while !holds() {
        assert!(start.elapsed() < Duration::from_hours(2), "it never came true");
        sleep(Duration::from_millis(100)).await;
    }
    start.elapsed().as_secs()
}
