//! The twin as a whole: what it is made of, and how it begins and ends. Which controller looks at what is in
//! `controllers`.

use std::sync::Arc;

use futures::{FutureExt as _, future::BoxFuture};
use hyperplane_apiserver::Logs;
use hyperplane_runtime::{Manager, ManagerError, Settings, Watch};
use kube::Client;
use thiserror::Error;
use tokio_util::sync::CancellationToken;

use crate::{
    controllers,
    hosted::{Ground, Hosted},
    kubelet::World,
    logs,
    machines::{Floor, Hearing, Machines},
    network::Network,
    nodes::{self, NodeError},
    settings::TwinSettings,
    tasks::Tasks,
};

/// Under which name the twin writes and reports.
const NAME: &str = "hyperplane-twin";

/// Why a twin cannot begin, or ended by itself.
#[derive(Debug, Error)]
pub enum TwinError {
    /// It has no machines.
    #[error("the machines of the twin are not there")]
    Nodes(#[from] NodeError),
    /// Its controllers ended.
    #[error("the controllers of the twin ended")]
    Manager(#[from] ManagerError),
}

/// A simulated world behind one API server.
pub struct Twin {
    client: Client,
    settings: TwinSettings,
    manager: Manager,
    world: Arc<World>,
    network: Network,
    machines: Machines,
    tasks: Tasks,
}

impl Twin {
    /// A world that stands still. Must be called inside a tokio runtime, like everything that makes a client.
    pub fn new(client: Client, settings: TwinSettings) -> Self {
        let mut of_manager = Settings::new(NAME, &settings.name, settings.clock.clone(), settings.seed);
        of_manager.limits = settings.limits;
        let manager = Manager::new(client.clone(), of_manager);
        let tasks = Tasks::default();
        let hearing = Hearing {
            floor: Arc::new(Floor::default()),
            faults: settings.faults.clone(),
            clock: settings.clock.clone(),
        };
        let of_logs = hearing.clone();
        let ground = Ground {
            clock: settings.clock.clone(),
            entropy: settings.entropy.clone(),
            shared: settings.shared.clone(),
            data: settings.data.clone(),
            claims: manager.store(Watch::all()),
            namespaces: manager.store(Watch::all()),
            tasks: tasks.clone(),
            is_heard: Arc::new(move |namespace, node| of_logs.is_heard(namespace, node)),
        };
        let faults = settings.faults.clone();
        let world = Arc::new(World::new(
            &manager,
            &settings,
            Box::new(move |node| faults.is_gone(node)),
            Arc::new(Hosted::new(ground)),
            tasks.clone(),
        ));
        let network = Network::new(Arc::clone(&world), tasks.clone(), settings.clock.clone());
        let machines = Machines::new(&settings, hearing, &world, &network, &tasks);
        Self {
            client,
            settings,
            manager,
            world,
            network,
            machines,
            tasks,
        }
    }

    /// The way to hosted clusters. It leads somewhere as soon as the twin runs.
    pub fn network(&self) -> Network {
        self.network.clone()
    }

    /// Who answers for the kubelets of the management cluster, for an API server that can ask.
    pub fn logs(&self) -> Logs {
        let faults = self.settings.faults.clone();
        logs::of_nodes(move |node| !faults.is_gone(node))
    }

    /// Runs until `stop`. Dropping the future instead is like a crash: what hosted clusters keep on a disk is there.
    pub fn run(mut self, stop: CancellationToken) -> BoxFuture<'static, Result<(), TwinError>> {
        async move {
            nodes::ensure(&self.client, &self.settings).await?;
            let _guard = self.tasks.guard();
            controllers::register(&mut self.manager, &self.settings, &self.world, &self.network);
            self.machines.register(&mut self.manager);
            let ended = self.manager.run(stop).await;
            self.world.hosted.close().await;
            Ok(ended?)
        }
        .boxed()
    }
}
