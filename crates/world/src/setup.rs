//! Writes what a management cluster must have before the operators run, or everything that is installed on it. Written only
//! where it differs, so that a restart writes nothing; what it is, `hyperplane-install` says.

use std::{collections::BTreeMap, time::Duration};

use futures::{FutureExt as _, future::BoxFuture};
use hyperplane_api::constants::ours;
use hyperplane_install::{MachineManager, Options, Program, furniture, manifests};
use hyperplane_runtime::{Failure, Fence, ObjectKey, Remote, field_manager};
use k8s_openapi::{
    api::apps::v1::Deployment, apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition,
};
use kube::Client;
use serde_json::Value;
use thiserror::Error;

use crate::{
    definitions::{judged, key},
    discovery::MONITORING,
    installed::{api, manifest, name, title},
};

/// How long the server is given to serve a new kind, and how often it is asked.
const PATIENCE: Duration = Duration::from_mins(1);
const PAUSE: Duration = Duration::from_millis(50);
/// How often Deployments are looked at: nodes fetch images in seconds or minutes.
const GLANCE: Duration = Duration::from_secs(1);

/// What became of an object that was to be there, or that was to go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It was written.
    Written,
    /// It was there as it is to be.
    Unchanged,
    /// Somebody else has it, and it stays as it is.
    Foreign,
    /// It is used by another installation, and stays.
    Shared,
    /// There are objects of it, and it stays.
    InUse,
    /// It goes.
    Deleted,
}

/// Who is told of each object, by its kind and name.
pub type Tell<'a> = &'a mut (dyn FnMut(&str, Outcome) + Send);

/// Why nothing can be installed.
#[derive(Debug, Error)]
enum Refusal {
    /// A kind is missing that is not ours to define.
    #[error(
        "the cluster does not serve ServiceMonitors ({MONITORING}): install Prometheus' operator first, or leave out \
         --monitoring"
    )]
    NoMonitors,
}

/// Sets up a management cluster through a client that may do everything, for machines that are ours or others'.
pub fn set_up(client: &Client, machines: MachineManager) -> BoxFuture<'_, Result<(), Failure>> {
    async move {
        let options = Options {
            machines,
            ..Options::default()
        };
        furnish(client, &options).await
    }
    .boxed()
}

/// Writes what operators need before they run, and not the operators.
pub async fn furnish(client: &Client, options: &Options) -> Result<(), Failure> {
    write(client, options, &furniture(options), &mut |_, _| {}).await
}

/// Writes everything that is installed.
pub async fn install(client: &Client, options: &Options, tell: Tell<'_>) -> Result<(), Failure> {
    if options.monitoring {
        let groups = client.list_api_groups().await?.groups;
        if !groups.iter().any(|group| group.name == MONITORING) {
            return Err(Failure::fatal(Refusal::NoMonitors));
        }
    }
    write(client, options, &manifests(options), tell).await
}

/// Writes objects in their order, without the definitions of others, and waits until all kinds are served.
async fn write(client: &Client, options: &Options, all: &[Value], tell: Tell<'_>) -> Result<(), Failure> {
    let remote = remote(client);
    let definitions = judged(&remote, options).await?;
    for object in all {
        let outcome = if definitions.foreign.contains(object) {
            Outcome::Foreign
        } else {
            apply(client, &remote, object).await?
        };
        tell(&title(object), outcome);
    }
    for definition in &definitions.ours {
        served(&remote, definition).await?;
        listed(client, definition).await?;
    }
    Ok(())
}

/// Writes one object. What is sent may be what is there already, said otherwise, and then the server changes nothing.
async fn apply(client: &Client, remote: &Remote, object: &Value) -> Result<Outcome, Failure> {
    let place = api(client, object)?;
    let revision = async || {
        let live = place.get_metadata_opt(name(object)).await;
        // A kind that is not served yet has no objects.
        live.map(|live| live.and_then(|live| live.metadata.resource_version))
            .ok()
            .flatten()
    };
    let before = revision().await;
    let is_sent = remote.apply(&manifest(object)?).await?;
    let is_changed = is_sent && (before.is_none() || revision().await != before);
    Ok(if is_changed {
        Outcome::Written
    } else {
        Outcome::Unchanged
    })
}

/// The cluster, written to as one manager of fields, whoever sets it up.
pub(crate) fn remote(client: &Client) -> Remote {
    Remote::new(client, field_manager(ours::MANAGED_BY_US, "setup"), &Fence::open())
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

/// Waits until every program that is installed has all its pods, for as long as is given. Tells how many are there when
/// that changes.
pub async fn until_available(
    client: &Client,
    options: &Options,
    patience: Duration,
    tell: &mut (dyn FnMut(&str) + Send),
) -> Result<(), Failure> {
    let remote = remote(client);
    let mut told: BTreeMap<&str, String> = BTreeMap::new();
    let looking = async {
        for program in Program::of(options) {
            let name = program.account();
            let key = ObjectKey::namespaced(&options.namespace, name);
            loop {
                let (is_there, words) = judge(remote.get::<Deployment>(&key).await?.as_ref());
                if told.insert(name, words.clone()).as_ref() != Some(&words) {
                    tell(&format!("Deployment {key}: {words}"));
                }
                if is_there {
                    break;
                }
                tokio::time::sleep(GLANCE).await;
            }
        }
        Ok(())
    };
    let ended = tokio::time::timeout(patience, looking).await;
    ended.unwrap_or_else(|_| {
        let namespace = &options.namespace;
        let why = format!(
            "the operators to be available; kubectl describe pods --namespace {namespace} tells why they are not"
        );
        Err(Failure::wait(why))
    })
}

/// Whether a Deployment is as it was last asked for, and how far it is.
fn judge(deployment: Option<&Deployment>) -> (bool, String) {
    let wanted = deployment.and_then(|found| found.spec.as_ref()?.replicas).unwrap_or(1);
    let status = deployment.and_then(|found| found.status.clone()).unwrap_or_default();
    let generation = deployment.and_then(|found| found.metadata.generation);
    let is_current = status.observed_generation >= generation;
    let (updated, available) = (
        status.updated_replicas.unwrap_or(0),
        status.available_replicas.unwrap_or(0),
    );
    let is_there = deployment.is_some() && is_current && updated == wanted && available >= wanted;
    (is_there, format!("{} of {wanted} available", available.min(updated)))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_deployment_is_there_when_all_its_new_pods_are() {
        let deployment = |status: &Value| -> Deployment {
            hyperplane_objects::read(json!({
                "metadata": {"name": "operator", "generation": 2},
                "spec": {"replicas": 2, "selector": {}, "template": {}},
                "status": status,
            }))
            .unwrap()
        };
        let cases = [
            (json!({}), false),
            (
                json!({"observedGeneration": 1, "updatedReplicas": 2, "availableReplicas": 2}),
                false,
            ),
            (
                json!({"observedGeneration": 2, "updatedReplicas": 1, "availableReplicas": 2}),
                false,
            ),
            (
                json!({"observedGeneration": 2, "updatedReplicas": 2, "availableReplicas": 1}),
                false,
            ),
            (
                json!({"observedGeneration": 2, "updatedReplicas": 2, "availableReplicas": 2}),
                true,
            ),
        ];
        for (status, expected) in cases {
            assert_eq!(judge(Some(&deployment(&status))).0, expected, "{status}");
        }
        assert!(!judge(None).0);
    }
}
