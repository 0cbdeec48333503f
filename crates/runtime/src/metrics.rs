//! Metrics under the names that controller-runtime made common, so that existing dashboards work, and a few of our
//! own. Owns the registry; there is no global one.

use std::{
    fmt,
    sync::{Arc, Mutex, atomic::AtomicU64},
    time::Duration,
};

use prometheus_client::{
    encoding::text,
    metrics::{counter::Counter, family::Family, gauge::Gauge, histogram::Histogram},
    registry::Registry,
};

use crate::{failure::Disposition, store::lock};

type Labels = Vec<(&'static str, String)>;
type Seconds = Gauge<f64, AtomicU64>;

/// controller-runtime's buckets for the time of a reconcile, in seconds.
const RECONCILE_BUCKETS: [f64; 40] = [
    0.005, 0.01, 0.025, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.25, 1.5,
    1.75, 2.0, 2.5, 3.0, 3.5, 4.0, 4.5, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 15.0, 20.0, 25.0, 30.0, 40.0, 50.0, 60.0,
];
/// controller-runtime's buckets for the work queue, in seconds.
const QUEUE_BUCKETS: [f64; 12] = [1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1.0, 10.0, 100.0, 1000.0];

/// All metrics of one manager. Cheap to clone.
#[derive(Clone)]
pub struct Metrics(Arc<Families>);

struct Families {
    registry: Mutex<Registry>,
    reconciles: Family<Labels, Counter>,
    reconcile_errors: Family<Labels, Counter>,
    terminal_errors: Family<Labels, Counter>,
    panics: Family<Labels, Counter>,
    failures: Family<Labels, Counter>,
    reconcile_time: Family<Labels, Histogram>,
    concurrency: Family<Labels, Gauge>,
    active_workers: Family<Labels, Gauge>,
    depth: Family<Labels, Gauge>,
    adds: Family<Labels, Counter>,
    retries: Family<Labels, Counter>,
    queue_duration: Family<Labels, Histogram>,
    work_duration: Family<Labels, Histogram>,
    unfinished_work: Family<Labels, Seconds>,
    longest_running: Family<Labels, Seconds>,
    leader: Family<Labels, Gauge>,
    watch_restarts: Family<Labels, Counter>,
    cached_objects: Family<Labels, Gauge>,
    writes: Family<Labels, Counter>,
    dropped_events: Counter,
}

/// How one write ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Write {
    Applied,
    Skipped,
    Deleted,
    Failed,
}

impl Metrics {
    /// An empty set, all registered.
    #[expect(clippy::too_many_lines, reason = "a table of names, one line each")]
    pub fn new() -> Self {
        let reconcile_time = || Histogram::new(RECONCILE_BUCKETS);
        let queue_time = || Histogram::new(QUEUE_BUCKETS);
        let mut registry = Registry::default();
        let families = Families {
            reconciles: counter(&mut registry, "controller_runtime_reconcile", "Reconciles by result"),
            reconcile_errors: counter(
                &mut registry,
                "controller_runtime_reconcile_errors",
                "Reconciles that failed",
            ),
            terminal_errors: counter(
                &mut registry,
                "controller_runtime_terminal_reconcile_errors",
                "Reconciles that failed and are not retried before a change",
            ),
            panics: counter(
                &mut registry,
                "controller_runtime_reconcile_panics",
                "Reconciles that panicked",
            ),
            failures: counter(&mut registry, "hyperplane_runtime_failures", "Failures by category"),
            reconcile_time: histogram(
                &mut registry,
                "controller_runtime_reconcile_time_seconds",
                "Time per reconcile",
                reconcile_time,
            ),
            concurrency: gauge(
                &mut registry,
                "controller_runtime_max_concurrent_reconciles",
                "Reconciles that may run at a time",
            ),
            active_workers: gauge(
                &mut registry,
                "controller_runtime_active_workers",
                "Reconciles under way",
            ),
            depth: gauge(&mut registry, "workqueue_depth", "Keys that could run now"),
            adds: counter(&mut registry, "workqueue_adds", "Requests for a run"),
            retries: counter(&mut registry, "workqueue_retries", "Runs put off by backoff"),
            queue_duration: histogram(
                &mut registry,
                "workqueue_queue_duration_seconds",
                "Time from being due to the start",
                queue_time,
            ),
            work_duration: histogram(
                &mut registry,
                "workqueue_work_duration_seconds",
                "Time from the start to the end",
                queue_time,
            ),
            unfinished_work: gauge(
                &mut registry,
                "workqueue_unfinished_work_seconds",
                "Sum of the time that runs under way have taken so far",
            ),
            longest_running: gauge(
                &mut registry,
                "workqueue_longest_running_processor_seconds",
                "Time that the longest run under way has taken so far",
            ),
            leader: gauge(
                &mut registry,
                "leader_election_master_status",
                "1 if this process leads",
            ),
            watch_restarts: counter(
                &mut registry,
                "hyperplane_runtime_watch_restarts",
                "Watches that failed",
            ),
            cached_objects: gauge(&mut registry, "hyperplane_runtime_cached_objects", "Objects per watch"),
            writes: counter(&mut registry, "hyperplane_runtime_writes", "Writes by result"),
            dropped_events: Counter::default(),
            registry: Mutex::default(),
        };
        registry.register(
            "hyperplane_runtime_dropped_events",
            "Kubernetes events given up because too many were waiting",
            families.dropped_events.clone(),
        );
        *lock(&families.registry) = registry;
        Self(Arc::new(families))
    }

