//! A management cluster in memory: definitions, users' objects, clusters, and the log of everything that was written.

use std::{
    collections::BTreeMap,
    fmt::Debug,
    sync::{Arc, Mutex},
    time::Duration,
};

use hyperplane_access::User;
use hyperplane_api::{
    constants::{annotations, ours},
    crd,
    hypershift::{hosted_cluster::HostedCluster, hosted_control_plane::HostedControlPlane},
    schema::FeatureSet,
};
use hyperplane_apiserver::{Entropy, Server, Settings, Shared};
use hyperplane_component_driver::Facts;
use hyperplane_hosted_cluster::{HostedClusterSettings, ManagementNetworks, ServedKinds, manager_rules, register};
use hyperplane_planner::version::{Scheme, Version};
use hyperplane_runtime::{IdentityMode, Manager, Only, Reach};
use hyperplane_seams::Clock;
use hyperplane_store::Memory;
use k8s_openapi::{
    api::{
        core::v1::{Namespace, Secret},
        rbac::v1::{ClusterRole, ClusterRoleBinding},
    },
    apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition,
};
use kube::{
    Api, Client, Resource,
    api::{DeleteParams, ListParams, Patch, PatchParams, PostParams},
    core::NamespaceResourceScope,
};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Value, json};
use tokio::{task::JoinHandle, time::sleep};
use tokio_util::sync::CancellationToken;

use crate::samples;

/// The namespace of the clusters.
pub const HOME: &str = "clusters";
/// Longer than anything takes that is triggered by a change.
const SETTLED: Duration = Duration::from_secs(45);

/// The account of the manager.
pub const MANAGER: (&str, &str) = ("hyperplane", "operator");

/// A kind that tests read and write.
pub trait Known: Resource<DynamicType = ()> + DeserializeOwned + Serialize + Clone + Debug {}
impl<K: Resource<DynamicType = ()> + DeserializeOwned + Serialize + Clone + Debug> Known for K {}

pub struct World {
    pub client: Client,
    pub server: Server,
    pub clock: Clock,
    /// How the operator reaches clusters that users name.
    pub elsewhere: Reach,
    /// Whether the manager ends machines itself.
    pub runs_machines: bool,
    log: Arc<Mutex<Vec<Value>>>,
}

/// A process that runs the operator.
pub struct Process {
    stop: CancellationToken,
    task: JoinHandle<()>,
}

impl Process {
    pub async fn stop(self) {
        self.stop.cancel();
        self.task.await.unwrap();
    }

    /// Ends where it stands.
    pub async fn crash(self) {
        self.task.abort();
        drop(self.task.await);
    }
}

impl World {
    pub async fn new() -> Self {
        let entropy = Entropy::seeded(1);
        let clock = Clock::anchored("2027-01-15T08:00:00Z".parse().unwrap());
        let log = Arc::new(Mutex::new(Vec::new()));
        let lines = Arc::clone(&log);
        let mut settings = Settings::new(clock.clone(), entropy);
        settings.audit = Some(Arc::new(move |line: &str| {
            lines.lock().unwrap().push(serde_json::from_str(line).unwrap());
        }));
        let (server, writer, controllers) = Server::open(&Shared::new(), settings, Memory).unwrap();
        tokio::spawn(writer.run());
        tokio::spawn(controllers.run(CancellationToken::new()));
        server.bootstrap().await.unwrap();
        let client = Client::new(server.in_process(User::admin()), "default");
        let world = Self {
            client,
            server,
            clock,
            elsewhere: Reach::by(|_| Err(kube::Error::Service("there is no other cluster".into()))),
            runs_machines: false,
            log,
        };
        world.prepare().await;
        world
    }

    /// A world with one cluster, and the operator at work.
    pub async fn settled(change: Value) -> (Self, Process) {
        let world = Self::new().await;
        world.cluster("blue", change).await;
        let process = world.start();
        world.settle().await;
        (world, process)
    }

