//! Two clusters, the controllers, and everybody else: a provider that boots what it is asked for at once, and kubelets
//! that end pods at once.

use std::{
    collections::BTreeMap,
    sync::{Arc, atomic::AtomicBool},
    time::Duration,
};

use hyperplane_api::{
    cluster_api::{
        cluster::Cluster, machine::Machine, machine_deployment::MachineDeployment,
        machine_health_check::MachineHealthCheck, machine_set::MachineSet,
    },
    constants::{groups, objects::kubeconfigs, ours},
    infrastructure::kubevirt_machine::{KubevirtMachine, KubevirtMachineTemplate},
};
use hyperplane_machines::{InfrastructureKind, MachinesSettings, manager_rules, register};
use hyperplane_runtime::{Manager, Reach, Scope, Settings};
use hyperplane_seams::Clock;
use k8s_openapi::{
    NamespaceResourceScope,
    api::core::v1::{Event, Namespace, Node, Secret},
};
use kube::{Api, Client, Resource, ResourceExt as _};
use serde_json::{Value, json};
use tokio::{sync::watch, time::sleep};
use tokio_util::sync::CancellationToken;

use crate::{
    faults::{never, with_lag, with_silence, without_watches},
    ground::{Ground, Known, all, create, delete, merge_patch, patch_status, rule},
    hosted::SHOP,
    samples::merge,
};

/// The namespace of the control plane.
pub const HOME: &str = "clusters-a";
/// The namespace of another tenant, whose API server never answers.
pub const SILENT: &str = "clusters-silent";
/// What the provider holds its objects by.
const FINALIZER: &str = "example.com/instance";

pub struct World {
    pub ground: Ground,
    pub hosted: Client,
    /// The controllers get no answer from the hosted cluster.
    pub is_silent: Arc<AtomicBool>,
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

    /// The same, with controllers that hear of machines only later while that is so.
    pub async fn lagging(replicas: u32, is_lagging: watch::Receiver<bool>) -> Self {
        let world = Self::seen_by(|client| with_lag(client, "machines", is_lagging)).await;
        world.settle(replicas, json!({})).await;
        world
    }

    async fn seen_by(through: impl FnOnce(Client) -> Client) -> Self {
        let clock = Clock::anchored("2027-01-15T08:00:00Z".parse().unwrap());
        let world = Self {
            ground: Ground::new(&clock).await,
            hosted: Ground::new(&clock).await.admin,
            is_silent: Arc::default(),
            stop: CancellationToken::new(),
        };
        world.prepare().await;
        // Beside what is for machines, what the manager has for clusters already.
        let mut rules = manager_rules();
        rules.push(rule(&["secrets"], &["get", "list", "watch"]));
        let client = world.ground.manager(rules).await;
        world.start(through(client), clock);
        world
    }

    /// A world with a deployment of this many machines, all of them nodes.
    pub async fn settled(replicas: u32, change: Value) -> Self {
        let world = Self::new().await;
        world.settle(replicas, change).await;
        world
    }

    /// A world with one machine, and its name.
    pub async fn of_one(change: Value) -> (Self, String) {
        let world = Self::settled(1, change).await;
        let name = world.names().await.remove(0);
        (world, name)
    }

    async fn settle(&self, replicas: u32, change: Value) {
        let mut manifest = deployment(replicas);
        merge(&mut manifest, &change);
        self.make::<MachineDeployment>(manifest).await;
        self.pass(120).await;
        assert_eq!(self.nodes().await.len(), usize::try_from(replicas).unwrap());
    }

    async fn prepare(&self) {
        let is_needed = |definition: &Value| {
            let group = definition["spec"]["group"].as_str().unwrap();
            let is_control_plane = definition["spec"]["names"]["kind"] == "HostedControlPlane";
            group == groups::CLUSTER_API || group == groups::INFRASTRUCTURE || is_control_plane
        };
        self.ground.define(is_needed).await;
        create::<Namespace>(&self.hosted, None, json!({"metadata": {"name": SHOP}})).await;
        self.ground.namespaces(&[HOME]).await;
        let secret = json!({"metadata": named(kubeconfigs::SERVICE_NETWORK_ADMIN),
            "stringData": {"kubeconfig": kubeconfig("a.example")}});
        self.make::<Secret>(secret).await;
        let cluster = json!({"metadata": named("c"), "spec": {"paused": false}});
        self.make::<Cluster>(cluster).await;
        let template = json!({"metadata": named("t"), "spec": {"template": {"spec": {"virtualMachineTemplate": {}}}}});
        self.make::<KubevirtMachineTemplate>(template).await;
    }

    fn start(&self, client: Client, clock: Clock) {
        let mut manager = Manager::new(client, Settings::new("hyperplane", "test", clock, 1));
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
        let admin = &self.ground.admin;
        self.ground.namespaces(&[SILENT]).await;
        let secret = json!({"metadata": inside(kubeconfigs::SERVICE_NETWORK_ADMIN),
            "stringData": {"kubeconfig": kubeconfig(SILENT)}});
        create::<Secret>(admin, Some(SILENT), secret).await;
        let cluster = json!({"metadata": inside("c"), "spec": {"paused": false}});
        create::<Cluster>(admin, Some(SILENT), cluster).await;
        let instances: Api<KubevirtMachine> = Api::namespaced(admin.clone(), SILENT);
        for name in (0..machines).map(|number| format!("silent-{number}")) {
            let provider_id = format!("kubevirt://{name}");
            let instance = json!({"metadata": inside(&name),
                "spec": {"providerID": provider_id, "virtualMachineTemplate": {}}});
            create::<KubevirtMachine>(admin, Some(SILENT), instance).await;
            patch_status(&instances, &name, provisioned()).await;
            let reference =
                json!({"apiGroup": "infrastructure.cluster.x-k8s.io", "kind": "KubevirtMachine", "name": name});
            let machine = json!({"metadata": inside(&name), "spec": {"clusterName": "c", "providerID": provider_id,
                "bootstrap": {"dataSecretName": "one"}, "infrastructureRef": reference}});
            create::<Machine>(admin, Some(SILENT), machine).await;
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
                patch_status(&api, &name, provisioned()).await;
                let node = json!({"metadata": {"name": name}, "spec": {"providerID": provider_id}});
                create::<Node>(&self.hosted, None, node).await;
                self.report(&name, "True").await;
            }
        }
    }

    pub async fn make<K: Known + Resource<Scope = NamespaceResourceScope>>(&self, manifest: Value) {
        create::<K>(&self.ground.admin, Some(HOME), manifest).await;
    }

    /// What somebody else reports of an object.
    pub async fn say<K: Known + Resource<Scope = NamespaceResourceScope>>(&self, name: &str, status: Value) {
        patch_status(&self.here::<K>(), name, status).await;
    }

    pub async fn change<K: Known + Resource<Scope = NamespaceResourceScope>>(&self, name: &str, change: Value) {
        merge_patch(&self.here::<K>(), name, change).await;
    }

    pub async fn delete<K: Known + Resource<Scope = NamespaceResourceScope>>(&self, name: &str) {
        delete(&self.here::<K>(), name).await;
    }

    pub fn here<K: Known + Resource<Scope = NamespaceResourceScope>>(&self) -> Api<K> {
        Api::namespaced(self.ground.admin.clone(), HOME)
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
        self.make::<MachineHealthCheck>(manifest).await;
    }
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

/// What the provider says of an instance that is there.
fn provisioned() -> Value {
    json!({"initialization": {"provisioned": true}})
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