    /// Lets others add metrics of their own to the same page.
    pub fn extend(&self, register: impl FnOnce(&mut Registry)) {
        register(&mut lock(&self.0.registry));
    }

    /// The page in the OpenMetrics text format.
    pub fn render(&self) -> String {
        let mut page = String::new();
        let written = text::encode(&mut page, &lock(&self.0.registry));
        debug_assert!(written.is_ok(), "writing to a string cannot fail");
        page
    }

    pub(crate) fn controller(&self, name: &str) -> ControllerMetrics {
        let controller = vec![("controller", name.to_owned())];
        let queue = vec![("name", name.to_owned()), ("controller", name.to_owned())];
        let families = &self.0;
        ControllerMetrics {
            concurrency: families.concurrency.get_or_create_owned(&controller),
            active_workers: families.active_workers.get_or_create_owned(&controller),
            reconcile_errors: families.reconcile_errors.get_or_create_owned(&controller),
            terminal_errors: families.terminal_errors.get_or_create_owned(&controller),
            panics: families.panics.get_or_create_owned(&controller),
            reconcile_time: families.reconcile_time.get_or_create_owned(&controller),
            depth: families.depth.get_or_create_owned(&queue),
            adds: families.adds.get_or_create_owned(&queue),
            retries: families.retries.get_or_create_owned(&queue),
            queue_duration: families.queue_duration.get_or_create_owned(&queue),
            work_duration: families.work_duration.get_or_create_owned(&queue),
            unfinished_work: families.unfinished_work.get_or_create_owned(&queue),
            longest_running: families.longest_running.get_or_create_owned(&queue),
            name: name.to_owned(),
            metrics: self.clone(),
        }
    }

    pub(crate) fn watch_restarted(&self, kind: &str) {
        self.0
            .watch_restarts
            .get_or_create(&vec![("kind", kind.to_owned())])
            .inc();
    }

    pub(crate) fn cached_objects(&self, watch: &str, objects: usize) {
        let gauge = self
            .0
            .cached_objects
            .get_or_create_owned(&vec![("watch", watch.to_owned())]);
        gauge.set(to_gauge(objects));
    }

    pub(crate) fn leads(&self, lease: &str, is_leader: bool) {
        let gauge = self.0.leader.get_or_create_owned(&vec![("name", lease.to_owned())]);
        gauge.set(i64::from(is_leader));
    }

    pub(crate) fn wrote(&self, controller: &str, write: Write) {
        let result = match write {
            Write::Applied => "applied",
            Write::Skipped => "skipped",
            Write::Deleted => "deleted",
            Write::Failed => "failed",
        };
        let labels = vec![("controller", controller.to_owned()), ("result", result.to_owned())];
        self.0.writes.get_or_create(&labels).inc();
    }

    pub(crate) fn event_dropped(&self) {
        self.0.dropped_events.inc();
    }
}

impl Default for Metrics {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Metrics {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Metrics")
    }
}

/// The metrics of one controller, looked up once.
pub(crate) struct ControllerMetrics {
    name: String,
    metrics: Metrics,
    pub(crate) concurrency: Gauge,
    pub(crate) active_workers: Gauge,
    pub(crate) reconcile_errors: Counter,
    pub(crate) terminal_errors: Counter,
    pub(crate) panics: Counter,
    pub(crate) reconcile_time: Histogram,
    pub(crate) depth: Gauge,
    pub(crate) adds: Counter,
    pub(crate) retries: Counter,
    pub(crate) queue_duration: Histogram,
    pub(crate) work_duration: Histogram,
    pub(crate) unfinished_work: Seconds,
    pub(crate) longest_running: Seconds,
}

