//! Waits until what was made is ready, and says meanwhile what it is waiting for.

use std::{
    io::{self, Write as _},
    time::Duration,
};

use hyperplane_api::hypershift::{
    hosted_cluster::HostedCluster,
    node_pool::{NodePool, status::ConditionStatus},
    version_status::UpdateState,
};
use hyperplane_runtime::Api;
use kube::Client;
use tokio::time::sleep;

use crate::{failing::not_yet, limit::Limit, printing::paragraph};

/// How often it is looked.
const LOOK: Duration = Duration::from_secs(1);

/// Waits until a control plane serves, at the version that was asked for.
pub(super) async fn for_cluster(client: &Client, namespace: &str, name: &str, limit: Limit) -> anyhow::Result<()> {
    let clusters: Api<HostedCluster> = Api::namespaced(client.clone(), namespace);
    let look = async || -> anyhow::Result<_> { Ok(missing_of_cluster(&clusters.get(name).await?)) };
    wait(&format!("cluster {name}"), limit, look).await
}

/// Waits until all nodes of a pool are there.
pub(super) async fn for_pool(client: &Client, namespace: &str, name: &str, limit: Limit) -> anyhow::Result<()> {
    let pools: Api<NodePool> = Api::namespaced(client.clone(), namespace);
    let look = async || -> anyhow::Result<_> { Ok(missing_of_pool(&pools.get(name).await?)) };
    wait(&format!("node pool {name}"), limit, look).await
}

async fn wait(what: &str, limit: Limit, look: impl AsyncFn() -> anyhow::Result<Option<String>>) -> anyhow::Result<()> {
    let mut last = String::new();
    let waiting = async {
        loop {
            let Some(missing) = look().await? else {
                return Ok(());
            };
            if missing != last {
                let mut text = String::new();
                paragraph(&mut text, "", &format!("Waiting for {what}: {missing}"));
                // Whoever closed standard error does not want to know.
                io::stderr().write_all(text.as_bytes()).ok();
                last = missing;
            }
            sleep(LOOK).await;
        }
    };
    let ended: Option<anyhow::Result<()>> = limit.within(waiting).await;
    ended.unwrap_or_else(|| {
        Err(not_yet(format!(
            "{what}: {last}; look at its conditions, or give a longer --timeout"
        )))
    })
}

/// What a cluster still lacks.
fn missing_of_cluster(cluster: &HostedCluster) -> Option<String> {
    let status = cluster.status.as_ref();
    let conditions = status.map(|status| &*status.conditions).unwrap_or_default();
    let available = conditions.iter().find(|condition| condition.type_ == "Available");
    let invalid = conditions
        .iter()
        .find(|condition| condition.type_.starts_with("Valid") && condition.status == "False");
    if let Some(invalid) = invalid {
        return Some(format!("{}: {}", invalid.type_, invalid.message));
    }
    let Some(available) = available else {
        return Some("the operators have not looked at it yet".to_owned());
    };
    if available.status != "True" {
        return Some(available.message.clone());
    }
    let plane = status.and_then(|status| status.control_plane_version.as_ref());
    let newest = plane.and_then(|plane| plane.history.first());
    let is_complete = newest.is_none_or(|update| update.state == UpdateState::Completed);
    (!is_complete).then(|| "its control plane is being rolled out".to_owned())
}

/// What a pool still lacks.
fn missing_of_pool(pool: &NodePool) -> Option<String> {
    let wanted = pool.spec.replicas.unwrap_or_default();
    let status = pool.status.as_ref();
    let ready = status.and_then(|status| status.replicas).unwrap_or_default();
    let conditions = status.map(|status| &*status.conditions).unwrap_or_default();
    let wrong = conditions
        .iter()
        .find(|condition| condition.type_.starts_with("Valid") && condition.status == ConditionStatus::False);
    let wrong = wrong
        .and_then(|condition| condition.message.clone())
        .map(|message| format!(" ({message})"));
    (status.is_none() || ready < wanted)
        .then(|| format!("{ready} of {wanted} nodes are there{}", wrong.unwrap_or_default()))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn cluster(status: &Value) -> HostedCluster {
        let services: Vec<Value> = Vec::new();
        hyperplane_objects::read(json!({
            "metadata": {"name": "blue"},
            "spec": {"release": {"image": "a/b:1"}, "platform": {"type": "None"}, "services": services,
                "pullSecret": {"name": "p"}},
            "status": status,
        }))
        .unwrap()
    }

    fn condition(type_: &str, status: &str, message: &str) -> Value {
        json!({"type": type_, "status": status, "message": message, "reason": "A", "lastTransitionTime": "2030-01-01T00:00:00Z"})
    }

    #[test]
    fn a_cluster_is_ready_when_it_serves_what_was_asked_for() {
        assert!(
            missing_of_cluster(&cluster(&Value::Null))
                .unwrap()
                .contains("not looked")
        );
        let waits = cluster(&json!({"conditions": [condition("Available", "False", "etcd is starting")]}));
        assert_eq!(missing_of_cluster(&waits).unwrap(), "etcd is starting");
        let wrong = cluster(&json!({"conditions": [condition("Available", "False", "x"),
            condition("ValidConfiguration", "False", "no such key")]}));
        assert_eq!(missing_of_cluster(&wrong).unwrap(), "ValidConfiguration: no such key");
        let plane = |state: &str| {
            cluster(
                &json!({"conditions": [condition("Available", "True", "")], "controlPlaneVersion": {
                "desired": {"image": "a/b:1", "version": "1.36.4"},
                "history": [{"state": state, "version": "1.36.4", "image": "a/b:1", "startedTime": "2030-01-01T00:00:00Z"}]}}),
            )
        };
        assert!(missing_of_cluster(&plane("Partial")).is_some());
        assert_eq!(missing_of_cluster(&plane("Completed")), None);
    }
}
