//! Takes away what was installed on a management cluster, and nothing that somebody else wrote or still needs. Objects of
//! users are never deleted: while there are hosted clusters that are looked after nothing is taken away, and a kind stays
//! while it has objects.

use std::{collections::BTreeSet, time::Duration};

use hyperplane_api::{
    constants::{annotations, ours},
    hypershift::hosted_cluster::HostedCluster,
};
use hyperplane_install::{NAMESPACE, Options, Program, definitions, manifests, operator_selector};
use hyperplane_runtime::{Api, Failure, field_manager};
use k8s_openapi::{
    api::{apps::v1::Deployment, core::v1::Namespace, rbac::v1::ClusterRoleBinding},
    apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition,
};
use kube::{
    Client, ResourceExt,
    api::{DeleteParams, DynamicObject, ListParams},
    core::{ApiResource, GroupVersionKind},
};
use serde_json::{Value, json};

use crate::{
    definitions::{is_ours, key},
    installed::{api, kind, name, namespace, title},
    setup::{Outcome, Tell, remote},
};

/// The label of everything that is installed.
const PART_OF: &str = "app.kubernetes.io/part-of";
/// The label of what belongs to one program.
const COMPONENT: &str = "app.kubernetes.io/component";

/// How often is looked whether something is gone.
const GLANCE: Duration = Duration::from_millis(500);

/// Takes away what these options installed; with its kinds, if that is asked for. Tells of each object, and gives the
/// titles of those that are not gone after the patience given.
pub async fn remove(
    client: &Client,
    options: &Options,
    with_kinds: bool,
    patience: Duration,
    tell: Tell<'_>,
) -> Result<Vec<String>, Failure> {
    let scope = served(client, options).await?;
    let hosted = hosted(client, scope.as_deref()).await?;
    if !hosted.is_empty() {
        let hosted = hosted.join(", ");
        return Err(Failure::wait(format!(
            "{hosted} to be deleted: without operators nobody would look after it, and nothing was taken away"
        )));
    }
    let is_shared = has_others(client, options).await?;
    let mut going = Vec::new();
    // What came last goes first: the operators before their rights, and the namespace at the end.
    for object in manifests(options).into_iter().chain(leases(options)).rev() {
        let is_common = is_shared && is_common(&object);
        if matches!(kind(&object), "CustomResourceDefinition" | "Namespace") {
            continue;
        }
        going.extend(delete(client, object, is_common, tell).await?);
    }
    if with_kinds {
        going.extend(delete_kinds(client, options, is_shared, tell).await?);
    }
    going.extend(delete_namespace(client, options, tell).await?);
    left(client, going, patience).await
}

/// The scope whose clusters the operators look after; none where they look after all. Operators that were installed for
/// another one than is said here count as those of all clusters, lest clusters lose them by a slip.
async fn served(client: &Client, options: &Options) -> Result<Option<String>, Failure> {
    let Some(scope) = &options.scope else {
        return Ok(None);
    };
    let api: Api<Deployment> = Api::namespaced(client.clone(), &options.namespace);
    let live = api.get_opt(Program::Operator.account()).await?;
    let is_said = live.is_none_or(|live| arguments(&live).any(|word| *word == format!("--scope={scope}")));
    Ok(is_said.then(|| scope.clone()))
}

/// What is on the command lines of a Deployment.
fn arguments(live: &Deployment) -> impl Iterator<Item = &String> {
    let pod = live.spec.iter().filter_map(|spec| spec.template.spec.as_ref());
    let containers = pod.flat_map(|pod| &pod.containers);
    containers.flat_map(|container| container.args.iter().flatten())
}

/// The hosted clusters of a scope or all of them, by namespace and name. Where the kind is gone there are none.
async fn hosted(client: &Client, scope: Option<&str>) -> Result<Vec<String>, Failure> {
    let api: Api<HostedCluster> = Api::all(client.clone());
    match api.list_metadata(&ListParams::default()).await {
        Ok(list) => {
            let title = |one: &kube::core::PartialObjectMeta<HostedCluster>| {
                format!(
                    "HostedCluster {}/{}",
                    one.namespace().unwrap_or_default(),
                    one.name_any()
                )
            };
            // As operators themselves choose.
            let counts = |one: &&kube::core::PartialObjectMeta<HostedCluster>| {
                scope.is_none_or(|scope| annotations::SCOPE.of(*one) == Some(scope))
            };
            Ok(list.items.iter().filter(counts).map(title).collect())
        }
        Err(error) if is_absent(&error) => Ok(Vec::new()),
        Err(error) => Err(error.into()),
    }
}

/// Whether there are installations in other namespaces, by the rights of their operators.
async fn has_others(client: &Client, options: &Options) -> Result<bool, Failure> {
    let api: Api<ClusterRoleBinding> = Api::all(client.clone());
    let found = api.list(&ListParams::default().labels(&operator_selector())).await?;
    let is_other = |binding: &ClusterRoleBinding| {
        let mut subjects = binding.subjects.iter().flatten();
        subjects.any(|subject| subject.namespace.as_ref() != Some(&options.namespace))
    };
    Ok(found.items.iter().any(is_other))
}

/// Whether an object is the same for all installations.
fn is_common(object: &Value) -> bool {
    namespace(object).is_none() && object["metadata"]["labels"].get(COMPONENT).is_none()
}

