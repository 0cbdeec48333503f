//! Everything about the pools of a cluster that can be seen at one moment, as JSON: what judges must not share the types,
//! and with them the mistakes, of what is judged.

use std::{collections::BTreeMap, time::Duration};

use http::Request;
use jiff::Timestamp;
use kube::Client;
use serde_json::Value;
use tokio::time::timeout;

use crate::ground::{Ground, USERS};

/// The namespace of the control plane of cluster `one`.
pub const INSIDE: &str = "clusters-one";
/// On what belongs to a pool: which.
pub const NODE_POOL: &str = "hypershift.openshift.io/nodePool";
/// On an instance: the template that it was made from.
pub const CLONED_FROM: &str = "cluster.x-k8s.io/cloned-from-name";
/// On a Machine: somebody has to do something before its instance ends.
pub const HOOK: &str = "pre-terminate.delete.hook.machine.cluster.x-k8s.io/tests";
/// On a Machine: its set.
pub const SET_NAME: &str = "cluster.x-k8s.io/set-name";

/// Asks for metadata alone.
const METADATA: &str = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1";
/// How long a hosted cluster is given to answer.
const PATIENCE: Duration = Duration::from_secs(5);

/// Objects by name.
pub type Objects = BTreeMap<String, Value>;

/// One moment.
#[derive(Clone, Debug, Default)]
pub struct Snapshot {
    /// How long the world has been there. Wall time may jump; this does not.
    pub at: Duration,
    /// Wall time.
    pub now: Timestamp,
    pub pools: Objects,
    pub deployments: Objects,
    pub sets: Objects,
    pub machines: Objects,
    pub instances: Objects,
    pub health_checks: Objects,
    pub templates: Objects,
    pub secrets: Objects,
    /// What the hosted cluster tells; nothing where it does not answer.
    pub hosted: Option<Hosted>,
    /// The object of the cluster; null where there is none.
    pub cluster: Value,
}

/// What a hosted cluster tells.
#[derive(Clone, Debug, Default)]
pub struct Hosted {
    pub nodes: Objects,
    /// Pods by namespace and name.
    pub pods: Objects,
    /// The version that its API server says it has.
    pub version: String,
}

impl Snapshot {
    /// What belongs to a pool.
    pub fn of<'a>(objects: &'a Objects, pool: &str) -> Vec<(&'a String, &'a Value)> {
        let title = format!("{USERS}/{pool}");
        let of_pool = |object: &Value| annotation(object, NODE_POOL) == title;
        objects.iter().filter(|(_, object)| of_pool(object)).collect()
    }

    /// Whether the cluster goes, or is gone: nothing is asked of what is left then.
    pub fn is_cluster_leaving(&self) -> bool {
        self.cluster.is_null() || is_leaving(&self.cluster)
    }

    /// Whether nothing is left of any pool.
    pub fn is_empty(&self) -> bool {
        let secrets = self.secrets.values();
        let mut secrets = secrets.filter(|secret| !annotation(secret, NODE_POOL).is_empty());
        let kinds = [
            &self.pools,
            &self.deployments,
            &self.sets,
            &self.machines,
            &self.instances,
            &self.health_checks,
            &self.templates,
        ];
        kinds.iter().all(|objects| objects.is_empty()) && secrets.next().is_none()
    }

    /// The minors that parts of the control plane may have: from the newest one that was begun to the last one that was
    /// reached, and what an API server says of itself.
    pub fn plane(&self) -> Vec<(u64, u64)> {
        let history = self.cluster.pointer("/status/controlPlaneVersion/history");
        let mut versions = Vec::new();
        versions.extend(self.hosted.as_ref().and_then(|hosted| minor(&hosted.version)));
        for entry in history.and_then(Value::as_array).into_iter().flatten() {
            versions.extend(minor(text(entry, "/version")));
            if entry["state"] == "Completed" {
                break;
            }
        }
        versions.sort_unstable();
        versions.dedup();
        versions
    }
}

