//! A cluster in memory, on virtual time: its server, the definitions on it, what the manager may do there, and the log of
//! what was asked of it. The tests of several operators stand on it.
#![allow(dead_code, reason = "each test target takes the part that it needs")]

use std::{
    fmt::Debug,
    sync::{Arc, Mutex},
    time::Duration,
};

use hyperplane_access::User;
use hyperplane_api::{crd, schema::FeatureSet};
use hyperplane_apiserver::{Entropy, Server, Settings, Shared};
use hyperplane_seams::Clock;
use hyperplane_store::Memory;
use k8s_openapi::{
    api::{
        core::v1::Namespace,
        rbac::v1::{ClusterRole, ClusterRoleBinding, PolicyRule},
    },
    apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition,
};
use kube::{
    Api, Client, Resource,
    api::{DeleteParams, ListParams, Patch, PatchParams, PostParams},
};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Value, json};
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

/// The account of the manager.
const MANAGER: (&str, &str) = ("hyperplane", "operator");

/// A kind that tests read and write.
pub trait Known: Resource<DynamicType = ()> + DeserializeOwned + Serialize + Clone + Debug {}
impl<K: Resource<DynamicType = ()> + DeserializeOwned + Serialize + Clone + Debug> Known for K {}

/// A cluster.
pub struct Ground {
    /// Somebody who may do everything.
    pub admin: Client,
    server: Server,
    log: Arc<Mutex<Vec<Value>>>,
}

impl Ground {
    /// A cluster with nothing on it.
    pub async fn new(clock: &Clock) -> Self {
        let log = Arc::new(Mutex::new(Vec::new()));
        let lines = Arc::clone(&log);
        let mut settings = Settings::new(clock.clone(), Entropy::seeded(1));
        settings.audit = Some(Arc::new(move |line: &str| {
            lines.lock().unwrap().push(serde_json::from_str(line).unwrap());
        }));
        let (server, writer, controllers) = Server::open(&Shared::new(), settings, Memory).unwrap();
        tokio::spawn(writer.run());
        tokio::spawn(controllers.run(CancellationToken::new()));
        server.bootstrap().await.unwrap();
        Self {
            admin: Client::new(server.in_process(User::admin()), "default"),
            server,
            log,
        }
    }

    /// Defines the kinds that are needed, ours and those of providers.
    pub async fn define(&self, is_needed: impl Fn(&Value) -> bool) {
        let definitions = crd::definitions(FeatureSet::Default).into_iter();
        let definitions = definitions.chain(crd::provider_definitions(FeatureSet::Default));
        for definition in definitions.filter(is_needed) {
            create::<CustomResourceDefinition>(&self.admin, None, definition).await;
        }
        sleep(Duration::from_secs(45)).await;
    }

    /// Makes namespaces, and waits until they can be used.
    pub async fn namespaces(&self, names: &[&str]) {
        for name in names {
            create::<Namespace>(&self.admin, None, json!({"metadata": {"name": name}})).await;
        }
        sleep(Duration::from_secs(5)).await;
    }

    /// The manager, which may do this and tell events, and nothing else.
    pub async fn manager(&self, mut rules: Vec<PolicyRule>) -> Client {
        self.namespaces(&[MANAGER.0]).await;
        rules.push(rule(&["events"], &["create", "patch"]));
        let metadata = json!({"name": "hyperplane-manager"});
        create::<ClusterRole>(&self.admin, None, json!({"metadata": metadata, "rules": rules})).await;
        let binding = json!({
            "metadata": metadata,
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "hyperplane-manager"},
            "subjects": [{"kind": "ServiceAccount", "name": MANAGER.1, "namespace": MANAGER.0}],
        });
        create::<ClusterRoleBinding>(&self.admin, None, binding).await;
        let user = User::service_account(MANAGER.0, MANAGER.1, "1234");
        Client::new(self.server.in_process(user), "default")
    }

    /// How many lines the log has.
    pub fn position(&self) -> usize {
        self.log.lock().unwrap().len()
    }

    /// What the manager wrote since a position in the log, as `verb resource/subresource/name code`.
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

    /// Requests of the manager that were refused for want of a right.
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

/// A right on kinds of the core group.
pub fn rule(resources: &[&str], verbs: &[&str]) -> PolicyRule {
    hyperplane_objects::read(json!({"apiGroups": [""], "resources": resources, "verbs": verbs})).unwrap()
}

pub async fn create<K: Known>(client: &Client, namespace: Option<&str>, mut manifest: Value) {
    manifest["apiVersion"] = json!(K::api_version(&()));
    manifest["kind"] = json!(K::kind(&()));
    let path = K::url_path(&(), namespace);
    let request = kube::core::Request::new(path).create(&PostParams::default(), manifest.to_string().into_bytes());
    let created: Value = client.request(request.unwrap()).await.unwrap();
    assert!(created["metadata"]["uid"].is_string());
}

pub async fn all<K: Known>(api: &Api<K>) -> Vec<K> {
    api.list(&ListParams::default()).await.unwrap().items
}

pub async fn merge_patch<K: Known>(api: &Api<K>, name: &str, change: Value) {
    api.patch(name, &PatchParams::default(), &Patch::Merge(change))
        .await
        .unwrap();
}

/// What somebody reports of an object.
pub async fn patch_status<K: Known>(api: &Api<K>, name: &str, status: Value) {
    let status = Patch::Merge(json!({"status": status}));
    let said = api.patch_status(name, &PatchParams::default(), &status).await;
    drop(said.unwrap());
}

pub async fn delete<K: Known>(api: &Api<K>, name: &str) {
    let deleted = api.delete(name, &DeleteParams::default()).await;
    drop(deleted.unwrap());
}
