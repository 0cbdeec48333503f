//! What is behind the API server of a hosted cluster that has machines: their kubelets, and the controllers that a cluster
//! needs for its workloads. One manager with one watch per kind for each hosted cluster, however many nodes it has.
//!
//! What a kubelet writes (the status of its Node, its Lease, its pods) it writes as its node, and the server judges that as
//! it judges any kubelet: by the node authorizer and by what nodes may change. What is read, what controllers do and what
//! is told in Events is one user's, who may do everything: a thousand watches would show the same objects. Both come in past
//! TLS, since a thousand connections would cost more than the machines that they stand for. That a machine is the node that
//! it says it is, it has shown by its own certificate when it joined.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Context, Poll},
};

use futures::{FutureExt as _, future::BoxFuture};
use http::Request;
use hyperplane_access::User;
use hyperplane_apiserver::InProcess;
use hyperplane_runtime::{Api, Manager, Settings, Watch};
use hyperplane_seams::Random;
use jiff::Timestamp;
use k8s_openapi::api::core::v1::Node;
use kube::{Client, ResourceExt, client::Body};
use thiserror::Error;
use tower::{BoxError, Service};

use super::{
    floor::Instance,
    hearing::Hearing,
    instance::{Phase, silent_since},
    node,
};
use crate::{
    controllers,
    hosted::{Ground, Hosted},
    kubelet::World,
    moment,
    nodes::{LEASE_SECONDS, Nodes, Renewals},
    settings::{Data, Images, Listeners, Mode, TwinSettings},
    tasks::Tasks,
};

/// Under which name it writes.
const NAME: &str = "hyperplane-twin";
/// As whom it comes in.
const USER: &str = "system:hyperplane:twin";
const MASTERS: &str = "system:masters";

/// Why a hosted cluster cannot be asked.
#[derive(Debug, Error)]
#[error("no API server answers in namespace {0}")]
struct Refused(String);

/// What is behind all hosted clusters that have machines.
pub(crate) struct Inside {
    settings: TwinSettings,
    hosted: Arc<Hosted>,
    hearing: Hearing,
    tasks: Tasks,
    /// The clients of hosted clusters, by namespace.
    clients: Mutex<BTreeMap<String, Client>>,
    /// The hosted clusters that are looked after, by namespace.
    kept: Mutex<BTreeSet<String>>,
}

impl Inside {
    pub(crate) fn new(settings: &TwinSettings, hosted: Arc<Hosted>, hearing: Hearing, tasks: Tasks) -> Self {
        Self {
            settings: settings.clone(),
            hosted,
            hearing,
            tasks,
            clients: Mutex::default(),
            kept: Mutex::default(),
        }
    }

    /// Whether a hosted cluster has a Node with a name and an identity.
    pub(super) async fn has(&self, namespace: &str, name: &str, provider_id: &str) -> Result<bool, kube::Error> {
        let api: Api<Node> = Api::all(self.client(namespace));
        let node = api.get_opt(name).await?;
        let spec = node.and_then(|node| node.spec);
        Ok(spec.is_some_and(|spec| spec.provider_id.as_deref() == Some(provider_id)))
    }

    /// Looks after the nodes of a hosted cluster from now on, until the cluster ends. Asked again, it does nothing.
    pub(super) fn keep(self: &Arc<Self>, namespace: &str) {
        let Some(end) = self.hosted.end(namespace) else {
            return;
        };
        if !self.kept().insert(namespace.to_owned()) {
            return;
        }
        let manager = self.manager(namespace);
        let (inside, namespace) = (Arc::clone(self), namespace.to_owned());
        self.tasks.spawn(async move {
            if let Err(error) = manager.run(end).await {
                tracing::error!(namespace, %error, "The kubelets of a hosted cluster ended.");
            }
            inside.kept().remove(&namespace);
        });
    }

