//! Two clusters, the controllers, and everybody else: a provider that boots what it is asked for at once, and kubelets
//! that end pods at once.

use std::{
    collections::BTreeMap,
    fmt::Debug,
    sync::{Arc, Mutex, atomic::AtomicBool},
    time::Duration,
};

use hyperplane_access::User;
use hyperplane_api::{
    cluster_api::{
        cluster::Cluster, machine::Machine, machine_deployment::MachineDeployment,
        machine_health_check::MachineHealthCheck, machine_set::MachineSet,
    },
    constants::{groups, objects::kubeconfigs, ours},
    crd,
    infrastructure::kubevirt_machine::{KubevirtMachine, KubevirtMachineTemplate},
    schema::FeatureSet,
};
use hyperplane_apiserver::{Entropy, Server, Settings, Shared};
use hyperplane_machines::{InfrastructureKind, MachinesSettings, manager_rules, register};
use hyperplane_runtime::{Manager, Reach, Scope};
use hyperplane_seams::Clock;
use hyperplane_store::Memory;
use k8s_openapi::{
    NamespaceResourceScope,
    api::{
        apps::v1::DaemonSet,
        core::v1::{Event, Namespace, Node, PersistentVolume, PersistentVolumeClaim, Pod, Secret},
        policy::v1::PodDisruptionBudget,
        rbac::v1::{ClusterRole, ClusterRoleBinding},
        storage::v1::VolumeAttachment,
    },
    apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition,
};
use kube::{
    Api, Client, Resource, ResourceExt as _,
    api::{DeleteParams, ListParams, Patch, PatchParams, PostParams},
};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Value, json};
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

use crate::faults::{never, with_silence, without_watches};

/// The namespace of the control plane.
pub const HOME: &str = "clusters-a";
/// A namespace of the tenant.
pub const SHOP: &str = "shop";
/// The namespace of another tenant, whose API server never answers.
pub const SILENT: &str = "clusters-silent";
/// The account of the manager.
const MANAGER: (&str, &str) = ("hyperplane", "operator");
/// What the provider holds its objects by.
const FINALIZER: &str = "example.com/instance";

/// A kind that tests read and write.
pub trait Known: Resource<DynamicType = ()> + DeserializeOwned + Serialize + Clone + Debug {}
impl<K: Resource<DynamicType = ()> + DeserializeOwned + Serialize + Clone + Debug> Known for K {}

pub struct World {
    pub management: Client,
    pub hosted: Client,
    /// The controllers get no answer from the hosted cluster.
    pub is_silent: Arc<AtomicBool>,
    log: Arc<Mutex<Vec<Value>>>,
    stop: CancellationToken,
}

impl Drop for World {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

impl World {
    /// Both clusters, and the controllers at work.
    pub async fn new() -> Self {
        Self::seen_by(|client| client).await
    }

    /// The same, with controllers that never hear of instances: their cache lags behind for ever.
    pub async fn unheard(replicas: u32) -> Self {
        let world = Self::seen_by(|client| without_watches(client, "kubevirtmachines")).await;
        world.settle(replicas, json!({})).await;
        world
    }

    async fn seen_by(through: impl Fn(Client) -> Client) -> Self {
        let clock = Clock::anchored("2027-01-15T08:00:00Z".parse().unwrap());
        let log = Arc::new(Mutex::new(Vec::new()));
        let server = serve(&clock, Some(Arc::clone(&log))).await;
        let hosted = serve(&clock, None).await;
        let hosted = Client::new(hosted.in_process(User::admin()), "default");
        let world = Self {
            management: Client::new(server.in_process(User::admin()), "default"),
            hosted,
            is_silent: Arc::default(),
            log,
            stop: CancellationToken::new(),
        };
        world.prepare().await;
        let user = User::service_account(MANAGER.0, MANAGER.1, "1234");
        let client = Client::new(server.in_process(user), "default");
        world.start(through(client), clock);
        world
    }

    /// A world with a deployment of this many machines, all of them nodes.
    pub async fn settled(replicas: u32, change: Value) -> Self {
        let world = Self::new().await;
        world.settle(replicas, change).await;
        world
    }

