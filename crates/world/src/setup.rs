//! What must be on a management cluster before the operators run: our kinds, priorities for the pods of control planes,
//! and the rights of the manager. Written only where it differs, so that a restart writes nothing.

use std::time::Duration;

use hyperplane_api::{crd, schema::FeatureSet};
use hyperplane_component_driver::access::rule;
use hyperplane_runtime::{Failure, Fence, Manifest, ObjectKey, Remote};
use k8s_openapi::{
    api::{
        core::v1::{Namespace, ServiceAccount},
        rbac::v1::{ClusterRole, ClusterRoleBinding, PolicyRule},
        scheduling::v1::PriorityClass,
    },
    apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition,
};
use kube::{Client, ResourceExt as _};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

/// The namespace of the manager.
pub const NAMESPACE: &str = "hyperplane";
/// The service account of the manager.
pub const ACCOUNT: &str = "operator";

/// Priorities of pods of control planes: etcd before what serves requests, and that before the rest.
const PRIORITIES: &[(&str, i32, &str)] = &[
    ("hypershift-etcd", 100_002_000, "etcd of hosted control planes"),
    (
        "hypershift-api-critical",
        100_001_000,
        "what requests to hosted API servers pass through",
    ),
    (
        "hypershift-control-plane",
        100_000_000,
        "everything else of hosted control planes",
    ),
];

/// How long the server is given to serve a new kind, and how often it is asked.
const PATIENCE: Duration = Duration::from_mins(1);
const PAUSE: Duration = Duration::from_millis(50);

/// Sets up a management cluster through a client that may do everything.
pub async fn set_up(client: &Client) -> Result<(), Failure> {
    let remote = Remote::new(client, "hyperplane/setup", &Fence::open());
    let mut definitions = crd::definitions(FeatureSet::Default);
    for definition in crd::provider_definitions(FeatureSet::Default) {
        if !is_foreign(&remote, &definition).await? {
            definitions.push(definition);
        }
    }
    for definition in &definitions {
        remote
            .apply(&Manifest::of(&object::<CustomResourceDefinition>(definition))?)
            .await?;
    }
    for manifest in furniture(rules())? {
        remote.apply(&manifest).await?;
    }
    for definition in &definitions {
        served(&remote, definition).await?;
    }
    Ok(())
}

/// Whether a provider has brought its own definition: that one stays.
async fn is_foreign(remote: &Remote, definition: &Value) -> Result<bool, Failure> {
    let live = remote.get::<CustomResourceDefinition>(&key(definition)).await?;
    let Some(live) = live else {
        return Ok(false);
    };
    let ours = |entry: &str| entry.starts_with("hyperplane/");
    let managers = live
        .managed_fields()
        .iter()
        .filter_map(|entry| entry.manager.as_deref());
    Ok(!managers.into_iter().any(ours))
}

async fn served(remote: &Remote, definition: &Value) -> Result<(), Failure> {
    let key = key(definition);
    let look = async {
        loop {
            let live = remote.get::<CustomResourceDefinition>(&key).await?;
            let status = live.and_then(|live| live.status);
            let conditions = status.iter().flat_map(|status| status.conditions.iter().flatten());
            let mut established = conditions.filter(|condition| condition.type_ == "Established");
            if established.any(|condition| condition.status == "True") {
                return Ok(());
            }
            tokio::time::sleep(PAUSE).await;
        }
    };
    let late = || Failure::wait(format!("CustomResourceDefinition {key} to be served"));
    tokio::time::timeout(PATIENCE, look)
        .await
        .unwrap_or_else(|_| Err(late()))
}

fn key(definition: &Value) -> ObjectKey {
    ObjectKey::cluster(definition["metadata"]["name"].as_str().unwrap_or_default())
}

/// What the manager may do: what its operators do, and finding out where the API server of the cluster is.
fn rules() -> Vec<PolicyRule> {
    let mut rules = hyperplane_hosted_cluster::manager_rules();
    rules.push(rule("discovery.k8s.io", &["endpointslices"], &["list"]));
    rules
}

/// Everything that is not a kind.
fn furniture(rules: Vec<PolicyRule>) -> Result<Vec<Manifest>, Failure> {
    let mut manifests = vec![Manifest::of(&object::<Namespace>(
        &json!({"metadata": {"name": NAMESPACE}}),
    ))?];
    for (name, value, description) in PRIORITIES {
        manifests.push(Manifest::of(&object::<PriorityClass>(&json!({
            "metadata": {"name": name}, "value": value, "globalDefault": false, "description": description,
        })))?);
    }
    let account = json!({"metadata": {"name": ACCOUNT, "namespace": NAMESPACE}});
    manifests.push(Manifest::of(&object::<ServiceAccount>(&account))?);
    let mut role: ClusterRole = object(&json!({"metadata": {"name": "hyperplane-operator"}}));
    role.rules = Some(rules);
    manifests.push(Manifest::of(&role)?);
    manifests.push(Manifest::of(&object::<ClusterRoleBinding>(&json!({
        "metadata": {"name": "hyperplane-operator"},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "hyperplane-operator"},
        "subjects": [{"kind": "ServiceAccount", "name": ACCOUNT, "namespace": NAMESPACE}],
    })))?);
    Ok(manifests)
}

fn object<K: DeserializeOwned>(value: &Value) -> K {
    serde_json::from_value(value.clone()).expect("what we declare fits its type, and a test sets it up")
}
