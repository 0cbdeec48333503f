//! The life of a namespace with a Deployment, as whoever has only the API sees it. Where a kubelet would act, the test
//! does: it reports a node, runs pods, and lets them go.

use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use http::Request;
use jiff::Timestamp;
use kube::Client;
use serde_json::{Value, json};
use tokio::time::{Instant, sleep};

use super::processes::Programs;

/// How long one step may take on a machine that also compiles.
const LIMIT: Duration = Duration::from_mins(1);
/// How often the API is asked whether a step is done.
const POLL_INTERVAL: Duration = Duration::from_millis(200);

const NODE: &str = "paper";
const NAMESPACE: &str = "shop";
const REPLICAS: usize = 3;

/// Somebody with all rights.
pub(super) struct Cluster {
    client: Client,
    programs: Programs,
}

impl Cluster {
    pub(super) fn new(client: Client, programs: Programs) -> Self {
        Self { client, programs }
    }

    /// From an empty cluster to an empty cluster; gives the errors that the programs told on the way.
    pub(super) async fn live(mut self) -> Result<Vec<String>> {
        let lived = self.steps().await;
        lived.with_context(|| self.programs.log_tails())?;
        self.programs.check()?;
        self.programs.errors()
    }

    async fn steps(&mut self) -> Result<()> {
        self.add_node().await?;
        self.add_namespace().await?;
        self.deploy().await?;
        self.run_pods().await?;
        self.count().await?;
        self.collect_garbage().await?;
        self.delete_namespace().await
    }

    /// A node without a kubelet. The controller manager takes its taint away because it is ready.
    async fn add_node(&mut self) -> Result<()> {
        let now = Timestamp::now();
        let amounts = json!({"cpu": "4", "memory": "8Gi", "pods": "110"});
        let node = json!({
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {"name": NODE, "labels": {"kubernetes.io/hostname": NODE, "kubernetes.io/os": "linux"}},
            "status": {"capacity": amounts, "allocatable": amounts, "conditions": [condition("Ready", now)]},
        });
        self.send("POST", "/api/v1/nodes", &node).await?;
        let lease = json!({
            "apiVersion": "coordination.k8s.io/v1",
            "kind": "Lease",
            "metadata": {"name": NODE},
            "spec": {"holderIdentity": NODE, "leaseDurationSeconds": 40, "renewTime": format!("{now:.6}")},
        });
        let leases = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases";
        self.send("POST", leases, &lease).await?;
        let node = format!("/api/v1/nodes/{NODE}");
        self.until("the node has no taints", &node, |node| {
            node["spec"].get("taints").is_none()
        })
        .await
    }

