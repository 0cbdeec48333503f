//! An embedded API server with a twin behind it, both driven by the test's own runtime on virtual time.

use std::{fmt::Debug, sync::LazyLock, time::Duration};

use hyperplane_access::User;
use hyperplane_apiserver::{Entropy, Server, Settings, Shared};
use hyperplane_seams::Clock;
use hyperplane_store::Memory;
use hyperplane_twin::{Faults, Network, Twin, TwinError, TwinSettings};
use k8s_openapi::{
    NamespaceResourceScope,
    api::core::v1::{Namespace, Pod},
};
use kube::{
    Api, Client, Resource, ResourceExt,
    api::{ListParams, Patch, PatchParams, PostParams},
};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Value, json};
use tokio::{task::JoinHandle, time::sleep};
use tokio_util::sync::CancellationToken;

/// Where virtual time begins.
const START: &str = "2026-01-02T03:04:05Z";
/// How long the world may take for what is waited for.
const PATIENCE: Duration = Duration::from_mins(30);
/// How often it is looked.
const LOOK: Duration = Duration::from_millis(250);

/// The namespace of most tests.
pub(crate) const NAMESPACE: &str = "default";

static SHARED: LazyLock<Shared> = LazyLock::new(Shared::new);

/// A management cluster.
pub(crate) struct World {
    pub(crate) client: Client,
    pub(crate) clock: Clock,
    pub(crate) faults: Faults,
    pub(crate) network: Network,
    settings: TwinSettings,
    stop: CancellationToken,
    twin: JoinHandle<Result<(), TwinError>>,
}

fn entropy() -> Entropy {
    Entropy::seeded(1)
}

/// An API server without anything behind it.
pub(crate) async fn server(clock: &Clock) -> Client {
    let settings = Settings::new(clock.clone(), entropy());
    let (server, writer, controllers) = Server::open(&SHARED, settings, Memory).unwrap();
    tokio::spawn(async move { drop(writer.run().await) });
    tokio::spawn(controllers.run(CancellationToken::new()));
    server.bootstrap().await.unwrap();
    Client::new(server.in_process(User::admin()), NAMESPACE)
}

/// The usual settings.
pub(crate) fn settings(clock: &Clock) -> TwinSettings {
    TwinSettings::new(clock.clone(), 7, entropy(), SHARED.clone())
}

impl World {
    /// A world with the usual settings.
    pub(crate) async fn new() -> Self {
        Self::with(|_| {}).await
    }

    /// A world with other settings.
    pub(crate) async fn with(change: impl FnOnce(&mut TwinSettings)) -> Self {
        let clock = Clock::anchored(START.parse().unwrap());
        Self::at(clock, change).await
    }

    /// The same by a clock.
    pub(crate) async fn at(clock: Clock, change: impl FnOnce(&mut TwinSettings)) -> Self {
        let client = server(&clock).await;
        let mut settings = settings(&clock);
        change(&mut settings);
        let (stop, network, twin) = begin(&client, &settings);
        Self {
            client,
            clock,
            faults: settings.faults.clone(),
            network,
            settings,
            stop,
            twin,
        }
    }

    /// Ends the twin in order and begins with another one on the same cluster.
    pub(crate) async fn restart(&mut self) {
        self.stop.cancel();
        (&mut self.twin).await.unwrap().unwrap();
        (self.stop, self.network, self.twin) = begin(&self.client, &self.settings);
    }

    /// A new namespace.
    pub(crate) async fn namespace(&self, name: &str) {
        let namespace: Namespace = from(json!({"metadata": {"name": name}}));
        Api::all(self.client.clone())
            .create(&PostParams::default(), &namespace)
            .await
            .unwrap();
    }

    pub(crate) fn api<K>(&self, namespace: &str) -> Api<K>
    where
        K: Resource<Scope = NamespaceResourceScope, DynamicType = ()>,
    {
        Api::namespaced(self.client.clone(), namespace)
    }

    /// Creates an object, of which the server must not complain.
    pub(crate) async fn create<K>(&self, object: Value) -> K
    where
        K: Resource<Scope = NamespaceResourceScope, DynamicType = ()> + Clone + Debug + Serialize + DeserializeOwned,
    {
        let object: K = from(object);
        let namespace = object.meta().namespace.clone().unwrap_or_else(|| NAMESPACE.to_owned());
        self.api(&namespace)
            .create(&PostParams::default(), &object)
            .await
            .unwrap()
    }