    async fn settle(&self, replicas: u32, change: Value) {
        let mut manifest = deployment(replicas);
        merge(&mut manifest, &change);
        create::<MachineDeployment>(&self.management, Some(HOME), manifest).await;
        self.pass(120).await;
        assert_eq!(self.nodes().await.len(), usize::try_from(replicas).unwrap());
    }

    async fn prepare(&self) {
        let definitions = crd::definitions(FeatureSet::Default).into_iter();
        let definitions = definitions.chain(crd::provider_definitions(FeatureSet::Default));
        let is_needed = |definition: &Value| {
            let group = definition["spec"]["group"].as_str().unwrap();
            let is_control_plane = definition["spec"]["names"]["kind"] == "HostedControlPlane";
            group == groups::CLUSTER_API || group == groups::INFRASTRUCTURE || is_control_plane
        };
        for definition in definitions.filter(is_needed) {
            create::<CustomResourceDefinition>(&self.management, None, definition).await;
        }
        sleep(Duration::from_secs(45)).await;
        for name in [HOME, MANAGER.0] {
            create::<Namespace>(&self.management, None, json!({"metadata": {"name": name}})).await;
        }
        create::<Namespace>(&self.hosted, None, json!({"metadata": {"name": SHOP}})).await;
        sleep(Duration::from_secs(5)).await;
        self.grant().await;
        let secret = json!({"metadata": named(kubeconfigs::SERVICE_NETWORK_ADMIN),
            "stringData": {"kubeconfig": kubeconfig("a.example")}});
        create::<Secret>(&self.management, Some(HOME), secret).await;
        let cluster = json!({"metadata": named("c"), "spec": {"paused": false}});
        create::<Cluster>(&self.management, Some(HOME), cluster).await;
        let template = json!({"metadata": named("t"), "spec": {"template": {"spec": {"virtualMachineTemplate": {}}}}});
        create::<KubevirtMachineTemplate>(&self.management, Some(HOME), template).await;
    }

    /// What the manager may do, and not more: beside what is for machines, what it has for clusters already.
    async fn grant(&self) {
        let mut rules = serde_json::to_value(manager_rules()).unwrap();
        rules.as_array_mut().unwrap().extend([
            json!({"apiGroups": [""], "resources": ["secrets"], "verbs": ["get", "list", "watch"]}),
            json!({"apiGroups": [""], "resources": ["events"], "verbs": ["create", "patch"]}),
        ]);
        let metadata = json!({"name": "hyperplane-manager"});
        create::<ClusterRole>(&self.management, None, json!({"metadata": metadata, "rules": rules})).await;
        let binding = json!({
            "metadata": metadata,
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "hyperplane-manager"},
            "subjects": [{"kind": "ServiceAccount", "name": MANAGER.1, "namespace": MANAGER.0}],
        });
        create::<ClusterRoleBinding>(&self.management, None, binding).await;
    }

    fn start(&self, client: Client, clock: Clock) {
        let mut manager = Manager::new(
            client,
            hyperplane_runtime::Settings::new("hyperplane", "test", clock, 1),
        );
        let hosted = with_silence(self.hosted.clone(), Arc::clone(&self.is_silent));
        let settings = MachinesSettings {
            scope: Scope::Everywhere,
            reach: Reach::by(move |config| {
                let is_silent = config.cluster_url.host() == Some(SILENT);
                Ok(if is_silent { never() } else { hosted.clone() })
            }),
            infrastructure: vec![InfrastructureKind::Kubevirt],
        };
        register(&mut manager, settings);
        let run = manager.run(self.stop.clone());
        tokio::spawn(async move { run.await.unwrap() });
    }

