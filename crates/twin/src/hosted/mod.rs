//! Hosted API servers: an embedded one per control-plane namespace, and a front of it per pod. Owns which exist and
//! what they are made of; whether a pod is one, and whether it is ready, is the kubelet's business.

mod blueprint;
mod cluster;
mod data;
mod front;

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use hyperplane_apiserver::{Entropy, Server as ApiServer, Shared};
use hyperplane_runtime::{ObjectKey, Store};
use hyperplane_seams::Clock;
use k8s_openapi::api::core::v1::{Namespace, PersistentVolumeClaim};
use kube::ResourceExt;
use tokio_util::sync::CancellationToken;

pub(crate) use self::{
    blueprint::{Blueprint, ManagerBlueprint},
    front::Front,
};
use self::{
    cluster::{Cluster, State},
    data::Place,
};
use crate::{kubelet::Serving, logs, settings::Data, tasks::Tasks};

/// What hosted clusters stand on.
pub(crate) struct Ground {
    /// Wall time.
    pub(crate) clock: Clock,
    /// Where names and secrets come from.
    pub(crate) entropy: Entropy,
    /// What all API servers of the process share.
    pub(crate) shared: Shared,
    /// Where they keep their data.
    pub(crate) data: Data,
    /// The claims whose volumes the data is on.
    pub(crate) claims: Store<PersistentVolumeClaim>,
    /// The namespaces that they live in.
    pub(crate) namespaces: Store<Namespace>,
    /// Where they run.
    pub(crate) tasks: Tasks,
    /// Whether the kubelet of a node of the cluster in a namespace answers.
    pub(crate) is_heard: Arc<IsHeard>,
}

type IsHeard = dyn Fn(&str, &str) -> bool + Send + Sync;

/// Every hosted cluster.
pub(crate) struct Hosted {
    ground: Ground,
    state: Mutex<Known>,
}

#[derive(Default)]
struct Known {
    /// By namespace.
    clusters: BTreeMap<String, Arc<Cluster>>,
    /// By pod.
    servers: BTreeMap<ObjectKey, Server>,
}

/// The API server of one pod.
struct Server {
    /// The uid of the pod: another one of the same name is another server.
    uid: String,
    outcome: Result<Arc<Front>, String>,
}

impl Hosted {
    pub(crate) fn new(ground: Ground) -> Self {
        Self {
            ground,
            state: Mutex::default(),
        }
    }

    fn state(&self) -> MutexGuard<'_, Known> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets the API server of a pod run as its files and flags say, or fail for a reason. Asked again with the same, it
    /// does nothing; with other files, it serves with those from the next connection on.
    pub(crate) fn serve(&self, pod: &ObjectKey, uid: &str, blueprint: Result<Blueprint, String>) {
        let mut state = self.state();
        let known = state.servers.get(pod).filter(|server| server.uid == uid);
        if let (Some(Server { outcome: Ok(front), .. }), Ok(wanted)) = (known, &blueprint)
            && front.blueprint == *wanted
        {
            return;
        }
        let outcome = blueprint.and_then(|blueprint| {
            let cluster = self.cluster(&mut state, &pod.namespace, &blueprint)?;
            Front::new(&cluster, blueprint, &self.ground.clock).map(Arc::new)
        });
        if let Err(error) = &outcome {
            tracing::info!(%pod, %error, "A hosted API server does not start.");
        }
        let server = Server {
            uid: uid.to_owned(),
            outcome,
        };
        if let Some(Server {
            outcome: Ok(before), ..
        }) = state.servers.insert(pod.clone(), server)
        {
            before.stop.cancel();
        }
    }

    /// The cluster of a namespace, which is opened by the first of its servers.
    fn cluster(&self, state: &mut Known, namespace: &str, blueprint: &Blueprint) -> Result<Arc<Cluster>, String> {
        if let Some(cluster) = state.clusters.get(namespace) {
            return Ok(Arc::clone(cluster));
        }
        let place = Place::of(&self.ground.data, namespace);
        let volumes = self.volumes(namespace);
        let cluster = Cluster::open(&self.ground, blueprint, &place, volumes)?;
        let (is_heard, of) = (Arc::clone(&self.ground.is_heard), namespace.to_owned());
        cluster
            .server
            .answer_logs(logs::of_nodes(move |node| is_heard(&of, node)));
        state.clusters.insert(namespace.to_owned(), Arc::clone(&cluster));
        tracing::info!(namespace, "A hosted API server is opened.");
        Ok(cluster)
    }

