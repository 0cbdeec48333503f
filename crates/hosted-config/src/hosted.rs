//! The hosted cluster as one run sees it: everything that is asked of its API server. Reads, and removals.

mod removal;

use std::collections::BTreeSet;

use hyperplane_objects::Kind;
use hyperplane_planner::version::{Scheme, Version};
use hyperplane_runtime::{Api, Failure, ObjectKey, Remote};
use jiff::Timestamp;
use k8s_openapi::api::{
    admissionregistration::v1::{MutatingWebhookConfiguration, ValidatingWebhookConfiguration},
    apps::v1::{DaemonSet, Deployment},
    certificates::v1::CertificateSigningRequest,
    coordination::v1::Lease,
    core::v1::{Node, Pod},
};
use kube::{
    Client, ResourceExt,
    api::{DeleteParams, ListParams, LogParams},
    core::PartialObjectMeta,
};

pub(crate) use self::removal::remove_cloud_resources;
use crate::{
    node_metadata::is_marked,
    nodes::{Nodes, PendingRequest, is_fresh, is_ready, newest, pending, waits_for_network},
    objects::{DAEMON_SETS, DEPLOYMENTS, SYSTEM_NAMESPACE},
    rollout::Rollout,
    webhooks::leads_to_service,
};

const NODE_LEASES: &str = "kube-node-lease";
const AGENTS: &str = "app=konnectivity-agent";
/// How many agents are asked while none answers.
const MOST_AGENTS: usize = 3;
/// How many leases are asked for at a time: one fresh one is proof enough, and usually on the first page.
const LEASES: u32 = 100;
/// How many requests for certificates are asked for at a time. A tenant may make each as large as an object can be.
const REQUESTS: u32 = 50;
/// How many pages of them are read, which is enough for the nodes of a day.
const MOST_REQUEST_PAGES: usize = 20;
/// How many pages are asked for while none is fresh, which is enough for ten thousand nodes.
const MOST_PAGES: usize = 100;

/// The version of Kubernetes that the API server has.
pub(crate) async fn version(remote: &Remote) -> Result<Version, Failure> {
    let found = remote.client().apiserver_version().await?;
    Version::parse(Scheme::Kubernetes, &found.git_version).map_err(Failure::retry)
}

/// How far the workloads that we keep there have come.
pub(crate) async fn rollouts(remote: &Remote) -> Result<Vec<Rollout>, Failure> {
    let key = |name: &str| ObjectKey::namespaced(SYSTEM_NAMESPACE, name);
    let mut rollouts = Vec::new();
    for name in DAEMON_SETS {
        let found = remote.get::<DaemonSet>(&key(name)).await?;
        rollouts.extend(found.as_ref().map(Rollout::of_daemon_set));
    }
    for name in DEPLOYMENTS {
        let found = remote.get::<Deployment>(&key(name)).await?;
        rollouts.extend(found.as_ref().map(Rollout::of_deployment));
    }
    Ok(rollouts)
}

/// What there is to know of the nodes. Their statuses are large: where machines tell whether nodes are ready, they are read
/// only while something does not run on them.
pub(crate) async fn nodes(
    remote: &Remote,
    rollouts: &[Rollout],
    has_machines: bool,
    now: Timestamp,
) -> Result<Nodes, Failure> {
    let client = remote.client();
    let nodes = Api::<PartialObjectMeta<Node>>::all(client.clone())
        .list(&ListParams::default())
        .await?;
    let count = i64::try_from(nodes.items.len()).unwrap_or(i64::MAX);
    let pending = pending_requests(client).await?;
    if count == 0 {
        return Ok(Nodes {
            has_machines,
            pending,
            ..Nodes::default()
        });
    }
    let unmarked = nodes.items.iter().filter(|node| !is_marked(*node));
    let unmarked = unmarked.filter_map(|node| Some((node.name_any(), node.creation_timestamp()?.0)));
    let unmarked = unmarked.collect();
    let names = nodes.items.iter().map(ResourceExt::name_any).collect();
    let last_renewal = last_renewal(client, &names, now).await?;
    let tunnel = tunnel(remote).await?;
    let (away, without_network) = if has_machines && rollouts.iter().all(Rollout::is_healthy) {
        (0, 0)
    } else {
        unready(client).await?
    };
    Ok(Nodes {
        count,
        last_renewal,
        tunnel,
        away,
        without_network,
        has_machines,
        pending,
        unmarked,
    })
}

/// The requests of nodes for certificates that wait, the oldest first. Those that nobody answers are removed after a day.
async fn pending_requests(client: &Client) -> Result<Vec<PendingRequest>, Failure> {
    let api = Api::<CertificateSigningRequest>::all(client.clone());
    let mut page = ListParams::default().limit(REQUESTS);
    let mut found = Vec::new();
    for _ in 0..MOST_REQUEST_PAGES {
        let requests = api.list(&page).await?;
        found.extend(requests.items.iter().filter_map(pending));
        match requests.metadata.continue_.filter(|token| !token.is_empty()) {
            Some(token) => page = page.continue_token(&token),
            None => break,
        }
    }
    found.sort();
    Ok(found)
}

/// When a node that is there last renewed its lease: some moment that is fresh, or else the last one.
async fn last_renewal(client: &Client, names: &BTreeSet<String>, now: Timestamp) -> Result<Option<Timestamp>, Failure> {
    let api = Api::<Lease>::namespaced(client.clone(), NODE_LEASES);
    let mut page = ListParams::default().limit(LEASES);
    let mut last = None;
    for _ in 0..MOST_PAGES {
        let leases = api.list(&page).await?;
        last = last.max(newest(&leases.items, names));
        match leases.metadata.continue_.filter(|token| !token.is_empty()) {
            Some(token) if !last.is_some_and(|last| is_fresh(last, now)) => page = page.continue_token(&token),
            _ => break,
        }
    }
    Ok(last)
}

/// How many nodes are not ready, and how many of them for want of a network plugin.
async fn unready(client: &Client) -> Result<(i32, i32), Failure> {
    let nodes = Api::<Node>::all(client.clone()).list(&ListParams::default()).await?;
    let count = |is_meant: fn(&Node) -> bool| {
        let meant = nodes.items.iter().filter(|node| is_meant(node));
        i32::try_from(meant.count()).unwrap_or(i32::MAX)
    };
    Ok((count(|node| !is_ready(node)), count(waits_for_network)))
}

/// Asks an agent for a line of its log: the answer comes from a kubelet, through the tunnel. Others are asked where one is
/// silent, since its node may be the only one.
async fn tunnel(remote: &Remote) -> Result<Option<Result<(), String>>, Failure> {
    let pods = Api::<Pod>::namespaced(remote.client().clone(), SYSTEM_NAMESPACE);
    let agents = pods
        .list(&ListParams::default().labels(AGENTS).fields("status.phase=Running"))
        .await?;
    let line = LogParams {
        tail_lines: Some(1),
        ..LogParams::default()
    };
    let mut told = None;
    for agent in agents.items.iter().take(MOST_AGENTS) {
        match pods.logs(&agent.name_any(), &line).await {
            Ok(_) => return Ok(Some(Ok(()))),
            Err(error) => told = Some(Err(Failure::from(error).report())),
        }
    }
    Ok(told)
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

async fn remove<K: Kind>(remote: &Remote, is_forbidden: impl Fn(&K) -> bool) -> Result<Vec<String>, Failure> {
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
