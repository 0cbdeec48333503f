//! A management cluster on virtual time, what users do to it, and the log of everything that was written.

use std::{
    collections::BTreeMap,
    fmt::Debug,
    sync::{Arc, Mutex},
    time::Duration,
};

use hyperplane_api::hypershift::{
    control_plane_component::ControlPlaneComponent, hosted_cluster::HostedCluster,
    hosted_control_plane::HostedControlPlane, version_status::UpdateState,
};
use hyperplane_apiserver::{Entropy, Server, Settings, Shared};
use hyperplane_runtime::{Clock, Random};
use hyperplane_store::Memory;
use hyperplane_twin::{Network, TwinSettings};
use hyperplane_world::{Embedded, Roles};
use k8s_openapi::{
    NamespaceResourceScope,
    api::core::v1::{Namespace, Secret},
};
use kube::{
    Api, Resource,
    api::{DeleteParams, ListParams, Patch, PatchParams, PostParams},
};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tokio::{task::JoinHandle, time::sleep};
use tokio_util::sync::CancellationToken;

/// Where virtual time begins.
const START: &str = "2027-01-15T08:00:00Z";
/// The longest that anything is waited for.
const PATIENCE: Duration = Duration::from_hours(2);
/// How often is looked.
const GLANCE: Duration = Duration::from_secs(1);

/// The namespace of users' clusters.
pub const USERS: &str = "clusters";
/// The releases of most tests.
pub const OLD: &str = "hyperplane.dev/kubernetes:v1.35.8";
pub const NEW: &str = "hyperplane.dev/kubernetes:v1.36.4";

/// A management cluster.
pub struct Ground {
    pub embedded: Embedded,
    pub network: Network,
    log: Arc<Mutex<Vec<Value>>>,
    seed: u64,
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
        let random = Mutex::new(Random::seeded(seed));
        let entropy = Entropy::new(move |bytes: &mut [u8]| {
            let mut random = random.lock().unwrap();
            bytes.fill_with(|| random.next_u64().to_le_bytes()[0]);
        });
        let clock = Clock::anchored(START.parse().unwrap());
        let log = Arc::new(Mutex::new(Vec::new()));
        let lines = Arc::clone(&log);
        let mut settings = Settings::new(clock.clone(), entropy.clone());
        settings.audit = Some(Arc::new(move |line: &str| {
            lines.lock().unwrap().push(serde_json::from_str(line).unwrap());
        }));
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
            log,
            seed,
        };
        ground.create::<Namespace>(None, json!({"metadata": {"name": USERS}})).await;
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

    pub async fn start_roles(&self, roles: Roles) -> Process {
        let manager = self.embedded.operators("test", &self.network, roles).await.unwrap();
        let stop = CancellationToken::new();
        let of_task = stop.clone();
        let task = tokio::spawn(async move { manager.run(of_task).await.unwrap() });
        Process { stop, task }
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
        K: Resource<DynamicType = ()> + Clone + Debug + serde::Serialize + DeserializeOwned,
        K::Scope: Reachable<K>,
    {
        let object = serde_json::from_value(manifest).unwrap();
        self.api(namespace).create(&PostParams::default(), &object).await.unwrap()
    }

    /// Waits until something holds, and says what is missing if it never does.
    pub async fn until<T>(&self, what: &str, look: impl AsyncFn() -> Option<T>) -> T {
        let looking = async {
            loop {
                if let Some(found) = look().await {
                    return found;
                }
                sleep(GLANCE).await;
            }
        };
        match tokio::time::timeout(PATIENCE, looking).await {
            Ok(found) => found,
            Err(_) => panic!("seed {}: {what} never happened\n{}", self.seed, self.story().await),
        }
    }

    /// Waits until a condition of a cluster holds.
    pub async fn until_condition(&self, name: &str, condition: &str, status: &str) {
        let what = format!("{condition}={status} of cluster {name}");
        let look = async || {
            let cluster = self.api::<HostedCluster>(Some(USERS)).get_opt(name).await.unwrap()?;
            let conditions = cluster.status?.conditions;
            let found = conditions.into_iter().find(|found| found.type_ == condition)?;
            (found.status == status).then_some(())
        };
        self.until(&what, look).await;
    }

    /// Waits until the version of a cluster is complete on both sides.
    pub async fn until_version(&self, name: &str, version: &str) {
        let look = async || {
            let status = self.api::<HostedCluster>(Some(USERS)).get(name).await.unwrap().status?;
            let control_plane = status.control_plane_version?.history.into_iter().next()?;
            let whole = status.version?.history.into_iter().next()?;
            let both = control_plane.version.as_str() == version
                && control_plane.state == UpdateState::Completed
                && whole.version.as_deref() == Some(version)
                && whole.state == UpdateState::Completed;
            both.then_some(())
        };
        self.until(&format!("version {version} of cluster {name}"), look).await;
    }

    /// Everything that somebody would look at to understand why nothing happens.
    pub async fn story(&self) -> String {
        let mut lines = Vec::new();
        for cluster in self.list::<HostedCluster>().await {
            let status = cluster.status.unwrap_or_default();
            for condition in status.conditions {
                let (name, why) = (cluster.metadata.name.as_deref().unwrap_or_default(), condition.message);
                lines.push(format!("hc {name}: {}={} {} {why}", condition.type_, condition.status, condition.reason));
            }
        }
        for control_plane in self.list::<HostedControlPlane>().await {
            for condition in control_plane.status.unwrap_or_default().conditions {
                let why = condition.message;
                lines.push(format!("hcp: {}={} {} {why}", condition.type_, condition.status, condition.reason));
            }
        }
        for component in self.list::<ControlPlaneComponent>().await {
            let name = component.metadata.name.unwrap_or_default();
            for condition in component.status.unwrap_or_default().conditions {
                let why = condition.message;
                lines.push(format!("cpc {name}: {}={} {} {why}", condition.type_, condition.status, condition.reason));
            }
        }
        for pod in self.list::<k8s_openapi::api::core::v1::Pod>().await {
            let status = pod.status.unwrap_or_default();
            let waiting: Vec<String> = status
                .container_statuses
                .into_iter()
                .flatten()
                .chain(status.init_container_statuses.into_iter().flatten())
                .filter_map(|container| {
                    let waiting = container.state?.waiting?;
                    Some(format!("{}: {:?} {:?}", container.name, waiting.reason, waiting.message))
                })
                .collect();
            let name = pod.metadata.name.unwrap_or_default();
            lines.push(format!("pod {name}: {:?} {waiting:?}", status.phase));
        }
        lines.join("\n")
    }

    pub async fn list<K>(&self) -> Vec<K>
    where
        K: Resource<DynamicType = ()> + Clone + Debug + DeserializeOwned,
    {
        let api: Api<K> = Api::all(self.embedded.administrator());
        api.list(&ListParams::default()).await.unwrap().items
    }

    pub async fn delete(&self, name: &str) {
        let api: Api<HostedCluster> = self.api(Some(USERS));
        api.delete(name, &DeleteParams::default()).await.unwrap();
    }

    /// How many lines the log has.
    pub fn written(&self) -> usize {
        self.log.lock().unwrap().len()
    }

    /// What was written since then, as verb, kind and name, with how often.
    pub fn since(&self, mark: usize) -> BTreeMap<String, usize> {
        let mut counts = BTreeMap::new();
        for line in &self.log.lock().unwrap()[mark..] {
            let text = |path: &str| line.pointer(path).and_then(Value::as_str).unwrap_or_default().to_owned();
            let key = format!("{} {} by {}", text("/verb"), text("/requestURI"), text("/user/username"));
            *counts.entry(key).or_default() += 1;
        }
        counts
    }
}