impl ControllerMetrics {
    /// Counts one reconcile under controller-runtime's words: success, requeue, requeue_after or error.
    pub(crate) fn reconciled(&self, result: &'static str, took: Duration) {
        let labels = vec![("controller", self.name.clone()), ("result", result.to_owned())];
        self.metrics.0.reconciles.get_or_create(&labels).inc();
        self.reconcile_time.observe(took.as_secs_f64());
        self.work_duration.observe(took.as_secs_f64());
    }

    pub(crate) fn failed(&self, disposition: Disposition) {
        let category = disposition.meaning().metric_label.to_owned();
        let labels = vec![("controller", self.name.clone()), ("category", category)];
        self.metrics.0.failures.get_or_create(&labels).inc();
        match disposition {
            Disposition::Retry => {
                self.reconcile_errors.inc();
                self.retries.inc();
            }
            Disposition::Fatal | Disposition::User => {
                self.reconcile_errors.inc();
                self.terminal_errors.inc();
            }
            Disposition::Wait => {}
        }
    }
}

pub(crate) fn to_gauge(count: usize) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

fn counter(registry: &mut Registry, name: &str, help: &str) -> Family<Labels, Counter> {
    let family = Family::default();
    registry.register(name, help, family.clone());
    family
}

fn gauge<G>(registry: &mut Registry, name: &str, help: &str) -> Family<Labels, G>
where
    Family<Labels, G>: prometheus_client::registry::Metric,
    G: Default,
{
    let family = Family::<Labels, G>::default();
    registry.register(name, help, family.clone());
    family
}

fn histogram(registry: &mut Registry, name: &str, help: &str, new: fn() -> Histogram) -> Family<Labels, Histogram> {
    let family = Family::new_with_constructor(new);
    registry.register(name, help, family.clone());
    family
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_carries_the_names_that_dashboards_know() {
        let metrics = Metrics::new();
        let controller = metrics.controller("widget");
        controller.concurrency.set(8);
        controller.adds.inc();
        controller.reconciled("success", Duration::from_millis(20));
        controller.failed(Disposition::Retry);
        controller.failed(Disposition::User);
        metrics.leads("hyperplane", true);
        metrics.watch_restarted("Pod");
        metrics.wrote("widget", Write::Skipped);
        metrics.event_dropped();
        let page = metrics.render();
        for line in [
            r#"controller_runtime_reconcile_total{controller="widget",result="success"} 1"#,
            r#"controller_runtime_reconcile_errors_total{controller="widget"} 2"#,
            r#"controller_runtime_terminal_reconcile_errors_total{controller="widget"} 1"#,
            r#"controller_runtime_reconcile_panics_total{controller="widget"} 0"#,
            r#"controller_runtime_reconcile_time_seconds_count{controller="widget"} 1"#,
            r#"controller_runtime_reconcile_time_seconds_bucket{le="0.025",controller="widget"} 1"#,
            r#"controller_runtime_max_concurrent_reconciles{controller="widget"} 8"#,
            r#"controller_runtime_active_workers{controller="widget"} 0"#,
            r#"workqueue_depth{name="widget",controller="widget"} 0"#,
            r#"workqueue_adds_total{name="widget",controller="widget"} 1"#,
            r#"workqueue_retries_total{name="widget",controller="widget"} 1"#,
            r#"workqueue_queue_duration_seconds_count{name="widget",controller="widget"} 0"#,
            r#"workqueue_work_duration_seconds_count{name="widget",controller="widget"} 1"#,
            r#"workqueue_unfinished_work_seconds{name="widget",controller="widget"} 0.0"#,
            r#"workqueue_longest_running_processor_seconds{name="widget",controller="widget"} 0.0"#,
            r#"leader_election_master_status{name="hyperplane"} 1"#,
            r#"hyperplane_runtime_watch_restarts_total{kind="Pod"} 1"#,
            r#"hyperplane_runtime_failures_total{controller="widget",category="user"} 1"#,
            r#"hyperplane_runtime_writes_total{controller="widget",result="skipped"} 1"#,
            r"hyperplane_runtime_dropped_events_total 1",
        ] {
            assert!(page.lines().any(|found| found == line), "{line} is missing in\n{page}");
        }
        assert!(page.ends_with("# EOF\n"));
    }
}
