//! What must be on a management cluster before the operators run: our kinds, priorities for the pods of control planes,
//! the rights of the manager, and which versions it hosts. Written only where it differs, so that a restart writes nothing.

use std::time::Duration;

use hyperplane_api::constants::{labels, ours};
use hyperplane_component_driver::access::rule;
use hyperplane_planner::catalogue;
use hyperplane_runtime::{Failure, Fence, Manifest, ObjectKey, Remote, field_manager};
use k8s_openapi::{
    api::{
        core::v1::{ConfigMap, Namespace, ServiceAccount},
        rbac::v1::{ClusterRole, ClusterRoleBinding, PolicyRule},
        scheduling::v1::PriorityClass,
    },
    apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition,
};
use kube::Client;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::{
    definitions::{key, to_write},
    operators::MachineManager,
};

/// The namespace of the manager.
pub const NAMESPACE: &str = "hyperplane";
/// The service account of the manager.
pub const ACCOUNT: &str = "operator";

/// The ConfigMap with the versions that can be hosted.
const SUPPORTED_VERSIONS: &str = "supported-versions";

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

/// Sets up a management cluster through a client that may do everything, for machines that are ours or others'.
pub async fn set_up(client: &Client, machines: MachineManager) -> Result<(), Failure> {
    let remote = Remote::new(client, field_manager(ours::MANAGED_BY_US, "setup"), &Fence::open());
    let definitions = to_write(&remote, machines).await?;
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
        listed(client, definition).await?;
    }
    Ok(())
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
    in_time(look, &key).await
}

/// A server lists a kind a moment after it serves it, and whoever starts looks at that list once.
async fn listed(client: &Client, definition: &Value) -> Result<(), Failure> {
    let spec = &definition["spec"];
    let versions = spec["versions"].as_array().into_iter().flatten();
    let versions = versions.filter(|version| version["served"] == true);
    let word = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    for version in versions {
        let group = format!("{}/{}", word(&spec["group"]), word(&version["name"]));
        let look = async {
            loop {
                let is_listed = match client.list_api_group_resources(&group).await {
                    Ok(list) => list
                        .resources
                        .iter()
                        .any(|resource| spec["names"]["plural"] == resource.name.as_str()),
                    Err(kube::Error::Api(status)) if status.is_not_found() => false,
                    Err(error) => return Err(error.into()),
                };
                if is_listed {
                    return Ok(());
                }
                tokio::time::sleep(PAUSE).await;
            }
        };
        in_time(look, &key(definition)).await?;
    }
    Ok(())
}

async fn in_time(look: impl Future<Output = Result<(), Failure>>, key: &ObjectKey) -> Result<(), Failure> {
    let late = || Failure::wait(format!("CustomResourceDefinition {key} to be served"));
    tokio::time::timeout(PATIENCE, look)
        .await
        .unwrap_or_else(|_| Err(late()))
}

/// What the manager may do: what its operators do, and finding out where the cluster runs.
fn rules() -> Vec<PolicyRule> {
    let mut rules = hyperplane_hosted_cluster::manager_rules();
    rules.extend(hyperplane_node_pool::manager_rules());
    rules.extend(hyperplane_machines::manager_rules());
    rules.push(rule("config.openshift.io", &["infrastructures"], &["get"]));
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
    manifests.push(Manifest::of(&supported_versions())?);
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

/// Which versions of Kubernetes can be hosted, newest first, for programs that ask before they create a cluster.
fn supported_versions() -> ConfigMap {
    let mut versions: Vec<(u64, u64)> = catalogue::releases()
        .iter()
        .map(|release| (release.version.major(), release.version.minor()))
        .collect();
    versions.sort_unstable_by(|one, other| other.cmp(one));
    versions.dedup();
    let versions: Vec<String> = versions
        .iter()
        .map(|(major, minor)| format!("{major}.{minor}"))
        .collect();
    object(&json!({
        "metadata": {"name": SUPPORTED_VERSIONS, "namespace": NAMESPACE, "labels": {
            labels::SUPPORTED_VERSIONS.as_str(): "true", ours::MANAGED_BY.as_str(): ours::MANAGED_BY_US}},
        "data": {
            "server-version": env!("CARGO_PKG_VERSION"),
            "supported-versions": json!({"versions": versions}).to_string(),
        },
    }))
}

fn object<K: DeserializeOwned>(value: &Value) -> K {
    serde_json::from_value(value.clone()).expect("what we declare fits its type, and a test sets it up")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_versions_that_can_be_hosted_are_told_newest_first() {
        let data = supported_versions().data.unwrap();
        let told: Value = serde_json::from_str(&data["supported-versions"]).unwrap();
        let told: Vec<&str> = told["versions"]
            .as_array()
            .unwrap()
            .iter()
            .filter_map(Value::as_str)
            .collect();
        assert_eq!(told[..2], ["1.36", "1.35"]);
        for release in catalogue::releases() {
            assert!(
                told.contains(&release.version.minor_text().as_str()),
                "{}",
                release.version.as_str()
            );
        }
    }
}