impl Ground {
    /// Looks at everything. The order matters, because the world goes on while it is looked at: what is to go last is
    /// looked at first.
    pub async fn snapshot(&self, at: Duration, hosted: Option<&Client>) -> Snapshot {
        let client = self.embedded.administrator();
        let hosted = match hosted {
            Some(hosted) => timeout(PATIENCE, look_inside(hosted)).await.ok().flatten(),
            None => None,
        };
        let capi = |plural: &str| format!("/apis/cluster.x-k8s.io/v1beta2/namespaces/{INSIDE}/{plural}");
        let kubevirt =
            |plural: &str| format!("/apis/infrastructure.cluster.x-k8s.io/v1alpha1/namespaces/{INSIDE}/{plural}");
        let users = |plural: &str| format!("/apis/hypershift.openshift.io/v1beta1/namespaces/{USERS}/{plural}");
        let machines = must(&client, &capi("machines")).await;
        let instances = must(&client, &kubevirt("kubevirtmachines")).await;
        let sets = must(&client, &capi("machinesets")).await;
        let deployments = must(&client, &capi("machinedeployments")).await;
        let pools = must(&client, &users("nodepools")).await;
        let mut clusters = must(&client, &users("hostedclusters")).await;
        Snapshot {
            at,
            now: self.embedded.clock.now(),
            hosted,
            machines,
            instances,
            sets,
            deployments,
            pools,
            health_checks: must(&client, &capi("machinehealthchecks")).await,
            templates: must(&client, &kubevirt("kubevirtmachinetemplates")).await,
            secrets: named(
                metadata(&client, &format!("/api/v1/namespaces/{INSIDE}/secrets"))
                    .await
                    .unwrap(),
            ),
            cluster: clusters.remove("one").unwrap_or(Value::Null),
        }
    }
}

async fn look_inside(client: &Client) -> Option<Hosted> {
    let nodes = list(client, "/api/v1/nodes").await.ok()?;
    let pods = list(client, "/api/v1/pods").await.ok()?;
    let request = Request::get("/version").body(Vec::new()).unwrap();
    let version: Value = client.request(request).await.ok()?;
    Some(Hosted {
        version: text(&version, "/gitVersion").to_owned(),
        nodes: named(nodes),
        pods: pods.into_iter().map(|pod| (key(&pod), pod)).collect(),
    })
}

async fn must(client: &Client, path: &str) -> Objects {
    named(list(client, path).await.unwrap())
}

async fn list(client: &Client, path: &str) -> Result<Vec<Value>, kube::Error> {
    let answer = client.request(Request::get(path).body(Vec::new()).unwrap()).await?;
    Ok(items(answer))
}

/// Metadata alone: contents are large, and nobody judges them.
async fn metadata(client: &Client, path: &str) -> Result<Vec<Value>, kube::Error> {
    Ok(items(request_metadata(client, path).await?))
}

/// The revision of a server: as long as it stays, nobody has written anything.
pub async fn revision(client: &Client) -> Option<String> {
    let answer = request_metadata(client, "/api/v1/nodes?limit=1");
    let answer = timeout(PATIENCE, answer).await.ok()?.ok()?;
    Some(text(&answer, "/metadata/resourceVersion").to_owned())
}

async fn request_metadata(client: &Client, path: &str) -> Result<Value, kube::Error> {
    let request = Request::get(path).header("Accept", METADATA);
    client.request(request.body(Vec::new()).unwrap()).await
}

fn items(mut answer: Value) -> Vec<Value> {
    answer["items"].as_array_mut().map(std::mem::take).unwrap_or_default()
}

fn named(objects: Vec<Value>) -> Objects {
    objects
        .into_iter()
        .map(|object| (text(&object, "/metadata/name").to_owned(), object))
        .collect()
}

/// Namespace and name.
pub fn key(object: &Value) -> String {
    format!(
        "{}/{}",
        text(object, "/metadata/namespace"),
        text(object, "/metadata/name")
    )
}

/// The text at a place; empty where there is none.
pub fn text<'a>(object: &'a Value, pointer: &str) -> &'a str {
    object.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
}

/// An annotation; empty where there is none.
pub fn annotation<'a>(object: &'a Value, key: &str) -> &'a str {
    object["metadata"]["annotations"][key].as_str().unwrap_or_default()
}

/// A label; empty where there is none.
pub fn label<'a>(object: &'a Value, key: &str) -> &'a str {
    object["metadata"]["labels"][key].as_str().unwrap_or_default()
}

/// Whether an object is being deleted.
pub fn is_leaving(object: &Value) -> bool {
    !text(object, "/metadata/deletionTimestamp").is_empty()
}

/// Whether a condition has a status.
pub fn has(object: &Value, type_: &str, status: &str) -> bool {
    let conditions = object.pointer("/status/conditions").and_then(Value::as_array);
    let mut conditions = conditions.into_iter().flatten();
    conditions.any(|found| found["type"] == type_ && found["status"] == status)
}

/// Whether a machine can be used and is to stay.
pub fn is_available(machine: &Value) -> bool {
    !is_leaving(machine) && has(machine, "Available", "True")
}

/// Major and minor of a version, with or without a letter in front.
pub fn minor(version: &str) -> Option<(u64, u64)> {
    let mut numbers = version.trim_start_matches('v').split('.').map(str::parse::<u64>);
    Some((numbers.next()?.ok()?, numbers.next()?.ok()?))
}