    async fn add_namespace(&mut self) -> Result<()> {
        let namespace = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}});
        self.send("POST", "/api/v1/namespaces", &namespace).await?;
        for path in ["serviceaccounts/default", "configmaps/kube-root-ca.crt"] {
            self.until(path, &core(path), |_| true).await?;
        }
        Ok(())
    }

    /// A Deployment with a Service, until its pods have a node.
    async fn deploy(&mut self) -> Result<()> {
        let labels = json!({"app": "web"});
        let container = json!({
            "name": "main",
            "image": "example.com/web:1",
            "ports": [{"name": "http", "containerPort": 8080}],
            "resources": {"requests": {"cpu": "100m", "memory": "64Mi"}},
        });
        let deployment = json!({
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "metadata": {"name": "web"},
            "spec": {
                "replicas": REPLICAS,
                "selector": {"matchLabels": labels},
                "template": {"metadata": {"labels": labels}, "spec": {"containers": [container]}},
            },
        });
        let service = json!({
            "apiVersion": "v1",
            "kind": "Service",
            "metadata": {"name": "web"},
            "spec": {"selector": labels, "ports": [{"port": 80, "targetPort": "http"}]},
        });
        self.send("POST", &core("services"), &service).await?;
        self.send("POST", &apps("deployments"), &deployment).await?;
        let is_bound = |pods: &Value| items(pods).filter(|pod| pod["spec"]["nodeName"] == NODE).count() == REPLICAS;
        self.until("the pods are scheduled", &core("pods"), is_bound).await
    }

    /// Reports the pods as a kubelet would, until the Deployment is available and the Service has endpoints.
    async fn run_pods(&mut self) -> Result<()> {
        let pods = self.get(&core("pods")).await?.context("the pods are gone")?;
        for (index, pod) in items(&pods).enumerate() {
            let now = Timestamp::now();
            let conditions = ["Initialized", "ContainersReady", "Ready"].map(|kind| condition(kind, now));
            let address = format!("10.0.0.{}", index + 1);
            let status = json!({
                "phase": "Running",
                "podIP": address,
                "podIPs": [{"ip": address}],
                "conditions": conditions,
            });
            let path = core(&format!("pods/{}/status", name(pod)));
            self.send("PATCH", &path, &json!({"status": status})).await?;
        }
        let is_available = |deployment: &Value| deployment["status"]["availableReplicas"] == REPLICAS;
        self.until("the Deployment is available", &apps("deployments/web"), is_available)
            .await?;
        let slices = format!("/apis/discovery.k8s.io/v1/namespaces/{NAMESPACE}/endpointslices");
        let is_served = |slices: &Value| {
            let endpoints = items(slices).flat_map(|slice| slice["endpoints"].as_array().into_iter().flatten());
            endpoints
                .filter(|endpoint| endpoint["conditions"]["ready"] == true)
                .count()
                == REPLICAS
        };
        self.until("the Service has endpoints", &slices, is_served).await
    }

    /// A quota counts what is there, of every kind that the server serves.
    async fn count(&mut self) -> Result<()> {
        let hard = json!({
            "pods": "10",
            "requests.cpu": "1",
            "count/deployments.apps": "5",
            "count/resourceclaims.resource.k8s.io": "5",
        });
        let quota = json!({
            "apiVersion": "v1",
            "kind": "ResourceQuota",
            "metadata": {"name": "all"},
            "spec": {"hard": hard},
        });
        self.send("POST", &core("resourcequotas"), &quota).await?;
        let used = json!({
            "pods": "3",
            "requests.cpu": "300m",
            "count/deployments.apps": "1",
            "count/resourceclaims.resource.k8s.io": "0",
        });
        self.until("the quota counts", &core("resourcequotas/all"), |quota| {
            quota["status"]["used"] == used
        })
        .await
    }

    /// Deleting the Deployment deletes its replica set, and that its pods.
    async fn collect_garbage(&mut self) -> Result<()> {
        let background = json!({"apiVersion": "v1", "kind": "DeleteOptions", "propagationPolicy": "Background"});
        self.send("DELETE", &apps("deployments/web"), &background).await?;
        let start = Instant::now();
        while !self.is_empty(&core("pods")).await? || !self.is_empty(&apps("replicasets")).await? {
            self.let_pods_go().await?;
            self.pause(start, "the pods of the Deployment are gone").await?;
        }
        Ok(())
    }

    /// With another pod inside, so that the namespace controller has something to delete; it looks again after half of the
    /// pod's grace period. What the scheduler tells of the pod has to be there before: it would be refused.
    async fn delete_namespace(&mut self) -> Result<()> {
        let pod = json!({
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": "last"},
            "spec": {
                "terminationGracePeriodSeconds": 1,
                "containers": [{"name": "main", "image": "example.com/web:1", "resources": {"requests": {"cpu": "1m"}}}],
            },
        });
        self.send("POST", &core("pods"), &pod).await?;
        let is_told = |events: &Value| {
            items(events).any(|event| event["involvedObject"]["name"] == "last" && event["reason"] == "Scheduled")
        };
        self.until("the last pod is scheduled", &core("events"), is_told)
            .await?;
        let namespace = format!("/api/v1/namespaces/{NAMESPACE}");
        self.send("DELETE", &namespace, &json!({})).await?;
        let start = Instant::now();
        while self.get(&namespace).await?.is_some() {
            self.let_pods_go().await?;
            self.pause(start, "the namespace is gone").await?;
        }
        Ok(())
    }

    /// What a kubelet does at last with a pod that was deleted.
    async fn let_pods_go(&self) -> Result<()> {
        let Some(pods) = self.get(&core("pods")).await? else {
            return Ok(());
        };
        for pod in items(&pods).filter(|pod| pod["metadata"].get("deletionTimestamp").is_some()) {
            let now = json!({"gracePeriodSeconds": 0, "preconditions": {"uid": pod["metadata"]["uid"]}});
            let (code, _) = self.ask("DELETE", &core(&format!("pods/{}", name(pod))), &now).await?;
            ensure!(
                matches!(code, 200 | 404 | 409),
                "the end of a pod is answered with {code}"
            );
        }
        Ok(())
    }

    async fn is_empty(&self, path: &str) -> Result<bool> {
        Ok(self.get(path).await?.is_none_or(|list| items(&list).next().is_none()))
    }

    /// Asks again and again until an object is there and as it should be.
    async fn until(&mut self, what: &str, path: &str, is_done: impl Fn(&Value) -> bool) -> Result<()> {
        let start = Instant::now();
        loop {
            let found = self.get(path).await?;
            if found.as_ref().is_some_and(&is_done) {
                return Ok(());
            }
            let seen = || format!("{path} is {}", found.clone().unwrap_or_default());
            self.pause(start, what).await.with_context(seen)?;
        }
    }

    async fn pause(&mut self, start: Instant, what: &str) -> Result<()> {
        self.programs.check()?;
        ensure!(start.elapsed() < LIMIT, "not within {LIMIT:?}: {what}");
        sleep(POLL_INTERVAL).await;
        Ok(())
    }

    async fn get(&self, path: &str) -> Result<Option<Value>> {
        match self.ask("GET", path, &Value::Null).await? {
            (200, body) => Ok(Some(body)),
            (404, _) => Ok(None),
            (code, body) => anyhow::bail!("GET {path} is answered with {code}: {body}"),
        }
    }

    async fn send(&self, method: &str, path: &str, body: &Value) -> Result<Value> {
        let (code, answer) = self.ask(method, path, body).await?;
        ensure!(
            (200..300).contains(&code),
            "{method} {path} is answered with {code}: {answer}"
        );
        Ok(answer)
    }

    async fn ask(&self, method: &str, path: &str, body: &Value) -> Result<(u16, Value)> {
        let content_type = match method {
            "PATCH" => "application/strategic-merge-patch+json",
            _ => "application/json",
        };
        let body = if body.is_null() {
            String::new()
        } else {
            body.to_string()
        };
        let request = Request::builder()
            .method(method)
            .uri(path)
            .header("content-type", content_type);
        let response = self.client.send(request.body(body.into_bytes().into())?).await?;
        let code = response.status().as_u16();
        let bytes = http_body_util::BodyExt::collect(response.into_body()).await?.to_bytes();
        Ok((code, serde_json::from_slice(&bytes)?))
    }
}

fn core(path: &str) -> String {
    format!("/api/v1/namespaces/{NAMESPACE}/{path}")
}

fn apps(path: &str) -> String {
    format!("/apis/apps/v1/namespaces/{NAMESPACE}/{path}")
}

fn items(list: &Value) -> impl Iterator<Item = &Value> {
    list["items"].as_array().into_iter().flatten()
}

fn name(object: &Value) -> &str {
    object["metadata"]["name"].as_str().unwrap_or_default()
}

/// A condition that holds since now.
fn condition(kind: &str, now: Timestamp) -> Value {
    let now = now.strftime("%Y-%m-%dT%H:%M:%SZ").to_string();
    json!({"type": kind, "status": "True", "reason": "Test", "lastHeartbeatTime": now, "lastTransitionTime": now})
}
