//! What goes wrong, as data: which pods, nodes or machines, and how. Owns the matching; what a fault does is done where
//! it hits.

use std::{
    sync::{Arc, PoisonError, RwLock},
    time::Duration,
};

use k8s_openapi::api::core::v1::Pod;
use kube::ResourceExt;

use crate::selector::{self, Labels};

/// One thing that goes wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Where.
    pub selector: FaultSelector,
    /// How.
    pub kind: FaultKind,
}

/// Which containers, nodes or machines a fault hits. What is left empty hits all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FaultSelector {
    /// The namespace of the pod, or of the machine.
    pub namespace: String,
    /// Labels of the pod, or of the infrastructure machine.
    pub labels: Labels,
    /// How the name of the pod begins.
    pub pod: String,
    /// The name of the container.
    pub container: String,
    /// The name of the node, for faults of nodes; for others, the node that the pod is on, or that the machine becomes.
    pub node: String,
    /// How the name of the infrastructure machine begins, for faults of machines.
    pub machine: String,
}

/// How something goes wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FaultKind {
    /// The image is not there.
    ImageMissing,
    /// The container ends with an error soon after its start, so many times.
    CrashLoop {
        /// How many times.
        times: i32,
    },
    /// The container takes this much longer to be ready.
    SlowStart(Duration),
    /// The container runs and is never ready.
    NeverReady,
    /// The container of a pod that runs to its end fails.
    Fails,
    /// The container does not end before its grace period does.
    SlowStop,
    /// The node is not heard of any more.
    NodeGone,
    /// The machine never boots.
    NeverBoots,
    /// The machine takes this much longer to boot.
    SlowBoot(Duration),
    /// What the machine fetches arrives damaged.
    BrokenIgnition,
    /// The machine is configured, and its kubelet never asks for a certificate.
    NeverJoins,
    /// Nothing is heard of the machine for some time, counted from the moment at which it joined; where it had joined
    /// before this began to go wrong, from the moment at which that was noticed.
    Silent {
        /// When that begins.
        from: Duration,
        /// When it is heard of again; never where nothing is said.
        until: Option<Duration>,
    },
}

/// The faults of a world. Cheap to clone; every clone has the same faults, and they can change while the world runs:
/// what has happened stays, what happens next is looked up.
#[derive(Clone, Debug, Default)]
pub struct Faults(Arc<RwLock<Vec<Fault>>>);

impl Faults {
    /// A world in which these go wrong.
    pub fn new(faults: Vec<Fault>) -> Self {
        Self(Arc::new(RwLock::new(faults)))
    }

    /// From now on these go wrong, and no others.
    pub fn set(&self, faults: Vec<Fault>) {
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = faults;
    }

    /// Everything that goes wrong with a container.
    pub(crate) fn of(&self, pod: &Pod, container: &str) -> Vec<FaultKind> {
        let faults = self.0.read().unwrap_or_else(PoisonError::into_inner);
        let hits = faults.iter().filter(|fault| fault.selector.hits(pod, container));
        hits.map(|fault| fault.kind.clone()).collect()
    }

    /// Everything that goes wrong with a machine. A fault of a pod or a container hits none.
    pub(crate) fn of_machine(&self, namespace: &str, name: &str, labels: &Labels) -> Vec<FaultKind> {
        let faults = self.0.read().unwrap_or_else(PoisonError::into_inner);
        let hits = faults
            .iter()
            .filter(|fault| fault.selector.hits_machine(namespace, name, labels));
        hits.map(|fault| fault.kind.clone()).collect()
    }

    /// Whether a node is not heard of.
    pub(crate) fn is_gone(&self, node: &str) -> bool {
        let faults = self.0.read().unwrap_or_else(PoisonError::into_inner);
        faults.iter().any(|fault| {
            fault.kind == FaultKind::NodeGone
                && matches!(fault.selector.node.as_str(), name if name.is_empty() || name == node)
        })
    }
}

impl FaultSelector {
    fn hits(&self, pod: &Pod, container: &str) -> bool {
        let is = |wanted: &str, found: &str| wanted.is_empty() || wanted == found;
        is(&self.namespace, &pod.namespace().unwrap_or_default())
            && is(&self.container, container)
            && is(&self.node, crate::pods::node(pod))
            && pod.name_any().starts_with(&self.pod)
            && selector::contains(pod.labels(), &self.labels)
    }

    fn hits_machine(&self, namespace: &str, name: &str, labels: &Labels) -> bool {
        let is = |wanted: &str, found: &str| wanted.is_empty() || wanted == found;
        is(&self.namespace, namespace)
            && is(&self.node, name)
            && self.pod.is_empty()
            && self.container.is_empty()
            && name.starts_with(&self.machine)
            && selector::contains(labels, &self.labels)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(value: &str) -> Labels {
        Labels::from([("pool".to_owned(), value.to_owned())])
    }

    #[test]
    fn faults_hit_the_machines_that_they_select() {
        type Change = fn(&mut FaultSelector);
        let cases: [(Change, bool); 10] = [
            (|_| {}, true),
            (|selector| selector.machine = "pool-a".to_owned(), true),
            (|selector| selector.machine = "pool-b".to_owned(), false),
            (|selector| selector.node = "pool-a-1".to_owned(), true),
            (|selector| selector.node = "pool-a".to_owned(), false),
            (|selector| selector.namespace = "clusters-a".to_owned(), true),
            (|selector| selector.namespace = "clusters-b".to_owned(), false),
            (|selector| selector.pod = "pool-a".to_owned(), false),
            (|selector| selector.labels = labels("a"), true),
            (|selector| selector.labels = labels("b"), false),
        ];
        for (change, expected) in cases {
            let mut selector = FaultSelector::default();
            change(&mut selector);
            let faults = Faults::new(vec![Fault {
                selector: selector.clone(),
                kind: FaultKind::NeverBoots,
            }]);
            let hits = faults.of_machine("clusters-a", "pool-a-1", &labels("a"));
            assert_eq!(!hits.is_empty(), expected, "{selector:?}");
        }
    }
}