    /// Another tenant whose API server never answers, with this many machines that are to become nodes.
    pub async fn silent_tenant(&self, machines: u32) {
        let inside = |name: &str| {
            let mut metadata = named(name);
            metadata["namespace"] = json!(SILENT);
            metadata
        };
        create::<Namespace>(&self.management, None, json!({"metadata": {"name": SILENT}})).await;
        let secret = json!({"metadata": inside(kubeconfigs::SERVICE_NETWORK_ADMIN),
            "stringData": {"kubeconfig": kubeconfig(SILENT)}});
        create::<Secret>(&self.management, Some(SILENT), secret).await;
        let cluster = json!({"metadata": inside("c"), "spec": {"paused": false}});
        create::<Cluster>(&self.management, Some(SILENT), cluster).await;
        let instances: Api<KubevirtMachine> = Api::namespaced(self.management.clone(), SILENT);
        for name in (0..machines).map(|number| format!("silent-{number}")) {
            let provider_id = format!("kubevirt://{name}");
            let instance = json!({"metadata": inside(&name),
                "spec": {"providerID": provider_id, "virtualMachineTemplate": {}}});
            create::<KubevirtMachine>(&self.management, Some(SILENT), instance).await;
            let status = Patch::Merge(json!({"status": {"initialization": {"provisioned": true}}}));
            let said = instances.patch_status(&name, &PatchParams::default(), &status).await;
            drop(said.unwrap());
            let reference =
                json!({"apiGroup": "infrastructure.cluster.x-k8s.io", "kind": "KubevirtMachine", "name": name});
            let machine = json!({"metadata": inside(&name), "spec": {"clusterName": "c", "providerID": provider_id,
                "bootstrap": {"dataSecretName": "one"}, "infrastructureRef": reference}});
            create::<Machine>(&self.management, Some(SILENT), machine).await;
        }
    }

    /// Lets seconds go by, in which everybody else does their part.
    pub async fn pass(&self, seconds: u32) {
        for _ in 0..seconds {
            sleep(Duration::from_secs(1)).await;
            self.provide().await;
            self.end_pods().await;
        }
    }

    /// The provider: what is asked for boots and joins at once, and what is to go is gone at once.
    async fn provide(&self) {
        let api = self.here::<KubevirtMachine>();
        for instance in all(&api).await {
            let name = instance.name_any();
            if instance.metadata.deletion_timestamp.is_some() {
                merge_patch(&api, &name, json!({"metadata": {"finalizers": null}})).await;
            } else if instance.spec.provider_id.is_none() {
                let provider_id = format!("kubevirt://{name}");
                let change = json!({"metadata": {"finalizers": [FINALIZER]}, "spec": {"providerID": provider_id}});
                merge_patch(&api, &name, change).await;
                let status = Patch::Merge(json!({"status": {"initialization": {"provisioned": true}}}));
                api.patch_status(&name, &PatchParams::default(), &status).await.unwrap();
                let node = json!({"metadata": {"name": name}, "spec": {"providerID": provider_id}});
                create::<Node>(&self.hosted, None, node).await;
                self.report(&name, "True").await;
            }
        }
    }

    async fn end_pods(&self) {
        let pods: Api<Pod> = Api::namespaced(self.hosted.clone(), SHOP);
        for pod in all(&pods).await {
            // Pods named so are on nodes whose kubelets are silent.
            let is_silent = pod.name_any().starts_with("silent-");
            if pod.metadata.deletion_timestamp.is_some() && !is_silent {
                let now = DeleteParams::default().grace_period(0);
                pods.delete(&pod.name_any(), &now).await.unwrap();
            }
        }
    }

    /// What a kubelet, or who speaks for it, says of its node.
    pub async fn report(&self, node: &str, ready: &str) {
        let condition = |type_: &str, status: &str| {
            json!({"type": type_, "status": status, "reason": "Test", "message": "",
                "lastTransitionTime": "2027-01-15T08:00:00Z", "lastHeartbeatTime": "2027-01-15T08:00:00Z"})
        };
        let info = json!({"kubeletVersion": "v1.36.2", "architecture": "amd64", "bootID": "b", "kernelVersion": "k",
            "containerRuntimeVersion": "containerd://2", "kubeProxyVersion": "", "machineID": "m",
            "operatingSystem": "linux", "osImage": "o", "systemUUID": "u"});
        let status = json!({"status": {"nodeInfo": info, "conditions": [
            condition("Ready", ready), condition("MemoryPressure", "False"), condition("DiskPressure", "False"),
            condition("PIDPressure", "False")]}});
        let api: Api<Node> = Api::all(self.hosted.clone());
        let status = Patch::Merge(status);
        api.patch_status(node, &PatchParams::default(), &status).await.unwrap();
    }

