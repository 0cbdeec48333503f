//! What the server has answered, as numbers for a reader of metrics. Owns their names: those that the reference has too are
//! called as they are there, so that its dashboards go on.

use std::time::Duration;

use hyperplane_api::constants::annotations;
use k8s_openapi::api::core::v1::Secret;
use prometheus_client::{
    metrics::{counter::Counter, family::Family, gauge::Gauge, histogram::Histogram},
    registry::Registry,
};

use crate::answer::{Answer, Refusal};

type Labels = Vec<(&'static str, String)>;

/// Seconds that the making of a payload takes: a few thousandths, unless somebody gives megabytes of configuration.
const GENERATION_BUCKETS: [f64; 10] = [0.001, 0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0, 5.0];

/// All numbers. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Counts {
    answers: Family<Labels, Counter>,
    payloads: Family<Labels, Counter>,
    generation: Histogram,
    cache_misses: Counter,
    cached: Gauge,
}

impl Default for Counts {
    fn default() -> Self {
        Self {
            answers: Family::default(),
            payloads: Family::default(),
            generation: Histogram::new(GENERATION_BUCKETS),
            cache_misses: Counter::default(),
            cached: Gauge::default(),
        }
    }
}

impl Counts {
    /// Numbers on a page of metrics.
    pub fn register(registry: &mut Registry) -> Self {
        let counts = Self::default();
        for label in Refusal::ALL.map(Refusal::label).into_iter().chain(["payload"]) {
            drop(counts.answers.get_or_create(&outcome(label)));
        }
        registry.register(
            "hyperplane_ignition_answers",
            "Answers to machines by outcome",
            counts.answers.clone(),
        );
        registry.register(
            "ign_server_get_requests",
            "Configurations that were handed out, by NodePool",
            counts.payloads.clone(),
        );
        registry.register(
            "ign_server_payload_generation_seconds",
            "Time that the making of a configuration takes",
            counts.generation.clone(),
        );
        registry.register(
            "ign_server_payload_cache_miss",
            "Configurations that had to be made because none was kept",
            counts.cache_misses.clone(),
        );
        registry.register(
            "ign_server_payload_cache_total",
            "Configurations that are kept",
            counts.cached.clone(),
        );
        counts
    }

    /// Counts that a configuration was made.
    pub(crate) fn made(&self, elapsed: Duration) {
        self.cache_misses.inc();
        self.generation.observe(elapsed.as_secs_f64());
    }

    /// Tells how many are kept. It is told what there is, never what changes, so it cannot drift.
    pub(crate) fn kept(&self, count: usize) {
        self.cached.set(i64::try_from(count).unwrap_or(i64::MAX));
    }

    /// Counts an answer. Pools are named only by Secrets of ours, so nobody outside can make up labels.
    pub fn count(&self, answer: &Answer) {
        let label = match answer {
            Answer::Alive => return,
            Answer::Refused(refusal) => refusal.label(),
            Answer::Payload { secret, .. } => {
                self.payloads.get_or_create(&pool(secret)).inc();
                "payload"
            }
        };
        self.answers.get_or_create(&outcome(label)).inc();
    }
}

fn outcome(label: &str) -> Labels {
    vec![("outcome", label.to_owned())]
}

fn pool(secret: &Secret) -> Labels {
    let pool = annotations::NODE_POOL.of(secret).unwrap_or_default();
    vec![("node_pool", pool.to_owned())]
}
