//! Reads everything that is needed to help, and takes out what is secret before anything is kept.

use std::{collections::BTreeMap, time::Duration};

use hyperplane_api::hypershift::hosted_cluster::HostedCluster;
use hyperplane_recipes::control_plane_namespace;
use hyperplane_runtime::Reach;
use kube::{Client, ResourceExt as _};
use serde_json::{Value, json};
use tokio::time::timeout;

use super::{
    Dump,
    kinds::{self, Kind},
    redact::Redactor,
    summary,
};
use crate::kubeconfig;

/// How long a hosted cluster may take to answer.
const PATIENCE: Duration = Duration::from_secs(10);
/// The last lines of each log.
const LOG_LINES: usize = 2000;
/// The most of each log.
const LOG_BYTES: usize = 1 << 20;

/// Kinds of which all objects are read, though they live in no namespace.
const CLUSTER_WIDE: &[&str] = &[
    "Node",
    "StorageClass",
    "PersistentVolume",
    "PriorityClass",
    "DistributionRelease",
];
/// Kinds that are read inside of a hosted cluster; none of them holds secrets.
const HOSTED: &[&str] = &[
    "Node",
    "Namespace",
    "Pod",
    "Event",
    "Deployment",
    "DaemonSet",
    "CertificateSigningRequest",
    "PersistentVolumeClaim",
    "ClusterVersion",
    "ClusterOperator",
];

/// Objects as they were read, by the file that they come into.
#[derive(Default)]
struct Found {
    objects: BTreeMap<String, Vec<Value>>,
    logs: BTreeMap<String, String>,
    unread: Vec<String>,
}

/// Collects everything about some clusters.
pub(super) async fn everything(client: &Client, clusters: &[HostedCluster], asks_hosted: bool) -> anyhow::Result<Dump> {
    let mut found = Found::default();
    let kinds = kinds::all(client, &mut found.unread).await?;
    for kind in kinds.iter().filter(|kind| CLUSTER_WIDE.contains(&&*kind.kind)) {
        found.read(client, kind, None, "cluster", |_| true).await;
    }
    for namespace in crate::hosted::namespaces(client).await {
        found.namespace(client, &kinds, &namespace).await;
    }
    for cluster in clusters {
        let (namespace, name) = (cluster.namespace().unwrap_or_default(), cluster.name_any());
        found.own(client, &kinds, cluster).await;
        found
            .namespace(client, &kinds, &control_plane_namespace(&namespace, &name))
            .await;
        if asks_hosted {
            found.hosted(client, &namespace, &name).await;
        }
    }
    Ok(found.redacted(clusters))
}

impl Found {
    /// Objects of a kind, in a file of a directory.
    async fn read(
        &mut self,
        client: &Client,
        kind: &Kind,
        namespace: Option<&str>,
        directory: &str,
        counts: impl Fn(&Value) -> bool,
    ) {
        let path = format!("{directory}/{}", kind.file());
        match kinds::objects(client, kind, namespace).await {
            Ok(objects) => {
                let objects: Vec<Value> = objects.into_iter().filter(counts).collect();
                if !objects.is_empty() {
                    self.objects.insert(path, objects);
                }
            }
            Err(error) => self.unread.push(format!("{path}: {error:#}")),
        }
    }

    /// Everything in a namespace, with the logs of its pods.
    async fn namespace(&mut self, client: &Client, kinds: &[Kind], namespace: &str) {
        let directory = format!("namespaces/{namespace}");
        for kind in kinds.iter().filter(|kind| kind.is_namespaced) {
            self.read(client, kind, Some(namespace), &directory, |_| true).await;
        }
        let pods = self.objects.get(&format!("{directory}/pods.yaml")).cloned();
        for pod in pods.iter().flatten() {
            self.logs(client, &directory, namespace, pod).await;
        }
    }

    /// What belongs to a cluster, of the namespace that it shares with others.
    async fn own(&mut self, client: &Client, kinds: &[Kind], cluster: &HostedCluster) {
        let (namespace, name) = (cluster.namespace().unwrap_or_default(), cluster.name_any());
        let directory = format!("clusters/{namespace}/{name}");
        let spec = serde_json::to_value(&cluster.spec).unwrap_or_default();
        let belongs = |object: &Value| belongs(object, &name, &spec);
        for kind in kinds.iter().filter(|kind| kind.is_namespaced) {
            self.read(client, kind, Some(&namespace), &directory, belongs).await;
        }
    }

    async fn logs(&mut self, client: &Client, directory: &str, namespace: &str, pod: &Value) {
        let name = pod["metadata"]["name"].as_str().unwrap_or_default();
        let spec = &pod["spec"];
        let containers = ["initContainers", "containers"]
            .into_iter()
            .filter_map(|field| spec[field].as_array());
        for container in containers.flatten().filter_map(|container| container["name"].as_str()) {
            let path = format!("{directory}/logs/{name}/{container}.log");
            let uri = format!(
                "/api/v1/namespaces/{namespace}/pods/{name}/log?container={container}&tailLines={LOG_LINES}&limitBytes={LOG_BYTES}"
            );
            let Ok(request) = http::Request::get(uri).body(Vec::new()) else {
                continue;
            };
            match client.request_text(request).await {
                Ok(text) => {
                    self.logs.insert(path, text);
                }
                Err(error) => self.unread.push(format!("{path}: {error}")),
            }
        }
    }

