//! A management cluster in memory: namespaces with the rights that the operator needs, control planes, and the log of
//! everything that was written.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
    time::Duration,
};

use hyperplane_access::User;
use hyperplane_api::{
    constants::{
        objects::{roles, services},
        ours,
    },
    crd,
    hypershift::hosted_control_plane::HostedControlPlane,
    schema::FeatureSet,
};
use hyperplane_apiserver::{Entropy, Server, Settings, Shared};
use hyperplane_component_driver::{Facts, access::pki_operator_rules};
use hyperplane_pki::{PkiSettings, register};
use hyperplane_planner::version::{Scheme, Version};
use hyperplane_runtime::{IdentityMode, Manager, Scope};
use hyperplane_seams::Clock;
use hyperplane_store::Memory;
use jiff::Timestamp;
use k8s_openapi::{
    api::{
        core::v1::{ConfigMap, Namespace, Secret, Service, ServiceAccount},
        rbac::v1::{Role, RoleBinding},
    },
    apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition,
};
use kube::{
    Api, Client,
    api::{DeleteParams, ListParams, Patch, PatchParams, PostParams},
};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Value, json};
use tokio::{task::JoinHandle, time::sleep};
use tokio_util::sync::CancellationToken;

use crate::{
    cut::Cut,
    samples::{self, merge, published},
};

pub const START: &str = "2027-01-15T08:00:00Z";
pub const NAMESPACE: &str = "clusters-example";
/// Longer than anything takes that is triggered by a change.
const SETTLED: Duration = Duration::from_secs(5);

