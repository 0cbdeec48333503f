//! Writes on behalf of a tenant on a real API server: made as the tenant's own service account, refused where it has no
//! right, and not repeated by a fresh process although the server fills in defaults.

use std::{sync::Arc, time::Duration};

use anyhow::{Context as _, Result, ensure};
use hyperplane_runtime::{Context, Failure, Identity, Manager, Next, Reconciler, Settings, Watch};
use hyperplane_testbed::ControlPlane;
use k8s_openapi::api::{
    apps::v1::Deployment,
    core::v1::{ConfigMap, Event, Service},
    networking::v1::NetworkPolicy,
};
use kube::{
    Api, Client, ResourceExt as _,
    api::{ListParams, PostParams},
};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tokio::time::{Instant, sleep};

use crate::running::{Running, clock};

/// How long the world may take to show what is waited for.
const LIMIT: Duration = Duration::from_mins(1);
/// How often it is looked at.
const LOOK: Duration = Duration::from_millis(100);

/// Makes a workload, a Service and a NetworkPolicy for every order, as the tenant of its namespace. An order that names
/// another namespace is an attempt to reach another tenant.
struct Tenant;

impl Reconciler for Tenant {
    type Object = ConfigMap;

    async fn reconcile(&self, context: &Context, order: Arc<ConfigMap>) -> Result<Next, Failure> {
        let home = order.namespace().unwrap_or_default();
        let target = order
            .data
            .as_ref()
            .and_then(|data| data.get("namespace"))
            .unwrap_or(&home);
        let identity = Identity::new(&home, "control-plane").map_err(Failure::fatal)?;
        let context = context.acting_as(identity);
        context.apply(&object::<Deployment>(deployment(target))).await?;
        context.apply(&object::<Service>(service(target))).await?;
        context.apply(&object::<NetworkPolicy>(network_policy(target))).await?;
        Ok(Next::OnChange)
    }
}

fn object<K: DeserializeOwned>(manifest: Value) -> K {
    hyperplane_objects::read(manifest).expect("the manifests of this test are well-formed")
}

fn metadata(namespace: &str) -> Value {
    json!({"name": "example", "namespace": namespace, "labels": {"tenant-test": "true"}})
}

fn deployment(namespace: &str) -> Value {
    json!({
        "metadata": metadata(namespace),
        "spec": {
            "replicas": 3,
            "selector": {"matchLabels": {"app": "example"}},
            "template": {
                "metadata": {"labels": {"app": "example"}},
                "spec": {"containers": [{
                    "name": "server",
                    "image": "registry.k8s.io/pause:3.10",
                    "ports": [{"containerPort": 6443}],
                    "resources": {"requests": {"cpu": "500m", "memory": "1Gi"}},
                    "env": [{"name": "COLOR", "value": "red"}],
                }]},
            },
        },
    })
}

fn service(namespace: &str) -> Value {
    json!({
        "metadata": metadata(namespace),
        "spec": {"selector": {"app": "example"}, "ports": [{"name": "https", "port": 443, "targetPort": 6443}]},
    })
}

fn network_policy(namespace: &str) -> Value {
    json!({
        "metadata": metadata(namespace),
        "spec": {"podSelector": {"matchLabels": {"app": "example"}}, "policyTypes": ["Ingress"], "ingress": [{}]},
    })
}

/// The runner may look at everything that it watches, write events, and act as the tenants; it may write nothing else.
/// Each tenant may write in its own namespace.
async fn grant(control_plane: &ControlPlane, tenants: &[&str]) -> Result<()> {
    let group = "rbac.authorization.k8s.io";
    let version = "rbac.authorization.k8s.io/v1";
    let mut items = vec![
        json!({"apiVersion": version, "kind": "ClusterRole", "metadata": {"name": "tenant-runner"}, "rules": [
            {"apiGroups": ["", "apps", "networking.k8s.io"], "verbs": ["get", "list", "watch"],
             "resources": ["configmaps", "services", "deployments", "networkpolicies"]},
            {"apiGroups": [""], "verbs": ["create", "patch"], "resources": ["events"]},
            {"apiGroups": [""], "verbs": ["impersonate"], "resources": ["serviceaccounts"], "resourceNames": ["control-plane"]},
        ]}),
        json!({"apiVersion": version, "kind": "ClusterRoleBinding", "metadata": {"name": "tenant-runner"},
            "roleRef": {"apiGroup": group, "kind": "ClusterRole", "name": "tenant-runner"},
            "subjects": [{"apiGroup": group, "kind": "User", "name": "tenant-runner"}]}),
    ];
    for tenant in tenants {
        let metadata = json!({"name": "control-plane", "namespace": tenant});
        items.push(
            json!({"apiVersion": version, "kind": "Role", "metadata": metadata, "rules": [
                {"apiGroups": ["", "apps", "networking.k8s.io"], "verbs": ["create", "patch"],
                 "resources": ["services", "deployments", "networkpolicies"]},
            ]}),
        );
        items.push(
            json!({"apiVersion": version, "kind": "RoleBinding", "metadata": metadata,
            "roleRef": {"apiGroup": group, "kind": "Role", "name": "control-plane"},
            "subjects": [{"kind": "ServiceAccount", "name": "control-plane", "namespace": tenant}]}),
        );
    }
    let rights = json!({"apiVersion": "v1", "kind": "List", "items": items});
    let answer = control_plane
        .kubectl_with_input(&["apply", "-f", "-"], &rights.to_string())
        .await?;
    ensure!(answer.status.success(), "{}", answer.stderr);
    Ok(())
}

