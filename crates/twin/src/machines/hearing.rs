//! What is heard of instances: whether their kubelets answer, by where they are and what goes wrong with them.

use std::sync::Arc;

use hyperplane_runtime::ObjectKey;
use hyperplane_seams::Clock;
use jiff::Timestamp;

use super::{
    floor::{Floor, Instance},
    instance::{Phase, silent_since},
};
use crate::{faults::Faults, selector::Labels};

/// What is heard of the machines of all hosted clusters. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Hearing {
    /// The instances that there are.
    pub(crate) floor: Arc<Floor>,
    /// What goes wrong.
    pub(crate) faults: Faults,
    /// Wall time.
    pub(crate) clock: Clock,
}

impl Hearing {
    /// The instance behind a node of the hosted cluster of a namespace.
    pub(super) fn instance(&self, namespace: &str, node: &str, now: Timestamp) -> Option<Instance> {
        let key = ObjectKey::namespaced(namespace, node);
        let suffered = |labels: &Labels| self.faults.of_machine(namespace, node, labels);
        self.floor.see(&key, now, suffered)
    }

    /// Whether the kubelet of a node answers.
    pub(crate) fn is_heard(&self, namespace: &str, node: &str) -> bool {
        let now = self.clock.now();
        let is_running = self
            .instance(namespace, node, now)
            .is_some_and(|instance| match instance.phase {
                Phase::Running { since } => silent_since(since, &instance.faults, now).is_none(),
                _ => false,
            });
        is_running && !self.faults.is_gone(node)
    }
}
