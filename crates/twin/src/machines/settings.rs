//! What is told from outside about machines of hosted clusters. Plain data; decides nothing.

use std::{collections::BTreeSet, time::Duration};

/// A kind of infrastructure machine that the twin provides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum MachineKind {
    /// `KubevirtMachine`: virtual machines.
    Kubevirt,
    /// `AgentMachine`: hosts with an agent.
    Agent,
}

/// The machines of hosted clusters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MachineSettings {
    /// The kinds that are provided. None, unless somebody says so: a cluster may not have them, or a real provider.
    pub kinds: BTreeSet<MachineKind>,
    /// From the data that a machine boots with to its first request, at most; each time is drawn from the seed.
    pub boot: Duration,
    /// From the configuration of a machine to the first request of its kubelet, at most.
    pub start: Duration,
    /// The pause after an exchange of a machine that did not work.
    pub retry: Duration,
    /// From the wish that a machine ends to its end, at most; at least half of it.
    pub stop: Duration,
    /// Processors of machines that do not say how many they have, as a quantity.
    pub cpu: String,
    /// Memory of such machines, as a quantity.
    pub memory: String,
    /// Pods that a machine takes where its kubelet is not told.
    pub pods: usize,
    /// How often a Lease tells that a node lives; without it nothing is written at rest.
    pub heartbeat: Option<Duration>,
}

impl Default for MachineSettings {
    fn default() -> Self {
        Self {
            kinds: BTreeSet::new(),
            boot: Duration::from_secs(40),
            start: Duration::from_secs(10),
            // Ignition's longest.
            retry: Duration::from_secs(5),
            stop: Duration::from_secs(5),
            cpu: "4".to_owned(),
            memory: "16Gi".to_owned(),
            pods: 110,
            heartbeat: None,
        }
    }
}

impl MachineSettings {
    /// Virtual machines, with everything else as usual.
    pub fn kubevirt() -> Self {
        Self {
            kinds: BTreeSet::from([MachineKind::Kubevirt]),
            ..Self::default()
        }
    }

    /// The same without delays.
    #[must_use]
    pub fn instant(self) -> Self {
        Self {
            boot: Duration::ZERO,
            start: Duration::ZERO,
            stop: Duration::ZERO,
            ..self
        }
    }
}
