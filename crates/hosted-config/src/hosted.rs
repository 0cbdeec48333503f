//! The hosted cluster as one run sees it: everything that is asked of its API server. Reads, and one kind of removal.

use std::collections::BTreeSet;

use hyperplane_planner::version::{Scheme, Version};
use hyperplane_runtime::{Failure, Remote};
use jiff::Timestamp;
use k8s_openapi::api::{
    admissionregistration::v1::{MutatingWebhookConfiguration, ValidatingWebhookConfiguration},
    coordination::v1::Lease,
    core::v1::{Node, Pod},
};
use kube::{
    Api, Resource, ResourceExt as _,
    api::{DeleteParams, ListParams, LogParams},
    core::PartialObjectMeta,
};
use serde::de::DeserializeOwned;

use crate::{nodes::Nodes, objects::SYSTEM_NAMESPACE, webhooks::leads_to_service};

const NODE_LEASES: &str = "kube-node-lease";
const AGENTS: &str = "app=konnectivity-agent";
/// How many leases are looked at: one fresh one is proof enough.
const LEASES: u32 = 100;

/// The version of Kubernetes that the API server has.
pub(crate) async fn version(remote: &Remote) -> Result<Version, Failure> {
    let found = remote.client().apiserver_version().await?;
    Version::parse(Scheme::Kubernetes, &found.git_version).map_err(Failure::retry)
}

/// What there is to know of the nodes.
pub(crate) async fn nodes(remote: &Remote) -> Result<Nodes, Failure> {
    let client = remote.client();
    let nodes = Api::<PartialObjectMeta<Node>>::all(client.clone())
        .list(&ListParams::default())
        .await?;
    let count = i64::try_from(nodes.items.len()).unwrap_or(i64::MAX);
    if count == 0 {
        return Ok(Nodes::default());
    }
    let leases = Api::<Lease>::namespaced(client.clone(), NODE_LEASES);
    let leases = leases.list(&ListParams::default().limit(LEASES)).await?;
    let renewals = leases
        .items
        .iter()
        .filter_map(|lease| lease.spec.as_ref()?.renew_time.as_ref());
    let last_renewal: Option<Timestamp> = renewals.map(|time| time.0).max();
    let tunnel = tunnel(remote).await?;
    Ok(Nodes {
        count,
        last_renewal,
        tunnel,
    })
}

/// Asks one agent for a line of its log: the answer comes from a kubelet, through the tunnel.
async fn tunnel(remote: &Remote) -> Result<Option<Result<(), String>>, Failure> {
    let pods = Api::<Pod>::namespaced(remote.client().clone(), SYSTEM_NAMESPACE);
    let agents = pods
        .list(&ListParams::default().labels(AGENTS).fields("status.phase=Running"))
        .await?;
    let Some(agent) = agents.items.first() else {
        return Ok(None);
    };
    let line = LogParams {
        tail_lines: Some(1),
        ..LogParams::default()
    };
    let answer = pods.logs(&agent.name_any(), &line).await;
    Ok(Some(answer.map(drop).map_err(|error| Failure::from(error).report())))
}

/// Takes away webhooks that would call the management side; gives back their names.
pub(crate) async fn remove_webhooks(
    remote: &Remote,
    namespace: &str,
    services: &BTreeSet<String>,
) -> Result<Vec<String>, Failure> {
    let leads_there = |url: &Option<String>| {
        url.as_deref()
            .is_some_and(|url| leads_to_service(url, namespace, services))
    };
    let mut removed = remove::<ValidatingWebhookConfiguration>(remote, |found| {
        found
            .webhooks
            .iter()
            .flatten()
            .any(|webhook| leads_there(&webhook.client_config.url))
    })
    .await?;
    removed.extend(
        remove::<MutatingWebhookConfiguration>(remote, |found| {
            found
                .webhooks
                .iter()
                .flatten()
                .any(|webhook| leads_there(&webhook.client_config.url))
        })
        .await?,
    );
    Ok(removed)
}

async fn remove<K>(remote: &Remote, is_forbidden: impl Fn(&K) -> bool) -> Result<Vec<String>, Failure>
where
    K: Resource<DynamicType = ()> + Clone + DeserializeOwned + std::fmt::Debug,
{
    let api = Api::<K>::all(remote.client().clone());
    let mut removed = Vec::new();
    for found in api.list(&ListParams::default()).await?.items {
        if is_forbidden(&found) {
            let name = found.name_any();
            api.delete(&name, &DeleteParams::default()).await?;
            removed.push(name);
        }
    }
    Ok(removed)
}