    /// What a hosted cluster says itself, if it can be reached.
    async fn hosted(&mut self, client: &Client, namespace: &str, name: &str) {
        let asked = timeout(PATIENCE, inside(client, namespace, name)).await;
        let (hosted, kinds) = match asked {
            Ok(Ok(found)) => found,
            Ok(Err(error)) => return self.unread.push(format!("hosted cluster {name}: {error:#}")),
            Err(_) => {
                return self
                    .unread
                    .push(format!("hosted cluster {name}: no answer within {PATIENCE:?}"));
            }
        };
        let directory = format!("hosted/{namespace}/{name}");
        for kind in kinds.iter().filter(|kind| HOSTED.contains(&&*kind.kind)) {
            let reading = self.read(&hosted, kind, None, &directory, |_| true);
            if timeout(PATIENCE, reading).await.is_err() {
                let file = kind.file();
                return self
                    .unread
                    .push(format!("{directory}/{file}: no answer within {PATIENCE:?}"));
            }
        }
    }

    /// Texts without anything secret.
    fn redacted(self, clusters: &[HostedCluster]) -> Dump {
        let redactor = Redactor::knowing(self.objects.values().flatten());
        let mut dump = Dump::default();
        for (path, objects) in &self.objects {
            let items: Vec<Value> = objects.iter().map(|object| redactor.object(object)).collect();
            let list = json!({"apiVersion": "v1", "kind": "List", "items": items});
            match hyperplane_objects::yaml_text(&list) {
                Ok(text) => {
                    dump.files.insert(path.clone(), text);
                }
                Err(error) => dump.unread.push(format!("{path}: {error}")),
            }
        }
        for (path, text) in &self.logs {
            dump.files.insert(path.clone(), redactor.text(text));
        }
        dump.unread.extend(self.unread.iter().map(|line| redactor.text(line)));
        let summary = redactor.text(&summary::of(clusters, &self.objects, &dump.unread));
        dump.files.insert(summary::SUMMARY.to_owned(), summary);
        let unread: Vec<String> = dump.unread.iter().map(|line| format!("{line}\n")).collect();
        dump.files.insert(summary::UNREAD.to_owned(), unread.concat());
        dump
    }
}

/// A client of a hosted cluster, and its kinds. The kubeconfig comes from a Secret that others may write: it must not run
/// programs or read files here, and what is wrong with it is told without what it holds.
async fn inside(client: &Client, namespace: &str, name: &str) -> anyhow::Result<(Client, Vec<Kind>)> {
    let text = kubeconfig::admin(client, namespace, name).await?;
    let text = text.ok_or_else(|| anyhow::anyhow!("it has no kubeconfig yet"))?;
    let hosted = Reach::sockets().client(&text).await?;
    let mut unread = Vec::new();
    let kinds = kinds::all(&hosted, &mut unread).await?;
    Ok((hosted, kinds))
}

/// Whether an object belongs to a cluster: it is that, names it, is named by it, or is called after it.
fn belongs(object: &Value, cluster: &str, spec: &Value) -> bool {
    let name = object["metadata"]["name"].as_str().unwrap_or_default();
    let is_called =
        |name: &str| name == cluster || name.strip_prefix(cluster).is_some_and(|rest| rest.starts_with('-'));
    match object["kind"].as_str().unwrap_or_default() {
        "HostedCluster" => name == cluster,
        "NodePool" => object["spec"]["clusterName"] == cluster,
        "Event" => is_called(object["involvedObject"]["name"].as_str().unwrap_or_default()),
        "Secret" | "ConfigMap" => is_called(name) || names(spec, name),
        _ => false,
    }
}

/// Whether a spec names an object.
fn names(spec: &Value, wanted: &str) -> bool {
    match spec {
        Value::Object(fields) => {
            fields.get("name").is_some_and(|name| name == wanted) || fields.values().any(|field| names(field, wanted))
        }
        Value::Array(items) => items.iter().any(|item| names(item, wanted)),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_belongs_to_a_cluster_is_taken_from_a_shared_namespace() {
        let spec = json!({"pullSecret": {"name": "shared"}, "platform": {"kubevirt": {"credentials": {"infraKubeConfigSecret": {"name": "infra"}}}}});
        let object = |kind: &str, name: &str| {
            json!({"kind": kind, "metadata": {"name": name}, "spec": {"clusterName": "blue"},
            "involvedObject": {"name": name}})
        };
        for (kind, name, expected) in [
            ("HostedCluster", "blue", true),
            ("HostedCluster", "bluest", false),
            ("NodePool", "web", true),
            ("Secret", "blue-pull-secret", true),
            ("Secret", "bluest-pull-secret", false),
            ("Secret", "shared", true),
            ("Secret", "infra", true),
            ("ConfigMap", "other", false),
            ("Event", "blue", true),
            ("Pod", "blue", false),
        ] {
            assert_eq!(belongs(&object(kind, name), "blue", &spec), expected, "{kind} {name}");
        }
    }
}
