//! The machines of hosted clusters: an infrastructure provider whose instances boot, fetch their configuration, obey it
//! and join. Owns what is told about infrastructure machines and what is behind the Nodes that they become.
//!
//! ```text
//!  infrastructure machine ─► provider ─► instance (pure) ─► fetch ─► obey (pure) ─► join ─► Node
//!                               │                                                             │
//!                               └─► providerID, addresses, provisioned     inside: kubelets ◄─┘
//! ```

mod configuration;
mod data_url;
mod fetch;
mod floor;
mod hearing;
mod inside;
mod instance;
mod join;
mod kinds;
mod node;
mod obey;
mod provider;
mod script;
mod settings;
mod stub;
mod systemd;
mod unit;

use std::{collections::BTreeSet, sync::Arc};

use hyperplane_runtime::{Manager, ObjectKey, Reach, Store, Watch};
use k8s_openapi::api::core::v1::Secret;
use kube::ResourceExt;

pub use self::settings::{MachineKind, MachineSettings};
pub(crate) use self::{floor::Floor, hearing::Hearing};
use self::{
    inside::Inside,
    kinds::{Agent, InfrastructureMachine, Kubevirt, Machine, Provided},
    provider::Provider,
};
use crate::{faults::Faults, kubelet::World, network::Network, settings::TwinSettings, tasks::Tasks};

/// Instances that are looked at at a time. A pool of a thousand boots in a few seconds of work; each look is one exchange
/// with an ignition server or with a hosted API server at most.
const CONCURRENCY: usize = 64;

/// Everything that instances share.
pub(crate) struct Shared {
    /// The name of the twin.
    twin: String,
    /// How instances are.
    settings: MachineSettings,
    /// All chance follows from it.
    seed: u64,
    /// What goes wrong.
    faults: Faults,
    /// The instances that there are.
    floor: Arc<Floor>,
    /// What is behind the API servers of hosted clusters.
    inside: Arc<Inside>,
    /// The way to ignition servers.
    network: Network,
    /// The way to hosted API servers, with the credentials that an instance has.
    reach: Reach,
    /// The data that instances boot with.
    secrets: Store<Secret>,
}

/// The machine half of a twin.
pub(crate) struct Machines(Arc<Shared>);

impl Machines {
    pub(crate) fn new(
        settings: &TwinSettings,
        hearing: Hearing,
        world: &World,
        network: &Network,
        tasks: &Tasks,
    ) -> Self {
        let floor = Arc::clone(&hearing.floor);
        let inside = Inside::new(settings, Arc::clone(&world.hosted), hearing, tasks.clone());
        Self(Arc::new(Shared {
            twin: settings.name.clone(),
            settings: settings.machines.clone(),
            seed: settings.seed,
            faults: settings.faults.clone(),
            floor,
            inside: Arc::new(inside),
            network: network.clone(),
            reach: network.reach(),
            secrets: world.secrets.clone(),
        }))
    }

    /// Adds a provider per kind of machine. Where there are none, nothing is watched: the kinds may not exist.
    pub(crate) fn register(&self, manager: &mut Manager) {
        for kind in &self.0.settings.kinds {
            match kind {
                MachineKind::Kubevirt => provide::<Kubevirt>(manager, &self.0),
                MachineKind::Agent => provide::<Agent>(manager, &self.0),
            }
        }
    }
}

fn provide<K: Provided>(manager: &mut Manager, shared: &Arc<Shared>) {
    let machines = manager.store(Watch::<Machine>::all());
    let provider = Provider::<K>::new(Arc::clone(shared), machines);
    manager
        .controller(K::PLURAL, Watch::<InfrastructureMachine<K>>::all(), provider)
        .watches(Watch::<Machine>::all(), infrastructure_of::<K>)
        .reads(&shared.secrets)
        .concurrency(CONCURRENCY)
        .register();
}

/// The infrastructure machine that a Machine refers to, if it is of the kind.
fn infrastructure_of<K: Provided>(machine: &Machine) -> BTreeSet<ObjectKey> {
    let reference = &machine.spec["infrastructureRef"];
    let name = reference["name"].as_str().filter(|_| reference["kind"] == K::KIND);
    let namespace = machine.namespace().unwrap_or_default();
    name.map(|name| ObjectKey::namespaced(namespace, name))
        .into_iter()
        .collect()
}