/// The leases, which the programs themselves have made.
fn leases(options: &Options) -> Vec<Value> {
    let lease = |program: Program| {
        let name = program.lease(options.scope.as_deref());
        json!({
            "apiVersion": "coordination.k8s.io/v1", "kind": "Lease",
            "metadata": {"name": name, "namespace": options.namespace},
        })
    };
    Program::of(options).into_iter().map(lease).collect()
}

/// Deletes an object that is there and ours. Gives it back if it goes.
async fn delete(client: &Client, object: Value, is_shared: bool, tell: Tell<'_>) -> Result<Option<Value>, Failure> {
    let api = api(client, &object)?;
    let live = match api.get_metadata_opt(name(&object)).await {
        Ok(Some(live)) => live,
        Ok(None) => return Ok(None),
        // A kind that is not served has no objects.
        Err(error) if is_absent(&error) => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    let is_ours = live.labels().get(PART_OF).is_some_and(|value| value == NAMESPACE) || kind(&object) == "Lease";
    let outcome = match (is_ours, is_shared) {
        (false, _) => Outcome::Foreign,
        (true, true) => Outcome::Shared,
        (true, false) => Outcome::Deleted,
    };
    tell(&title(&object), outcome);
    if outcome != Outcome::Deleted {
        return Ok(None);
    }
    gone(api.delete(name(&object), &DeleteParams::background()).await)?;
    Ok(Some(object))
}

/// Deletes the definitions that are ours and of which there are no objects.
async fn delete_kinds(
    client: &Client,
    options: &Options,
    is_shared: bool,
    tell: Tell<'_>,
) -> Result<Vec<Value>, Failure> {
    let remote = remote(client);
    let api: Api<CustomResourceDefinition> = Api::all(client.clone());
    let mut going = Vec::new();
    for definition in definitions(options) {
        let Some(live) = remote.get::<CustomResourceDefinition>(&key(&definition)).await? else {
            continue;
        };
        let outcome = if !is_ours(&live) {
            Outcome::Foreign
        } else if is_shared {
            Outcome::Shared
        } else if has_objects(client, &definition).await? {
            Outcome::InUse
        } else {
            Outcome::Deleted
        };
        tell(&title(&definition), outcome);
        if outcome == Outcome::Deleted {
            gone(api.delete(name(&definition), &DeleteParams::background()).await)?;
            going.push(definition);
        }
    }
    Ok(going)
}

async fn has_objects(client: &Client, definition: &Value) -> Result<bool, Failure> {
    let spec = &definition["spec"];
    let word = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let (group, version) = (word(&spec["group"]), word(&spec["versions"][0]["name"]));
    let kind = GroupVersionKind::gvk(&group, &version, &word(&spec["names"]["kind"]));
    let resource = ApiResource::from_gvk_with_plural(&kind, &word(&spec["names"]["plural"]));
    let api: kube::Api<DynamicObject> = kube::Api::all_with(client.clone(), &resource);
    match api.list_metadata(&ListParams::default().limit(1)).await {
        Ok(list) => Ok(!list.items.is_empty()),
        Err(error) if is_absent(&error) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// Deletes the namespace, unless somebody else has written to it: then it was there before.
async fn delete_namespace(client: &Client, options: &Options, tell: Tell<'_>) -> Result<Option<Value>, Failure> {
    let api: Api<Namespace> = Api::all(client.clone());
    let Some(live) = api.get_opt(&options.namespace).await? else {
        return Ok(None);
    };
    let object = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": options.namespace}});
    let is_ours = is_ours_alone(&live);
    tell(
        &title(&object),
        if is_ours { Outcome::Deleted } else { Outcome::Foreign },
    );
    if !is_ours {
        return Ok(None);
    }
    gone(api.delete(&options.namespace, &DeleteParams::background()).await)?;
    Ok(Some(object))
}

/// Whether nobody else has written anything but a status.
fn is_ours_alone(live: &Namespace) -> bool {
    let own = field_manager(ours::MANAGED_BY_US, "setup");
    let mut writers = live.managed_fields().iter().filter(|entry| entry.subresource.is_none());
    let is_labelled = live.labels().get(PART_OF).is_some_and(|value| value == NAMESPACE);
    is_labelled && writers.all(|entry| entry.manager.as_ref() == Some(&own))
}

/// Whether something is not there, or its kind is not: then a server has no more to say than that.
fn is_absent(error: &kube::Error) -> bool {
    matches!(error, kube::Error::Api(status) if status.code == 404)
}

/// What is gone already need not go.
fn gone<T>(answer: kube::Result<T>) -> Result<(), Failure> {
    match answer {
        Ok(_) => Ok(()),
        Err(error) if is_absent(&error) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// Waits until everything is gone; what is not is given by its title.
async fn left(client: &Client, going: Vec<Value>, patience: Duration) -> Result<Vec<String>, Failure> {
    let mut waiting = going;
    let looking = async {
        loop {
            let mut still = Vec::new();
            for object in waiting.drain(..) {
                match api(client, &object)?.get_metadata_opt(name(&object)).await {
                    Ok(None) => {}
                    Err(error) if is_absent(&error) => {}
                    Ok(Some(_)) => still.push(object),
                    Err(error) => return Err(Failure::from(error)),
                }
            }
            waiting = still;
            if waiting.is_empty() {
                return Ok(());
            }
            tokio::time::sleep(GLANCE).await;
        }
    };
    match tokio::time::timeout(patience, looking).await {
        Ok(ended) => ended?,
        Err(_late) => {}
    }
    let titles: BTreeSet<String> = waiting.iter().map(title).collect();
    Ok(titles.into_iter().collect())
}

#[cfg(test)]
mod tests;