    /// What is attached to a node, as who attaches it says.
    pub async fn attach(&self, node: &str, volumes: &[&str]) {
        let attached: Vec<Value> = volumes
            .iter()
            .map(|name| json!({"name": name, "devicePath": ""}))
            .collect();
        let api: Api<Node> = Api::all(self.hosted.clone());
        let status = Patch::Merge(json!({"status": {"volumesAttached": attached}}));
        api.patch_status(node, &PatchParams::default(), &status).await.unwrap();
    }

    /// Attaches a volume to a node, which does not list it.
    pub async fn attach_unlisted(&self, node: &str, volume: &str) {
        let manifest = json!({"metadata": {"name": format!("{node}-{volume}")}, "spec": {
            "attacher": "csi.example.com", "nodeName": node, "source": {"persistentVolumeName": volume}}});
        create::<VolumeAttachment>(&self.hosted, None, manifest).await;
    }

    pub async fn detach(&self, node: &str, volume: &str) {
        let api: Api<VolumeAttachment> = Api::all(self.hosted.clone());
        let deleted = api.delete(&format!("{node}-{volume}"), &DeleteParams::default()).await;
        drop(deleted.unwrap());
    }

    /// A volume with a claim of the same name.
    pub async fn volume(&self, name: &str, handle: &str) {
        let size = json!({"storage": "1Gi"});
        let source = json!({"driver": "csi.example.com", "volumeHandle": handle});
        let volume = json!({"metadata": {"name": name}, "spec": {"capacity": size, "accessModes": ["ReadWriteOnce"],
            "csi": source, "storageClassName": ""}});
        create::<PersistentVolume>(&self.hosted, None, volume).await;
        let claim = json!({"metadata": {"name": name, "namespace": SHOP}, "spec": {"accessModes": ["ReadWriteOnce"],
            "resources": {"requests": size}, "volumeName": name, "storageClassName": ""}});
        create::<PersistentVolumeClaim>(&self.hosted, Some(SHOP), claim).await;
    }

    /// A pod that runs on a node, with these labels and other metadata.
    pub async fn run_pod(&self, node: &str, name: &str, metadata: Value) {
        self.run_pod_with(node, name, metadata, json!({})).await;
    }

    /// The same, with more in its spec.
    pub async fn run_pod_with(&self, node: &str, name: &str, metadata: Value, spec: Value) {
        let mut manifest = json!({"metadata": {"name": name, "namespace": SHOP}, "spec": {"nodeName": node,
            "containers": [{"name": "main", "image": "registry.example.com/a:1"}]}});
        merge(&mut manifest["metadata"], &metadata);
        merge(&mut manifest["spec"], &spec);
        create::<Pod>(&self.hosted, Some(SHOP), manifest).await;
        let status = Patch::Merge(json!({"status": {"phase": "Running",
            "conditions": [{"type": "Ready", "status": "True"}]}}));
        let pods: Api<Pod> = Api::namespaced(self.hosted.clone(), SHOP);
        pods.patch_status(name, &PatchParams::default(), &status).await.unwrap();
    }

    /// The metadata of a pod that a DaemonSet made.
    pub async fn of_daemon_set(&self) -> Value {
        let labels = json!({"app": "agent"});
        let template = json!({"metadata": {"labels": labels},
            "spec": {"containers": [{"name": "main", "image": "registry.example.com/a:1"}]}});
        let manifest = json!({"metadata": {"name": "agent", "namespace": SHOP},
            "spec": {"selector": {"matchLabels": labels}, "template": template}});
        create::<DaemonSet>(&self.hosted, Some(SHOP), manifest).await;
        let sets: Api<DaemonSet> = Api::namespaced(self.hosted.clone(), SHOP);
        let owner = sets.get("agent").await.unwrap().controller_owner_ref(&());
        json!({"labels": labels, "ownerReferences": [owner]})
    }

    /// A budget for pods with label app, of which so many may go.
    pub async fn budget(&self, name: &str, app: &str, allowed: u32) {
        let manifest = json!({"metadata": {"name": name, "namespace": SHOP},
            "spec": {"maxUnavailable": 0, "selector": {"matchLabels": {"app": app}}}});
        create::<PodDisruptionBudget>(&self.hosted, Some(SHOP), manifest).await;
        self.allow(name, allowed).await;
    }

