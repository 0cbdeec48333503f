//! A management cluster on virtual time, what users do to it, and the log of everything that was written.

use std::{
    fmt::Debug,
    sync::{
        Arc,
        atomic::{AtomicI64, Ordering},
    },
};

use hyperplane_access::{User, Witness};
use hyperplane_api::hypershift::hosted_cluster::HostedCluster;
use hyperplane_apiserver::{Entropy, Server, Settings, Shared};
use hyperplane_runtime::{Clock, IdentityMode, Random};
use hyperplane_store::Memory;
use hyperplane_twin::{Network, TwinSettings};
use hyperplane_world::{
    BOOT_IMAGE, Embedded, MachineManager, OperatorSettings, Roles, discover, manager, surroundings_for,
};
use k8s_openapi::{
    NamespaceResourceScope,
    api::core::v1::{Namespace, Secret},
};
use kube::{
    Api, Client, Resource,
    api::{DeleteParams, Patch, PatchParams, PostParams},
};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Value, json};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

pub use crate::samples::{IMAGE as NEW, merge};
use crate::{
    samples,
    trace::{Line, Log},
    trouble::Trouble,
};

/// Where virtual time begins.
const START: &str = "2027-01-15T08:00:00Z";

/// The namespace of users' clusters.
pub const USERS: &str = "clusters";
/// The release before that of most tests.
pub const OLD: &str = "hyperplane.dev/kubernetes:v1.35.8";

/// The most writes of a process that is about to die: few, so that it dies in the midst of what it began.
const MOST_WRITES: u64 = 6;

/// A management cluster.
pub struct Ground {
    pub embedded: Embedded,
    pub network: Network,
    /// What goes wrong between operators and API server.
    pub trouble: Trouble,
    pub seed: u64,
    log: Log,
    /// By how many seconds wall time is off.
    offset: Arc<AtomicI64>,
}

/// A process that runs operators.
pub struct Process {
    stop: CancellationToken,
    task: JoinHandle<()>,
}

impl Process {
    /// Ends it politely.
    pub async fn stop(self) {
        self.stop.cancel();
        self.task.await.unwrap();
    }

    /// Ends it where it stands.
    pub async fn crash(self) {
        self.task.abort();
        drop(self.task.await);
    }
}

impl Ground {
    pub async fn new(seed: u64) -> Self {
        Self::with(seed, |_| {}).await
    }

    /// A cluster whose twin is as the function makes it.
    pub async fn with(seed: u64, change: impl FnOnce(&mut TwinSettings)) -> Self {
        Self::witnessed(seed, None, change).await
    }

    /// The same, with somebody who is told of every right that is asked for.
    pub async fn witnessed(seed: u64, witness: Option<Witness>, change: impl FnOnce(&mut TwinSettings)) -> Self {
        let entropy = Entropy::seeded(seed);
        let (steady, offset) = (Clock::anchored(START.parse().unwrap()), Arc::new(AtomicI64::new(0)));
        let of_clock = Arc::clone(&offset);
        let clock =
            Clock::reading(move || steady.now() + jiff::SignedDuration::from_secs(of_clock.load(Ordering::Relaxed)));
        let log = Log::default();
        let lines = log.clone();
        let mut settings = Settings::new(clock.clone(), entropy.clone());
        settings.witness = witness;
        settings.audit = Some(Arc::new(move |line: &str| lines.note(line)));
        let shared = Shared::new();
        let (server, writer, controllers) = Server::open(&shared, settings, Memory).unwrap();
        tokio::spawn(writer.run());
        tokio::spawn(controllers.run(CancellationToken::new()));
        server.bootstrap().await.unwrap();
        let embedded = Embedded {
            server,
            shared,
            clock,
            seed,
            entropy,
            image: "hyperplane.dev/hyperplane:v0.1.0".to_owned(),
            ingress_domain: Some("apps.example.com".to_owned()),
        };
        embedded.set_up().await.unwrap();
        let mut settings = embedded.twin_settings();
        change(&mut settings);
        let twin = embedded.twin(settings);
        let network = twin.network();
        tokio::spawn(async move { twin.run(CancellationToken::new()).await.unwrap() });
        let ground = Self {
            embedded,
            network,
            trouble: Trouble::new(seed),
            seed,
            log,
            offset,
        };
        ground
            .create::<Namespace>(None, json!({"metadata": {"name": USERS}}))
            .await;
        ground.user_secrets().await;
        ground
    }