/// How objects of a scope are reached.
pub trait Reachable<K> {
    fn api(client: kube::Client, namespace: Option<&str>) -> Api<K>;
}

impl<K: Resource<DynamicType = (), Scope = NamespaceResourceScope>> Reachable<K> for NamespaceResourceScope {
    fn api(client: kube::Client, namespace: Option<&str>) -> Api<K> {
        Api::namespaced(client, namespace.unwrap_or("default"))
    }
}

impl<K: Resource<DynamicType = ()>> Reachable<K> for k8s_openapi::ClusterResourceScope {
    fn api(client: kube::Client, _: Option<&str>) -> Api<K> {
        Api::all(client)
    }
}

/// A cluster in which everything that is not given is usual.
pub fn cluster(name: &str, change: &Value) -> Value {
    let published =
        |service: &str, kind: &str| json!({"service": service, "servicePublishingStrategy": {"type": kind}});
    let mut manifest = json!({
        "apiVersion": "hypershift.openshift.io/v1beta1",
        "kind": "HostedCluster",
        "metadata": {"name": name, "namespace": USERS},
        "spec": {
            "release": {"image": NEW},
            "pullSecret": {"name": "pull-secret"},
            "sshKey": {"name": "ssh-key"},
            "dns": {"baseDomain": "example.com"},
            "platform": {"type": "None"},
            "networking": {
                "networkType": "Other",
                "clusterNetwork": [{"cidr": "10.132.0.0/14"}],
                "serviceNetwork": [{"cidr": "172.31.0.0/16"}],
            },
            "controllerAvailabilityPolicy": "HighlyAvailable",
            "services": [
                published("APIServer", "LoadBalancer"),
                published("OAuthServer", "Route"),
                published("Konnectivity", "Route"),
                published("Ignition", "Route"),
            ],
        },
    });
    merge(&mut manifest, change);
    manifest
}

/// Lays one value over another: maps are merged, everything else is replaced.
fn merge(value: &mut Value, change: &Value) {
    match (value, change) {
        (Value::Object(fields), Value::Object(changes)) => {
            for (key, change) in changes {
                merge(fields.entry(key.clone()).or_insert(Value::Null), change);
            }
        }
        (value, change) => *value = change.clone(),
    }
}