    async fn prepare(&self) {
        let definitions = crd::definitions(FeatureSet::Default).into_iter();
        for definition in definitions.chain(crd::provider_definitions(FeatureSet::Default)) {
            self.create::<CustomResourceDefinition>(None, definition).await;
        }
        sleep(SETTLED).await;
        for name in [HOME, MANAGER.0, "hosts"] {
            self.create::<Namespace>(None, json!({"metadata": {"name": name}}))
                .await;
        }
        let metadata = json!({"name": "hyperplane-manager"});
        self.create::<ClusterRole>(None, json!({"metadata": metadata, "rules": manager_rules()}))
            .await;
        let binding = json!({
            "metadata": metadata,
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "hyperplane-manager"},
            "subjects": [{"kind": "ServiceAccount", "name": MANAGER.1, "namespace": MANAGER.0}],
        });
        self.create::<ClusterRoleBinding>(None, binding).await;
        self.secret(HOME, "registry", json!({".dockerconfigjson": "{\"auths\":{}}"}))
            .await;
    }

    /// A Secret of a user.
    pub async fn secret(&self, namespace: &str, name: &str, data: Value) {
        self.create::<Secret>(
            Some(namespace),
            json!({"metadata": {"name": name, "namespace": namespace}, "stringData": data}),
        )
        .await;
    }

    /// A cluster that nothing is wrong with, with changes.
    pub async fn cluster(&self, name: &str, change: Value) {
        let mut manifest = samples::hosted_cluster(&json!({
            "metadata": {"name": name, "namespace": HOME},
            "spec": {
                "pullSecret": {"name": "registry"},
                "sshKey": {"name": ""},
                "etcd": {"managementType": "Managed", "managed": {"storage": {"type": "PersistentVolume"}}},
                "services": samples::services(&json!({"type": "LoadBalancer"})),
            },
        }));
        samples::merge(&mut manifest, &change);
        self.create::<HostedCluster>(Some(HOME), manifest).await;
    }

    pub fn start(&self) -> Process {
        self.start_for(None)
    }

    /// Starts a process that is for the clusters of one scope.
    pub fn start_for(&self, scope: Option<&str>) -> Process {
        let user = User::service_account(MANAGER.0, MANAGER.1, "1234");
        let client = Client::new(self.server.in_process(user), "default");
        let mut settings = hyperplane_runtime::Settings::new("hyperplane", "test", self.clock.clone(), 1);
        settings.identity_mode = IdentityMode::Extension;
        settings.only = scope.map(|value| Only {
            annotation: annotations::SCOPE.as_str(),
            value: value.to_owned(),
        });
        let mut manager = Manager::new(client, settings);
        let mut settings = operator_settings(self.elsewhere.clone());
        settings.facts.runs_machines = self.runs_machines;
        register(&mut manager, settings);
        let stop = CancellationToken::new();
        let run = manager.run(stop.clone());
        let task = tokio::spawn(async move { run.await.unwrap() });
        Process { stop, task }
    }

    /// Waits until whatever a change triggered is done.
    pub async fn settle(&self) {
        sleep(SETTLED).await;
    }

    pub async fn create<K: Known>(&self, namespace: Option<&str>, manifest: Value) {
        let path = K::url_path(&(), namespace);
        let request = kube::core::Request::new(path).create(&PostParams::default(), manifest.to_string().into_bytes());
        let created: Value = self.client.request(request.unwrap()).await.unwrap();
        assert!(created["metadata"]["uid"].is_string());
    }

    pub fn api<K: Known + Resource<Scope = NamespaceResourceScope>>(&self, namespace: &str) -> Api<K> {
        Api::namespaced(self.client.clone(), namespace)
    }

    pub async fn get<K: Known + Resource<Scope = NamespaceResourceScope>>(
        &self,
        namespace: &str,
        name: &str,
    ) -> Option<K> {
        self.api::<K>(namespace).get_opt(name).await.unwrap()
    }

    pub async fn patch<K: Known + Resource<Scope = NamespaceResourceScope>>(
        &self,
        namespace: &str,
        name: &str,
        change: Value,
    ) {
        let api = self.api::<K>(namespace);
        api.patch(name, &PatchParams::default(), &Patch::Merge(change))
            .await
            .unwrap();
    }

    /// What a control plane reports of itself.
    pub async fn report(&self, namespace: &str, name: &str, status: Value) {
        let api = self.api::<HostedControlPlane>(namespace);
        let change = Patch::Merge(json!({"status": status}));
        api.patch_status(name, &PatchParams::default(), &change).await.unwrap();
    }

    pub async fn delete<K: Known + Resource<Scope = NamespaceResourceScope>>(&self, namespace: &str, name: &str) {
        drop(
            self.api::<K>(namespace)
                .delete(name, &DeleteParams::default())
                .await
                .unwrap(),
        );
    }

    pub async fn hosted_cluster(&self, name: &str) -> HostedCluster {
        self.get(HOME, name).await.unwrap()
    }

    pub async fn control_plane(&self, name: &str) -> Option<HostedControlPlane> {
        self.get(&format!("{HOME}-{name}"), name).await
    }

    pub async fn namespace(&self, name: &str) -> Option<Namespace> {
        Api::<Namespace>::all(self.client.clone()).get_opt(name).await.unwrap()
    }

    /// Status, reason and message of the conditions of a cluster.
    pub async fn conditions(&self, name: &str) -> BTreeMap<String, (String, String, String)> {
        let status = self.hosted_cluster(name).await.status.unwrap_or_default();
        let conditions = status.conditions.into_iter();
        conditions
            .map(|one| (one.type_, (one.status, one.reason, one.message)))
            .collect()
    }

    /// Names of all objects of a kind that are ours, with their namespaces.
    pub async fn ours<K: Known>(&self) -> Vec<String> {
        let selector = format!("{}={}", ours::MANAGED_BY, ours::MANAGED_BY_US);
        let api: Api<K> = Api::all(self.client.clone());
        let list = api.list(&ListParams::default().labels(&selector)).await.unwrap();
        let name = |object: &K| {
            let meta = object.meta();
            let namespace = meta.namespace.as_deref().unwrap_or_default();
            format!("{namespace}/{}", meta.name.as_deref().unwrap_or_default())
        };
        list.items.iter().map(name).collect()
    }

    /// How many lines the log has.
    pub fn position(&self) -> usize {
        self.log.lock().unwrap().len()
    }

    /// What the operator wrote since a position in the log, as `verb resource/name code`.
    pub fn writes_since(&self, position: usize) -> Vec<String> {
        let log = self.log.lock().unwrap();
        let user = format!("system:serviceaccount:{}:{}", MANAGER.0, MANAGER.1);
        let is_write = |line: &&Value| {
            let verb = line["verb"].as_str().unwrap_or_default();
            line["user"]["username"] == *user && !matches!(verb, "get" | "list" | "watch")
        };
        let word = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let describe = |line: &Value| {
            let object = &line["objectRef"];
            let code = line["responseStatus"]["code"].as_u64().unwrap_or_default();
            let [verb, resource, name] = [&line["verb"], &object["resource"], &object["name"]].map(word);
            let part = object["subresource"]
                .as_str()
                .map(|part| format!("/{part}"))
                .unwrap_or_default();
            format!("{verb} {resource}{part}/{name} {code}")
        };
        log[position..].iter().filter(is_write).map(describe).collect()
    }

    /// Requests of the operator that were refused for want of a right.
    pub fn refusals(&self) -> Vec<String> {
        let log = self.log.lock().unwrap();
        let user = format!("system:serviceaccount:{}:{}", MANAGER.0, MANAGER.1);
        let refused = log
            .iter()
            .filter(|line| line["user"]["username"] == *user && line["responseStatus"]["code"] == 403);
        refused
            .map(|line| format!("{} {}", line["verb"], line["requestURI"]))
            .collect()
    }
}

fn operator_settings(reach: Reach) -> HostedClusterSettings {
    HostedClusterSettings {
        facts: Facts {
            kubernetes: Version::parse(Scheme::Kubernetes, "1.36.4").unwrap(),
            image: "registry.example.com/hyperplane:1".to_owned(),
            ingress_domain: Some("apps.example.com".to_owned()),
            has_monitors: false,
            runs_machines: false,
        },
        served: ServedKinds::ALL,
        dedicates_operators: false,
        assigns_user_ids: true,
        networks: ManagementNetworks {
            closed: vec!["10.128.0.0/14".to_owned()],
            ..ManagementNetworks::default()
        },
        management_platform: None,
        reach,
        seed: 1,
        entropy: Entropy::new(|bytes| bytes.fill(7)),
    }
}