    async fn user_secrets(&self) {
        let pull = json!({
            "metadata": {"name": "pull-secret"},
            "stringData": {".dockerconfigjson": r#"{"auths": {"registry.example.com": {"auth": "dTpw"}}}"#},
            "type": "kubernetes.io/dockerconfigjson",
        });
        self.create::<Secret>(Some(USERS), pull).await;
        let key = json!({
            "metadata": {"name": "ssh-key"},
            "stringData": {"id_rsa.pub": "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIB2m user@example.com"},
        });
        self.create::<Secret>(Some(USERS), key).await;
    }

    /// Starts a process with all operators.
    pub async fn start(&self) -> Process {
        self.start_roles(Roles::All).await
    }

    /// Starts a process with some of them.
    pub async fn start_roles(&self, roles: Roles) -> Process {
        self.start_with(roles, |_| {}).await
    }

    /// Starts a process that is told other things than usual. It reaches the server through whatever trouble there is.
    pub async fn start_with(&self, roles: Roles, change: impl FnOnce(&mut OperatorSettings)) -> Process {
        let (namespace, account) = roles.account();
        let client = self.embedded.client(User::service_account(namespace, account, ""));
        let mut facts = discover(&client, &self.embedded.image).await.unwrap();
        facts.ingress_domain.clone_from(&self.embedded.ingress_domain);
        let surroundings = surroundings_for(&client, &roles).await.unwrap();
        let mut settings = OperatorSettings {
            instance: "test".to_owned(),
            clock: self.embedded.clock.clone(),
            seed: self.seed,
            entropy: self.embedded.entropy.clone(),
            identity_mode: IdentityMode::Extension,
            lease: None,
            scope: None,
            facts,
            surroundings,
            machines: MachineManager::Hyperplane,
            boot_image: Some(BOOT_IMAGE.to_owned()),
            reach: {
                let trouble = self.trouble.clone();
                self.network.reach().around(move |client| trouble.between(client))
            },
            elsewhere: self.network.reach(),
        };
        change(&mut settings);
        let manager = manager(self.trouble.between(client), &settings, roles);
        let stop = CancellationToken::new();
        let of_task = stop.clone();
        let task = tokio::spawn(async move { manager.run(of_task).await.unwrap() });
        Process { stop, task }
    }

    /// Lets a process work for a while in which it dies at one of its next writes, or else at the end. Another one follows.
    pub async fn crash(&self, process: Process, random: &mut Random, meanwhile: impl Future<Output = ()>) -> Process {
        let doom = self.trouble.doom(random.below(MOST_WRITES), random.below(2) == 1);
        let killer = process.task.abort_handle();
        let killer = tokio::spawn(async move {
            doom.cancelled().await;
            killer.abort();
        });
        meanwhile.await;
        killer.abort();
        process.crash().await;
        self.trouble.spare();
        self.start().await
    }

    /// A cluster as a user asks for it.
    pub async fn cluster(&self, name: &str, change: Value) {
        self.create::<HostedCluster>(Some(USERS), cluster(name, &change)).await;
    }

    /// Changes a cluster as a user does.
    pub async fn change(&self, name: &str, change: Value) {
        let api: Api<HostedCluster> = self.api(Some(USERS));
        let patch = Patch::Merge(change);
        api.patch(name, &PatchParams::default(), &patch).await.unwrap();
    }

    pub fn api<K>(&self, namespace: Option<&str>) -> Api<K>
    where
        K: Resource<DynamicType = ()>,
        K::Scope: Reachable<K>,
    {
        K::Scope::api(self.embedded.administrator(), namespace)
    }

    pub async fn create<K>(&self, namespace: Option<&str>, manifest: Value) -> K
    where
        K: Resource<DynamicType = ()> + Clone + Debug + Serialize + DeserializeOwned,
        K::Scope: Reachable<K>,
    {
        let object = hyperplane_objects::read(manifest).unwrap();
        self.api(namespace)
            .create(&PostParams::default(), &object)
            .await
            .unwrap()
    }

    pub async fn delete(&self, name: &str) {
        let api: Api<HostedCluster> = self.api(Some(USERS));
        api.delete(name, &DeleteParams::default()).await.unwrap();
    }

    /// Sets wall time forward or back, as somebody does who corrects a clock.
    #[allow(dead_code, reason = "not every simulation has such a clock")]
    pub fn jump(&self, seconds: i64) {
        self.offset.fetch_add(seconds, Ordering::Relaxed);
    }

    /// How many lines the log has.
    pub fn written(&self) -> usize {
        self.log.len()
    }

    /// What was written since then.
    pub fn since(&self, mark: usize) -> Vec<Line> {
        self.log.since(mark)
    }
}

/// How objects of a scope are reached.
pub trait Reachable<K> {
    fn api(client: Client, namespace: Option<&str>) -> Api<K>;
}

impl<K: Resource<DynamicType = (), Scope = NamespaceResourceScope>> Reachable<K> for NamespaceResourceScope {
    fn api(client: Client, namespace: Option<&str>) -> Api<K> {
        Api::namespaced(client, namespace.unwrap_or("default"))
    }
}

impl<K: Resource<DynamicType = ()>> Reachable<K> for k8s_openapi::ClusterResourceScope {
    fn api(client: Client, _: Option<&str>) -> Api<K> {
        Api::all(client)
    }
}

/// What makes a cluster a small one.
pub fn single() -> Value {
    json!({"spec": {"controllerAvailabilityPolicy": "SingleReplica"}})
}

/// A cluster in which everything that is not given is usual.
pub fn cluster(name: &str, change: &Value) -> Value {
    let mut manifest = samples::hosted_cluster(&json!({
        "metadata": {"name": name, "namespace": USERS},
        "spec": {
            "sshKey": {"name": "ssh-key"},
            "dns": {"baseDomain": "example.com"},
            "controllerAvailabilityPolicy": "HighlyAvailable",
        },
    }));
    merge(&mut manifest, change);
    manifest
}