    fn kept(&self) -> MutexGuard<'_, BTreeSet<String>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn client(&self, namespace: &str) -> Client {
        let mut clients = self.clients.lock().unwrap_or_else(PoisonError::into_inner);
        let make = || {
            let way = Way {
                hosted: Arc::clone(&self.hosted),
                namespace: namespace.to_owned(),
            };
            Client::new(way, "default")
        };
        clients.entry(namespace.to_owned()).or_insert_with(make).clone()
    }

    /// Everything behind one hosted cluster.
    fn manager(&self, namespace: &str) -> Manager {
        let settings = self.settings_of(namespace);
        let mut of_manager = Settings::new(NAME, &settings.name, settings.clock.clone(), settings.seed);
        of_manager.limits = settings.limits;
        let mut manager = Manager::new(self.client(namespace), of_manager);
        let ground = Ground {
            clock: settings.clock.clone(),
            entropy: settings.entropy.clone(),
            shared: settings.shared.clone(),
            data: settings.data.clone(),
            claims: manager.store(Watch::all()),
            namespaces: manager.store(Watch::all()),
            tasks: self.tasks.clone(),
            // Nothing is hosted in there.
            is_heard: Arc::new(|_, _| false),
        };
        let sight = Sight {
            namespace: namespace.to_owned(),
            hearing: self.hearing.clone(),
            settings: settings.clone(),
            since: settings.clock.now(),
        };
        let of_pods = sight.clone();
        let hosted = Arc::new(Hosted::new(ground));
        let world = Arc::new(World::new(
            &manager,
            &settings,
            Box::new(move |node| of_pods.is_silent(node)),
            hosted,
            self.tasks.clone(),
        ));
        let nodes = Nodes {
            twin: settings.name.clone(),
            heartbeat: settings.machines.heartbeat,
            machine: Box::new(move |node, now| sight.machine(node, now)),
            is_whole: true,
            voice: |context, node| context.carrying(User::node(node)),
            renewals: Renewals::default(),
        };
        controllers::register_hosted(&mut manager, &settings, &world, nodes);
        manager
    }

    /// The settings of the world behind a hosted cluster. Users bring any image there, and no program in it is ours.
    fn settings_of(&self, namespace: &str) -> TwinSettings {
        let mut settings = self.settings.clone();
        settings.mode = Mode::Whole;
        settings.seed = Random::named(settings.seed, namespace).next_u64();
        settings.images = Images::all();
        settings.programs = settings.programs.unseen();
        settings.data = Data::Memory;
        settings.listeners = Listeners::None;
        settings
    }
}

/// What is seen of the machines of one hosted cluster.
#[derive(Clone)]
struct Sight {
    namespace: String,
    hearing: Hearing,
    settings: TwinSettings,
    /// When it was first looked. Machines that were there before are not all known at once.
    since: Timestamp,
}

impl Sight {
    /// Since when nothing is heard of the machine of a node. One that is not running is heard of as little as one that
    /// is not there.
    fn silent_since(&self, instance: Option<&Instance>, now: Timestamp) -> Option<Timestamp> {
        if let Some(instance) = instance
            && let Phase::Running { since } = &instance.phase
        {
            return silent_since(*since, &instance.faults, now);
        }
        let known = moment::after_seconds(self.since, i64::from(LEASE_SECONDS));
        (known <= now).then_some(self.since)
    }

    fn instance(&self, node: &str, now: Timestamp) -> Option<Instance> {
        self.hearing.instance(&self.namespace, node, now)
    }

    fn is_silent(&self, node: &str) -> bool {
        let now = self.settings.clock.now();
        let instance = self.instance(node, now);
        self.settings.faults.is_gone(node) || self.silent_since(instance.as_ref(), now).is_some()
    }

    fn machine(&self, node: &Node, now: Timestamp) -> crate::nodes::Machine {
        let name = node.name_any();
        let instance = self.instance(&name, now);
        let since = self.silent_since(instance.as_ref(), now);
        let mut machine = node::machine(node, instance.as_ref(), &self.settings.machines, since, now);
        if self.settings.faults.is_gone(&name) {
            (machine.is_silent, machine.is_gone) = (true, true);
        }
        machine
    }
}

/// The way to a hosted cluster past its certificates, which leads somewhere as long as one of its API servers answers.
#[derive(Clone)]
struct Way {
    hosted: Arc<Hosted>,
    namespace: String,
}

impl Service<Request<Body>> for Way {
    type Response = <InProcess as Service<Request<Body>>>::Response;
    type Error = BoxError;
    type Future = BoxFuture<'static, Result<Self::Response, BoxError>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, mut request: Request<Body>) -> Self::Future {
        let Some(server) = self.hosted.answering(&self.namespace) else {
            let refused = Refused(self.namespace.clone());
            return async move { Err(refused.into()) }.boxed();
        };
        let user = speaker(&mut request);
        let answer = server.in_process(user).call(request);
        async move { Ok(answer.await?) }.boxed()
    }
}

/// As whom a request is made: as the node whose kubelet makes it, or as whoever does the rest.
fn speaker(request: &mut Request<Body>) -> User {
    let node = request.extensions_mut().remove::<User>();
    node.unwrap_or_else(|| User::with_groups(USER, vec![MASTERS.to_owned()]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kubelets_speak_as_their_nodes() {
        let mut request = Request::new(Body::empty());
        assert!(speaker(&mut request).is_in(MASTERS));
        request.extensions_mut().insert(User::node("pool-a-1"));
        let user = speaker(&mut request);
        assert_eq!(user.as_node(), Some("pool-a-1"));
        assert!(!user.is_in(MASTERS));
    }
}