async fn order(client: &Client, namespace: &str, name: &str, target: &str) -> Result<()> {
    let order = json!({
        "metadata": {"name": name, "labels": {"tenant-test": "order"}},
        "data": {"namespace": target},
    });
    let orders: Api<ConfigMap> = Api::namespaced(client.clone(), namespace);
    orders.create(&PostParams::default(), &object(order)).await?;
    Ok(())
}

fn start(runner: Client, instance: &str) -> Running {
    let mut manager = Manager::new(runner, Settings::new("tenant-test", instance, clock(), 1));
    let ours = "tenant-test=true";
    manager
        .controller("tenant", Watch::<ConfigMap>::all().labels("tenant-test=order"), Tenant)
        .owns(Watch::<Deployment>::all().labels(ours))
        .owns(Watch::<Service>::all().labels(ours))
        .owns(Watch::<NetworkPolicy>::all().labels(ours))
        .register();
    Running::start(manager)
}

/// Waits until a look at the world gives something.
async fn eventually<T>(what: &str, look: impl AsyncFn() -> Result<Option<T>>) -> Result<T> {
    let deadline = Instant::now() + LIMIT;
    loop {
        if let Some(seen) = look().await? {
            return Ok(seen);
        }
        ensure!(Instant::now() < deadline, "never seen: {what}");
        sleep(LOOK).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a real control plane: cargo xtask test"]
async fn tenants_are_served_as_themselves_and_cannot_reach_each_other() -> Result<()> {
    let control_plane = ControlPlane::shared().await?;
    let (home, foreign) = (
        control_plane.namespace("tenant").await?,
        control_plane.namespace("tenant").await?,
    );
    grant(control_plane, &[&home, &foreign]).await?;
    let admin = control_plane.client()?;
    let runner = control_plane.client_as("tenant-runner", &[])?;
    order(&admin, &home, "honest", &home).await?;
    order(&admin, &home, "greedy", &foreign).await?;

    let services: Api<Service> = Api::namespaced(runner.clone(), &home);
    let refused = services.create(&PostParams::default(), &object(service(&home))).await;
    assert!(
        matches!(refused, Err(kube::Error::Api(status)) if status.is_forbidden()),
        "the runner writes as itself"
    );

    let first = start(runner.clone(), "first");
    let policies: Api<NetworkPolicy> = Api::namespaced(admin.clone(), &home);
    eventually("the policy of the honest order", async || {
        Ok(policies.get_opt("example").await?)
    })
    .await?;
    let complaint = eventually("an event about the greedy order", async || {
        complaint(&admin, &home).await
    })
    .await?;
    assert!(
        complaint.contains(&format!("system:serviceaccount:{home}:control-plane")),
        "{complaint}"
    );
    let stolen: Api<Deployment> = Api::namespaced(admin.clone(), &foreign);
    assert!(
        stolen.list(&ListParams::default()).await?.items.is_empty(),
        "the other tenant was reached"
    );
    first.end().await.context("the first process")?;

    let second = start(runner, "second");
    eventually("a look at everything", async || {
        Ok((second.writes("skipped") >= 3).then_some(()))
    })
    .await?;
    assert_eq!(
        second.writes("applied"),
        0,
        "a fresh process writes what is there already"
    );
    second.end().await.context("the second process")
}

/// The event about the order that was refused, once there is one.
async fn complaint(admin: &Client, namespace: &str) -> Result<Option<String>> {
    let events: Api<Event> = Api::namespaced(admin.clone(), namespace);
    let about = ListParams::default().fields("involvedObject.name=greedy");
    Ok(events
        .list(&about)
        .await?
        .items
        .into_iter()
        .find_map(|event| event.message))
}