    /// How many pods of a budget may go, as its controller would say.
    pub async fn allow(&self, budget: &str, allowed: u32) {
        let status = Patch::Merge(
            json!({"status": {"observedGeneration": 1, "disruptionsAllowed": allowed,
            "currentHealthy": 1, "desiredHealthy": 1, "expectedPods": 1}}),
        );
        let budgets: Api<PodDisruptionBudget> = Api::namespaced(self.hosted.clone(), SHOP);
        budgets
            .patch_status(budget, &PatchParams::default(), &status)
            .await
            .unwrap();
    }

    pub async fn make<K: Known + Resource<Scope = NamespaceResourceScope>>(&self, manifest: Value) {
        create::<K>(&self.management, Some(HOME), manifest).await;
    }

    /// What somebody else reports of an object.
    pub async fn say<K: Known + Resource<Scope = NamespaceResourceScope>>(&self, name: &str, status: Value) {
        let status = Patch::Merge(json!({"status": status}));
        let said = self
            .here::<K>()
            .patch_status(name, &PatchParams::default(), &status)
            .await;
        drop(said.unwrap());
    }

    pub async fn change<K: Known + Resource<Scope = NamespaceResourceScope>>(&self, name: &str, change: Value) {
        merge_patch(&self.here::<K>(), name, change).await;
    }

    pub async fn change_node(&self, name: &str, change: Value) {
        merge_patch(&Api::<Node>::all(self.hosted.clone()), name, change).await;
    }

    pub async fn delete<K: Known + Resource<Scope = NamespaceResourceScope>>(&self, name: &str) {
        let deleted = self.here::<K>().delete(name, &DeleteParams::default()).await;
        drop(deleted.unwrap());
    }

    pub fn here<K: Known + Resource<Scope = NamespaceResourceScope>>(&self) -> Api<K> {
        Api::namespaced(self.management.clone(), HOME)
    }

    pub async fn deployment(&self) -> MachineDeployment {
        self.here::<MachineDeployment>().get("pool").await.unwrap()
    }

    pub async fn sets(&self) -> Vec<MachineSet> {
        all(&self.here()).await
    }

    /// All machines by name.
    pub async fn machines(&self) -> BTreeMap<String, Machine> {
        let machines = all(&self.here::<Machine>()).await.into_iter();
        machines.map(|machine| (machine.name_any(), machine)).collect()
    }

    pub async fn names(&self) -> Vec<String> {
        self.machines().await.into_keys().collect()
    }

    pub async fn instances(&self) -> Vec<KubevirtMachine> {
        all(&self.here()).await
    }

    /// All nodes of the hosted cluster by name.
    pub async fn nodes(&self) -> BTreeMap<String, Node> {
        let nodes = all(&Api::<Node>::all(self.hosted.clone())).await.into_iter();
        nodes.map(|node| (node.name_any(), node)).collect()
    }

    pub async fn pods(&self) -> Vec<String> {
        let pods = all(&Api::<Pod>::namespaced(self.hosted.clone(), SHOP)).await;
        pods.iter().map(kube::ResourceExt::name_any).collect()
    }

    /// Reasons and messages of all events.
    pub async fn events(&self, reason: &str) -> Vec<String> {
        let events = all(&self.here::<Event>()).await.into_iter();
        let told = events.filter(|event| event.reason.as_deref() == Some(reason));
        told.map(|event| event.message.unwrap_or_default()).collect()
    }

    pub async fn health_check(&self, spec: Value) {
        let mut manifest = json!({"metadata": named("pool"), "spec": {
            "clusterName": "c", "selector": {"matchLabels": {"pool": "pool"}}}});
        merge(&mut manifest["spec"], &spec);
        create::<MachineHealthCheck>(&self.management, Some(HOME), manifest).await;
    }

    /// How many lines the log has.
    pub fn position(&self) -> usize {
        self.log.lock().unwrap().len()
    }

