//! The program from its start to its end: the machines of the management cluster on one side, the requests of the hosted
//! cluster on the other. Owns the two managers and the kubeconfig, which changes while the program runs.

use std::{path::PathBuf, sync::Arc, time::Duration};

use futures::{FutureExt as _, future::BoxFuture};
use hyperplane_api::cluster_api::machine::Machine;
use hyperplane_runtime::{
    Api, Clock, Failure, Manager, ManagerError, Reach, Settings as ManagerSettings, Store, Watch,
};
use kube::{Client, api::ListParams};
use tokio::{fs::File, io::AsyncReadExt as _, time::sleep};
use tokio_util::sync::CancellationToken;

use crate::{
    approver::{index_machines, register},
    health::Health,
    memory::Memory,
};

/// How often it is looked whether the kind of machines exists, where it does not.
const KIND_PERIOD: Duration = Duration::from_secs(30);
/// How often it is looked whether the kubeconfig has changed.
const KUBECONFIG_PERIOD: Duration = Duration::from_secs(10);
/// Bytes of a kubeconfig that are read: what a Secret may hold.
const KUBECONFIG_BYTES: u64 = 1 << 20;

/// What the program is told from outside.
#[derive(Clone)]
pub struct Settings {
    /// The namespace of the control plane, with its machines.
    pub namespace: String,
    /// The kubeconfig of the hosted cluster.
    pub kubeconfig: PathBuf,
    /// How the hosted API server is reached.
    pub reach: Reach,
    /// What probes are told.
    pub health: Health,
    /// Tells this process from others.
    pub instance: String,
    /// Wall time.
    pub clock: Clock,
    /// All jitter follows from it.
    pub seed: u64,
}

impl Settings {
    fn manager(&self, client: Client) -> Manager {
        let settings = ManagerSettings::new("hyperplane", &self.instance, self.clock.clone(), self.seed);
        Manager::new(client, settings)
    }
}

/// Approves until `stop`.
pub fn run(
    management: Client,
    settings: Settings,
    stop: CancellationToken,
) -> BoxFuture<'static, Result<(), ManagerError>> {
    async move {
        let machines: Api<Machine> = Api::namespaced(management.clone(), &settings.namespace);
        if stop.run_until_cancelled(kind_exists(&machines)).await.is_none() {
            return Ok(());
        }
        let manager = settings.manager(management);
        let machines = manager.store(Watch::<Machine>::namespace(&settings.namespace));
        index_machines(&machines);
        // The one that ends by a mistake of ours ends the other.
        let stop = stop.child_token();
        let watching = async {
            let ended = manager.run(stop.clone()).await;
            stop.cancel();
            ended
        };
        let approving = async {
            let ended = approve(&settings, &machines, &stop).await;
            stop.cancel();
            ended
        };
        let (watched, approved) = tokio::join!(watching, approving);
        watched.and(approved)
    }
    .boxed()
}

/// The same between two clients that never change, for those who have no file: a simulation, or a measurement. It ends when
/// either half does.
pub async fn run_between(
    management: Client,
    hosted: Client,
    namespace: &str,
    settings: &ManagerSettings,
    stop: CancellationToken,
) -> Result<(), ManagerError> {
    let of_machines = Manager::new(management, settings.clone());
    let machines = of_machines.store(Watch::<Machine>::namespace(namespace));
    index_machines(&machines);
    let mut of_requests = Manager::new(hosted, settings.clone());
    register(&mut of_requests, &machines, &Arc::new(Memory::default()));
    tokio::try_join!(of_machines.run(stop.clone()), of_requests.run(stop)).map(drop)
}

/// Waits until machines can be listed at all: where nobody has Cluster API, nobody has machines.
async fn kind_exists(machines: &Api<Machine>) {
    let mut is_said = false;
    loop {
        match machines.list_metadata(&ListParams::default().limit(1)).await {
            Err(kube::Error::Api(status)) if status.code == 404 => {
                if !is_said {
                    tracing::info!("Waiting: the management cluster has no machines.cluster.x-k8s.io of v1beta2.");
                    is_said = true;
                }
            }
            // Whatever else is wrong, the watch says it, and tries again.
            _ => return,
        }
        sleep(KIND_PERIOD).await;
    }
}

/// Works with one kubeconfig after the other.
async fn approve(settings: &Settings, machines: &Store<Machine>, stop: &CancellationToken) -> Result<(), ManagerError> {
    let memory = Arc::new(Memory::default());
    while let Some((kubeconfig, client)) = stop.run_until_cancelled(connect(settings)).await {
        let mut manager = settings.manager(client);
        register(&mut manager, machines, &memory);
        let _at_work = settings.health.watch(manager.admin());
        let until = stop.child_token();
        let mut working = std::pin::pin!(manager.run(until.clone()));
        tokio::select! {
            // Which of two comes first must not be chance.
            biased;
            ended = working.as_mut() => ended?,
            () = changed(settings, &kubeconfig) => {
                tracing::info!("The kubeconfig of the hosted cluster has changed.");
                until.cancel();
                working.await?;
            }
        }
    }
    Ok(())
}

/// A client for the hosted cluster, once its kubeconfig can be used, and what it was made from.
async fn connect(settings: &Settings) -> (Vec<u8>, Client) {
    let mut said = String::new();
    loop {
        let reason = match read(settings).await {
            Ok(kubeconfig) => match settings.reach.client(&kubeconfig).await {
                Ok(client) => return (kubeconfig, client),
                Err(failure) => failure.report(),
            },
            Err(failure) => failure.report(),
        };
        if reason != said {
            tracing::info!(reason, "Waiting: the kubeconfig of the hosted cluster.");
            said = reason;
        }
        sleep(KUBECONFIG_PERIOD).await;
    }
}

/// Waits until the kubeconfig is another.
async fn changed(settings: &Settings, known: &[u8]) {
    loop {
        sleep(KUBECONFIG_PERIOD).await;
        if read(settings).await.is_ok_and(|found| found != known) {
            return;
        }
    }
}

async fn read(settings: &Settings) -> Result<Vec<u8>, Failure> {
    let file = File::open(&settings.kubeconfig).await.map_err(Failure::retry)?;
    let mut text = Vec::new();
    let reading = file.take(KUBECONFIG_BYTES).read_to_end(&mut text).await;
    reading.map_err(Failure::retry)?;
    Ok(text)
}
