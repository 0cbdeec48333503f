//! One hosted cluster: its store, what drives it, and the controllers that work while a controller manager does.

use std::{
    collections::{BTreeMap, BTreeSet},
    pin::pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use hyperplane_access::signing::SigningAuthority;
use hyperplane_apiserver::{Controllers, Server, Settings};
use hyperplane_runtime::ObjectKey;
use secrecy::ExposeSecret as _;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use super::{
    Ground,
    blueprint::{Blueprint, ManagerBlueprint},
    data::{Place, is_lost},
};
use crate::tasks::Tasks;

/// How far a cluster is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// What every cluster begins with is being made.
    Opening,
    /// It answers.
    Open,
    /// It never will.
    Broken(String),
}

/// A cluster that is open or about to be.
pub(crate) struct Cluster {
    /// The server; clients reach it by fronts.
    pub(super) server: Server,
    state: watch::Sender<State>,
    volumes: Mutex<BTreeSet<String>>,
    managers: Mutex<Managers>,
    /// Whether controllers work.
    works: watch::Sender<bool>,
    stop: CancellationToken,
    /// Cancelled when the last write is on the disk.
    ended: CancellationToken,
}

struct Managers {
    /// What controllers are made of, until the first controller manager works.
    waiting: Option<Controllers>,
    /// Those that work, by pod.
    working: BTreeMap<ObjectKey, ManagerBlueprint>,
}

impl Cluster {
    pub(super) fn open(
        ground: &Ground,
        blueprint: &Blueprint,
        place: &Place,
        volumes: BTreeSet<String>,
    ) -> Result<Arc<Self>, String> {
        let mut settings = Settings::new(ground.clock.clone(), ground.entropy.clone());
        settings.address.clone_from(&blueprint.address);
        settings.client_certificates.clone_from(&blueprint.client_authorities);
        settings.service_range = blueprint.service_range;
        let (server, writer, controllers) = place.open(&ground.shared, settings, &volumes)?;
        let (of_server, of_manager) = controllers.split();
        let cluster = Arc::new(Self {
            server,
            state: watch::Sender::new(State::Opening),
            volumes: Mutex::new(volumes),
            managers: Mutex::new(Managers {
                waiting: Some(of_manager),
                working: BTreeMap::new(),
            }),
            works: watch::Sender::new(false),
            stop: CancellationToken::new(),
            ended: CancellationToken::new(),
        });
        let ended = cluster.ended.clone();
        ground.tasks.spawn(async move {
            if let Err(error) = writer.run().await {
                tracing::error!(%error, "The store of a hosted cluster takes no more writes.");
            }
            ended.cancel();
        });
        ground.tasks.spawn(of_server.run(cluster.stop.clone()));
        ground.tasks.spawn(Arc::clone(&cluster).begin());
        Ok(cluster)
    }

    /// Makes what every cluster begins with.
    async fn begin(self: Arc<Self>) {
        let state = match self.server.bootstrap().await {
            Ok(()) => State::Open,
            Err(failure) => State::Broken(format!("what every cluster begins with could not be made: {failure}")),
        };
        self.state.send_replace(state);
    }

    pub(super) fn state(&self) -> State {
        self.state.borrow().clone()
    }

    /// Notes whether a controller manager works.
    pub(super) fn manage(&self, pod: &ObjectKey, blueprint: Option<ManagerBlueprint>, tasks: &Tasks) {
        let mut managers = self.managers();
        match blueprint {
            None => {
                managers.working.remove(pod);
            }
            Some(blueprint) => {
                if let Some(controllers) = managers.waiting.take() {
                    let controllers = with(controllers, &blueprint);
                    let run = controllers.run(self.stop.clone());
                    tasks.spawn(gated(self.works.subscribe(), run));
                }
                managers.working.insert(pod.clone(), blueprint);
            }
        }
        let works = !managers.working.is_empty();
        self.works
            .send_if_modified(|before| std::mem::replace(before, works) != works);
    }

    fn managers(&self) -> MutexGuard<'_, Managers> {
        self.managers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether none of the volumes is left that the data was on; those that are there are noted.
    pub(super) fn has_lost(&self, volumes: &BTreeSet<String>) -> bool {
        let mut known = self.volumes.lock().unwrap_or_else(PoisonError::into_inner);
        if is_lost(&known, volumes) {
            return true;
        }
        if !volumes.is_empty() {
            known.clone_from(volumes);
        }
        false
    }

    /// Cancelled when the cluster ends.
    pub(super) fn end(&self) -> CancellationToken {
        self.stop.child_token()
    }

    /// Takes no more writes and ends.
    pub(super) fn close(&self) {
        self.stop.cancel();
        self.server.close();
    }

    /// Waits until the last write is on the disk.
    pub(super) async fn closed(&self) {
        self.ended.cancelled().await;
    }
}

/// Controllers with the authority of a controller manager; without one that can be read, nothing is signed.
fn with(controllers: Controllers, blueprint: &ManagerBlueprint) -> Controllers {
    let authority = blueprint.signer.as_ref().and_then(|signer| {
        let read = SigningAuthority::from_pem(&signer.certificate, signer.key.expose_secret());
        read.inspect_err(|error| tracing::warn!(%error, "A hosted cluster signs no certificates."))
            .ok()
    });
    controllers.with_authority(blueprint.root_certificates.clone(), authority)
}

/// Lets work go on only while the gate is open. What it has begun waits meanwhile, and nothing is forgotten.
async fn gated(mut gate: watch::Receiver<bool>, work: impl Future<Output = ()>) {
    let mut work = pin!(work);
    while gate.wait_for(|is_open| *is_open).await.is_ok() {
        let closed = async { gate.wait_for(|is_open| !*is_open).await.is_err() };
        tokio::select! {
            biased;
            is_over = closed => if is_over { return },
            () = &mut work => return,
        }
    }
}