    /// What the controllers wrote since a position in the log, as `verb resource/subresource/name code`.
    pub fn writes_since(&self, position: usize) -> Vec<String> {
        let log = self.log.lock().unwrap();
        let is_write = |line: &&Value| !matches!(line["verb"].as_str(), Some("get" | "list" | "watch"));
        log[position..]
            .iter()
            .filter(|line| is_manager(line))
            .filter(is_write)
            .map(|line| {
                let object = &line["objectRef"];
                let code = &line["responseStatus"]["code"];
                let [resource, part, name] = ["resource", "subresource", "name"].map(|field| &object[field]);
                format!("{} {resource} {part} {name} {code}", line["verb"])
            })
            .collect()
    }

    /// Requests of the controllers that were refused for want of a right.
    pub fn refusals(&self) -> Vec<String> {
        let log = self.log.lock().unwrap();
        let refused = log
            .iter()
            .filter(|line| is_manager(line) && line["responseStatus"]["code"] == 403);
        refused
            .map(|line| format!("{} {}", line["verb"], line["requestURI"]))
            .collect()
    }
}

fn is_manager(line: &Value) -> bool {
    line["user"]["username"] == format!("system:serviceaccount:{}:{}", MANAGER.0, MANAGER.1)
}

async fn serve(clock: &Clock, log: Option<Arc<Mutex<Vec<Value>>>>) -> Server {
    let mut settings = Settings::new(clock.clone(), Entropy::seeded(1));
    if let Some(log) = log {
        settings.audit = Some(Arc::new(move |line: &str| {
            log.lock().unwrap().push(serde_json::from_str(line).unwrap());
        }));
    }
    let (server, writer, controllers) = Server::open(&Shared::new(), settings, Memory).unwrap();
    tokio::spawn(writer.run());
    tokio::spawn(controllers.run(CancellationToken::new()));
    server.bootstrap().await.unwrap();
    server
}

/// A kubeconfig for a server.
fn kubeconfig(host: &str) -> String {
    format!(
        "{{apiVersion: v1, kind: Config, current-context: a, \
         contexts: [{{name: a, context: {{cluster: a, user: a}}}}], \
         clusters: [{{name: a, cluster: {{server: 'https://{host}:6443'}}}}], \
         users: [{{name: a, user: {{token: one}}}}]}}"
    )
}

/// Metadata of something that we made.
pub fn named(name: &str) -> Value {
    json!({"name": name, "namespace": HOME, "labels": BTreeMap::from([ours::label()])})
}

/// A deployment that nothing is wrong with.
fn deployment(replicas: u32) -> Value {
    let reference =
        json!({"apiGroup": "infrastructure.cluster.x-k8s.io", "kind": "KubevirtMachineTemplate", "name": "t"});
    json!({"metadata": named("pool"), "spec": {
        "clusterName": "c", "replicas": replicas, "selector": {"matchLabels": {"pool": "pool"}},
        "template": {"metadata": {"labels": {"pool": "pool"}}, "spec": {
            "clusterName": "c", "version": "v1.36.2", "bootstrap": {"dataSecretName": "one"},
            "infrastructureRef": reference}},
    }})
}

/// The template of a deployment with other data for the first boot.
pub fn other_data(name: &str) -> Value {
    json!({"spec": {"template": {"spec": {"bootstrap": {"dataSecretName": name}}}}})
}

async fn create<K: Known>(client: &Client, namespace: Option<&str>, mut manifest: Value) {
    manifest["apiVersion"] = json!(K::api_version(&()));
    manifest["kind"] = json!(K::kind(&()));
    let path = K::url_path(&(), namespace);
    let request = kube::core::Request::new(path).create(&PostParams::default(), manifest.to_string().into_bytes());
    let created: Value = client.request(request.unwrap()).await.unwrap();
    assert!(created["metadata"]["uid"].is_string());
}

async fn all<K: Known>(api: &Api<K>) -> Vec<K> {
    api.list(&ListParams::default()).await.unwrap().items
}

async fn merge_patch<K: Known>(api: &Api<K>, name: &str, change: Value) {
    api.patch(name, &PatchParams::default(), &Patch::Merge(change))
        .await
        .unwrap();
}

/// Merges a change into a value; objects field by field, all else as a whole.
pub fn merge(value: &mut Value, change: &Value) {
    match (value, change) {
        (Value::Object(value), Value::Object(change)) => {
            for (field, change) in change {
                merge(value.entry(field).or_insert(Value::Null), change);
            }
        }
        (value, change) => *value = change.clone(),
    }
}