    /// Ends the API server of a pod, if it has one. The data stays.
    pub(crate) fn stop(&self, pod: &ObjectKey) {
        let mut state = self.state();
        if let Some(server) = state.servers.remove(pod) {
            if let Ok(front) = server.outcome {
                front.stop.cancel();
            }
            let is_last = !state.servers.keys().any(|other| other.namespace == pod.namespace);
            if is_last && self.is_ending(&pod.namespace) {
                self.forget(&mut state, &pod.namespace);
            }
        }
    }

    fn is_ending(&self, namespace: &str) -> bool {
        let found = self.ground.namespaces.get(&ObjectKey::cluster(namespace));
        found.is_none_or(|namespace| namespace.metadata.deletion_timestamp.is_some())
    }

    /// How far the API server of a pod is.
    pub(crate) fn serving(&self, pod: &ObjectKey, uid: &str) -> Serving {
        let state = self.state();
        let Some(server) = state.servers.get(pod).filter(|server| server.uid == uid) else {
            return Serving::Starting;
        };
        match &server.outcome {
            Err(message) => Serving::Failed(message.clone()),
            Ok(front) => match front.cluster.state() {
                State::Opening => Serving::Starting,
                State::Open => Serving::Up,
                State::Broken(message) => Serving::Failed(message),
            },
        }
    }

    /// The API server of a pod, if it answers.
    pub(crate) fn front(&self, pod: &ObjectKey) -> Option<Arc<Front>> {
        let state = self.state();
        let front = state.servers.get(pod)?.outcome.as_ref().ok()?;
        (front.cluster.state() == State::Open).then(|| Arc::clone(front))
    }

    /// The cluster of a namespace as one of its API servers serves it, if one answers.
    pub(crate) fn answering(&self, namespace: &str) -> Option<ApiServer> {
        let state = self.state();
        let mut servers = state
            .servers
            .range(ObjectKey::namespaced(namespace, "")..)
            .take_while(|(pod, _)| pod.namespace == namespace);
        servers.find_map(|(_, server)| {
            let front = server.outcome.as_ref().ok()?;
            (front.cluster.state() == State::Open).then(|| front.server.clone())
        })
    }

    /// Cancelled when the cluster of a namespace ends; none if there is none.
    pub(crate) fn end(&self, namespace: &str) -> Option<CancellationToken> {
        self.state().clusters.get(namespace).map(|cluster| cluster.end())
    }

    /// Whether a controller manager of the namespace works, and with which files: while one does, what Kubernetes'
    /// would do is done.
    pub(crate) fn manage(&self, pod: &ObjectKey, blueprint: Option<ManagerBlueprint>) {
        let cluster = self.state().clusters.get(&pod.namespace).cloned();
        if let Some(cluster) = cluster {
            cluster.manage(pod, blueprint, &self.ground.tasks);
        }
    }

    /// Looks at the volumes of a namespace: once all that the data was on are gone, so is the data.
    pub(crate) fn tidy(&self, namespace: &str) {
        let volumes = self.volumes(namespace);
        let mut state = self.state();
        let is_lost = match state.clusters.get(namespace) {
            Some(cluster) => cluster.has_lost(&volumes),
            None => false,
        };
        if is_lost {
            tracing::info!(
                namespace,
                "The volumes of a hosted cluster are gone, and its data with them."
            );
            self.forget(&mut state, namespace);
        }
        if let Err(error) = Place::of(&self.ground.data, namespace).settle(&volumes) {
            tracing::warn!(namespace, %error, "The data of a hosted cluster could not be looked after.");
        }
    }

    /// Closes a cluster and removes its data.
    fn forget(&self, state: &mut Known, namespace: &str) {
        let is_here = |pod: &ObjectKey| pod.namespace == namespace;
        let fronts = state.servers.iter().filter(|(pod, _)| is_here(pod));
        for front in fronts.filter_map(|(_, server)| server.outcome.as_ref().ok()) {
            front.stop.cancel();
        }
        state.servers.retain(|pod, _| !is_here(pod));
        if let Some(cluster) = state.clusters.remove(namespace) {
            cluster.close();
        }
        Place::of(&self.ground.data, namespace).remove();
    }

    /// The uids of the claims of a namespace. Only etcd has any in a control plane.
    fn volumes(&self, namespace: &str) -> BTreeSet<String> {
        let claims = self.ground.claims.namespace(namespace).all();
        claims.iter().filter_map(|claim| claim.uid()).collect()
    }

    /// Ends everything in order: what was written is kept.
    pub(crate) async fn close(&self) {
        let state = std::mem::take(&mut *self.state());
        for front in state.servers.into_values().filter_map(|server| server.outcome.ok()) {
            front.stop.cancel();
        }
        for cluster in state.clusters.into_values() {
            cluster.close();
            cluster.closed().await;
        }
    }
}
