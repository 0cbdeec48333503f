//! What the server has answered, as numbers for a reader of metrics. Owns their names.

use hyperplane_api::constants::annotations;
use k8s_openapi::api::core::v1::Secret;
use prometheus_client::{
    metrics::{counter::Counter, family::Family},
    registry::Registry,
};

use crate::answer::{Answer, Refusal};

type Labels = Vec<(&'static str, String)>;

/// All numbers. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub struct Counts {
    answers: Family<Labels, Counter>,
    payloads: Family<Labels, Counter>,
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
            "hyperplane_ignition_payloads",
            "Configurations that were handed out, by NodePool",
            counts.payloads.clone(),
        );
        counts
    }

    /// Counts an answer. Pools are named only by Secrets of ours, so nobody outside can make up labels.
    pub fn count(&self, answer: &Answer) {
        let label = match answer {
            Answer::Alive => return,
            Answer::Refused(refusal) => refusal.label(),
            Answer::Payload(secret) => {
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