pub struct World {
    pub client: Client,
    pub server: Server,
    pub clock: Clock,
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
        let clock = Clock::anchored(START.parse().unwrap());
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
            log,
        };
        world.define().await;
        world
    }

    /// A world with a control plane that is published, and the operator at work.
    pub async fn settled() -> (Self, Process) {
        let world = Self::new().await;
        world.tenant(NAMESPACE).await;
        world.publish(NAMESPACE).await;
        world.control_plane(NAMESPACE, json!({})).await;
        let process = world.start(Scope::Everywhere);
        world.settle().await;
        (world, process)
    }

    async fn define(&self) {
        let api: Api<CustomResourceDefinition> = Api::all(self.client.clone());
        let name = "hostedcontrolplanes.hypershift.openshift.io";
        let definitions = crd::definitions(FeatureSet::Default);
        let definition = definitions
            .into_iter()
            .find(|definition| definition["metadata"]["name"] == name)
            .unwrap();
        let definition = hyperplane_objects::read(&definition).unwrap();
        api.create(&PostParams::default(), &definition).await.unwrap();
        self.settle().await;
    }

    /// A namespace with the account of the operator and its rights, as whoever makes control planes makes them.
    pub async fn tenant(&self, namespace: &str) {
        let name = roles::PKI_OPERATOR;
        let metadata = json!({"name": name, "namespace": namespace});
        self.create::<Namespace>(None, json!({"metadata": {"name": namespace}}))
            .await;
        self.create::<ServiceAccount>(Some(namespace), json!({"metadata": metadata}))
            .await;
        self.create::<Role>(
            Some(namespace),
            json!({"metadata": metadata, "rules": pki_operator_rules()}),
        )
        .await;
        let binding = json!({
            "metadata": metadata,
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": name},
            "subjects": [{"kind": "ServiceAccount", "name": name, "namespace": namespace}],
        });
        self.create::<RoleBinding>(Some(namespace), binding).await;
    }

    /// The Services that publish a control plane, with what a cloud gives them.
    pub async fn publish(&self, namespace: &str) {
        let kinds = [
            (services::API_SERVER, "LoadBalancer", 6443),
            (services::KONNECTIVITY, "ClusterIP", 8091),
            (services::IGNITION, "ClusterIP", 443),
        ];
        for (name, kind, port) in kinds {
            let labels = json!({ours::MANAGED_BY.as_str(): ours::MANAGED_BY_US});
            let service = json!({
                "metadata": {"name": name, "namespace": namespace, "labels": labels},
                "spec": {"type": kind, "ports": [{"port": port}]},
            });
            self.create::<Service>(Some(namespace), service).await;
        }
        self.balance(namespace, "192.0.2.7").await;
    }

    /// Gives the load balancer of the API server an address.
    pub async fn balance(&self, namespace: &str, address: &str) {
        let api: Api<Service> = Api::namespaced(self.client.clone(), namespace);
        let status = json!({"status": {"loadBalancer": {"ingress": [{"ip": address}]}}});
        api.patch_status(services::API_SERVER, &PatchParams::default(), &Patch::Merge(status))
            .await
            .unwrap();
    }

    pub async fn control_plane(&self, namespace: &str, changes: Value) {
        let none = json!({"type": "None"});
        let mut manifest = samples::hosted_control_plane(&json!({
            "metadata": {"name": "example", "namespace": namespace, "annotations": {
                "hypershift.openshift.io/cluster": "clusters/example",
            }},
            "spec": {
                "infraID": "example-x7k2p",
                "services": [
                    published("APIServer", &json!({"type": "LoadBalancer"})),
                    published("OAuthServer", &json!({"type": "Route"})),
                    published("Konnectivity", &none),
                    published("Ignition", &none),
                ],
            },
        }));
        merge(&mut manifest, &changes);
        self.create::<HostedControlPlane>(Some(namespace), manifest).await;
    }

    /// Changes a control plane as a user would.
    pub async fn change(&self, namespace: &str, change: Value) {
        let api: Api<HostedControlPlane> = Api::namespaced(self.client.clone(), namespace);
        api.patch("example", &PatchParams::default(), &Patch::Merge(change))
            .await
            .unwrap();
    }

    /// The conditions of a control plane, by type.
    pub async fn conditions(&self, namespace: &str) -> BTreeMap<String, (String, String)> {
        let api: Api<HostedControlPlane> = Api::namespaced(self.client.clone(), namespace);
        let status = api.get("example").await.unwrap().status.unwrap_or_default();
        let conditions = status.conditions.into_iter();
        conditions
            .map(|condition| (condition.type_, (condition.status, condition.message)))
            .collect()
    }

    pub fn start(&self, scope: Scope) -> Process {
        self.start_as(scope, Client::new(self.server.in_process(User::admin()), "default"))
    }

    /// A process that loses its connection after so many writes.
    pub fn start_cut(&self, writes: usize) -> Process {
        let service = Cut::new(self.server.in_process(User::admin()), writes);
        self.start_as(Scope::Everywhere, Client::new(service, "default"))
    }

    /// A process that has only the rights of an account.
    pub fn start_dedicated(&self, namespace: &str) -> Process {
        let user = User::service_account(namespace, roles::PKI_OPERATOR, "1234");
        let client = Client::new(self.server.in_process(user), namespace);
        self.start_as(Scope::Namespace(namespace.to_owned()), client)
    }

    fn start_as(&self, scope: Scope, client: Client) -> Process {
        let mut settings = hyperplane_runtime::Settings::new("hyperplane", "test", self.clock.clone(), 1);
        settings.identity_mode = IdentityMode::Extension;
        let mut manager = Manager::new(client, settings);
        let facts = Facts {
            kubernetes: Version::parse(Scheme::Kubernetes, "1.36.4").unwrap(),
            image: "hyperplane".to_owned(),
            ingress_domain: None,
            has_monitors: false,
            runs_machines: false,
        };
        register(&mut manager, PkiSettings { scope, facts });
        let stop = CancellationToken::new();
        let run = manager.run(stop.clone());
        let task = tokio::spawn(async move { run.await.unwrap() });
        Process { stop, task }
    }

    /// Waits until whatever a change triggered is done.
    pub async fn settle(&self) {
        sleep(SETTLED).await;
    }

    /// Lets time pass, a day at a time. Timers that were due in between fire once.
    pub async fn pass_days(&self, days: u32) {
        for _ in 0..days {
            tokio::time::advance(Duration::from_hours(24).saturating_sub(SETTLED)).await;
            self.settle().await;
        }
    }

    pub fn now(&self) -> Timestamp {
        self.clock.now()
    }

    pub async fn secrets(&self, namespace: &str) -> BTreeMap<String, Secret> {
        let api: Api<Secret> = Api::namespaced(self.client.clone(), namespace);
        let list = api.list(&ListParams::default()).await.unwrap();
        list.items
            .into_iter()
            .map(|secret| (secret.metadata.name.clone().unwrap(), secret))
            .collect()
    }

    pub async fn config_maps(&self, namespace: &str) -> BTreeMap<String, ConfigMap> {
        let api: Api<ConfigMap> = Api::namespaced(self.client.clone(), namespace);
        let labels = format!("{}={}", ours::MANAGED_BY, ours::MANAGED_BY_US);
        let list = api.list(&ListParams::default().labels(&labels)).await.unwrap();
        list.items
            .into_iter()
            .map(|map| (map.metadata.name.clone().unwrap(), map))
            .collect()
    }

    pub async fn delete_secret(&self, namespace: &str, name: &str) {
        let api: Api<Secret> = Api::namespaced(self.client.clone(), namespace);
        drop(api.delete(name, &DeleteParams::default()).await.unwrap());
    }

    pub async fn patch_secret(&self, namespace: &str, name: &str, change: Value) {
        let api: Api<Secret> = Api::namespaced(self.client.clone(), namespace);
        api.patch(name, &PatchParams::default(), &Patch::Merge(change))
            .await
            .unwrap();
    }

    pub async fn create<K>(&self, namespace: Option<&str>, manifest: Value)
    where
        K: kube::Resource<DynamicType = ()> + DeserializeOwned + Serialize + Clone + std::fmt::Debug,
    {
        let path = K::url_path(&(), namespace);
        let request = kube::core::Request::new(path).create(&PostParams::default(), manifest.to_string().into_bytes());
        let request = request.unwrap();
        let created: Value = self.client.request(request).await.unwrap();
        assert!(created["metadata"]["uid"].is_string());
    }

    /// How many lines the log has.
    pub fn position(&self) -> usize {
        self.log.lock().unwrap().len()
    }

    /// What the operator wrote since a position in the log, as `verb resource/name`.
    pub fn writes_since(&self, position: usize) -> Vec<String> {
        let log = self.log.lock().unwrap();
        let is_operator = |line: &&Value| {
            let user = line["user"]["username"].as_str().unwrap_or_default();
            user.ends_with(roles::PKI_OPERATOR)
        };
        let word = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let describe = |line: &Value| {
            let object = &line["objectRef"];
            let code = line["responseStatus"]["code"].as_u64().unwrap_or_default();
            format!(
                "{} {}/{} {code}",
                word(&line["verb"]),
                word(&object["resource"]),
                word(&object["name"])
            )
        };
        log[position..].iter().filter(is_operator).map(describe).collect()
    }

    /// Everybody who wrote to Secrets and ConfigMaps since a position in the log.
    pub fn writers_since(&self, position: usize) -> Vec<String> {
        let log = self.log.lock().unwrap();
        let users = log[position..].iter().filter(|line| {
            let resource = line["objectRef"]["resource"].as_str();
            let name = line["objectRef"]["name"].as_str();
            matches!(resource, Some("secrets" | "configmaps")) && name != Some("kube-root-ca.crt")
        });
        let mut users: Vec<String> = users
            .map(|line| line["user"]["username"].as_str().unwrap().to_owned())
            .collect();
        users.sort();
        users.dedup();
        users
    }
}