    /// Changes an object by a merge patch.
    pub(crate) async fn patch<K>(&self, name: &str, change: Value) -> K
    where
        K: Resource<Scope = NamespaceResourceScope, DynamicType = ()> + Clone + Debug + DeserializeOwned,
    {
        let api = self.api(NAMESPACE);
        api.patch(name, &PatchParams::default(), &Patch::Merge(change))
            .await
            .unwrap()
    }

    /// Waits until an object is as wanted.
    pub(crate) async fn until<K>(&self, namespace: &str, name: &str, is: impl Fn(&K) -> bool) -> K
    where
        K: Resource<Scope = NamespaceResourceScope, DynamicType = ()> + Clone + Debug + DeserializeOwned,
    {
        let api: Api<K> = self.api(namespace);
        let end = tokio::time::Instant::now() + PATIENCE;
        loop {
            let found = api.get_opt(name).await.unwrap();
            if let Some(found) = found.as_ref().filter(|found| is(found)) {
                return found.clone();
            }
            assert!(tokio::time::Instant::now() < end, "{name} is not as wanted: {found:#?}");
            sleep(LOOK).await;
        }
    }

    /// The pods that have a label, in order of their names.
    pub(crate) async fn pods(&self, namespace: &str, labels: &str) -> Vec<Pod> {
        let list = self
            .api::<Pod>(namespace)
            .list(&ListParams::default().labels(labels))
            .await
            .unwrap();
        list.items
    }

    /// The last revision that was written.
    pub(crate) async fn revision(&self) -> String {
        let list = self
            .api::<Pod>(NAMESPACE)
            .list(&ListParams::default().limit(1))
            .await
            .unwrap();
        list.metadata.resource_version.unwrap()
    }

    /// Lets time pass.
    pub(crate) async fn pass(&self, time: Duration) {
        sleep(time).await;
    }
}

fn begin(client: &Client, settings: &TwinSettings) -> (CancellationToken, Network, JoinHandle<Result<(), TwinError>>) {
    let stop = CancellationToken::new();
    let twin = Twin::new(client.clone(), settings.clone());
    let network = twin.network();
    (stop.clone(), network, tokio::spawn(twin.run(stop)))
}

/// An object of its fields.
pub(crate) fn from<K: DeserializeOwned>(value: Value) -> K {
    hyperplane_objects::read(value).unwrap()
}

/// Whether a pod serves.
pub(crate) fn is_ready(pod: &Pod) -> bool {
    let conditions = pod.status.iter().flat_map(|status| status.conditions.iter().flatten());
    conditions
        .into_iter()
        .any(|condition| condition.type_ == "Ready" && condition.status == "True")
}

/// Whether a pod is neither over nor being deleted.
pub(crate) fn is_active(pod: &Pod) -> bool {
    let phase = pod.status.as_ref().and_then(|status| status.phase.as_deref());
    pod.metadata.deletion_timestamp.is_none() && !matches!(phase, Some("Succeeded" | "Failed"))
}

/// Why the first container waits, and what it said when it ended last.
pub(crate) fn troubles(pod: &Pod) -> (String, String) {
    let status = pod
        .status
        .as_ref()
        .and_then(|status| status.container_statuses.as_ref()?.first());
    let waiting = status.and_then(|status| status.state.as_ref()?.waiting.as_ref()?.reason.clone());
    let ended = status.and_then(|status| status.last_state.as_ref()?.terminated.as_ref()?.message.clone());
    (waiting.unwrap_or_default(), ended.unwrap_or_default())
}

/// The names of objects.
pub(crate) fn names<K: ResourceExt>(objects: &[K]) -> Vec<String> {
    objects.iter().map(ResourceExt::name_any).collect()
}

/// A Deployment of one container.
pub(crate) fn deployment(name: &str, replicas: i32, image: &str) -> Value {
    json!({
        "metadata": {"name": name},
        "spec": {
            "replicas": replicas, "selector": {"matchLabels": {"app": name}},
            "strategy": {"rollingUpdate": {"maxSurge": 1, "maxUnavailable": 1}},
            "template": {
                "metadata": {"labels": {"app": name}},
                "spec": {"containers": [{"name": "main", "image": image}]},
            },
        },
    })
}
