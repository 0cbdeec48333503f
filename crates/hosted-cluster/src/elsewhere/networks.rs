//! The networks of the cluster that the machines run on, as it tells them itself: by its own configuration where it is an
//! OpenShift cluster, and otherwise by what every Kubernetes cluster has.

use std::collections::{BTreeMap, BTreeSet};

use hyperplane_runtime::{Api, Failure};
use k8s_openapi::api::{discovery::v1::EndpointSlice, networking::v1::ServiceCIDR};
use kube::{
    Client,
    api::{DynamicObject, ListParams},
    core::{ApiResource, GroupVersionKind},
};
use serde_json::Value;

use super::told;
use crate::{
    nodes::PlainNode,
    surroundings::{self, API_SERVER_NAMESPACE, API_SERVER_SELECTOR},
};

/// Nodes in one answer.
const PAGE: u32 = 500;
/// Answers that are asked for: several times as many nodes as a cluster of Kubernetes can have.
const MOST_PAGES: usize = 50;

/// What is known of the networks of a cluster.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Networks {
    /// Those of its pods, its Services and its API server.
    pub(super) closed: Vec<String>,
    /// Labels of the namespaces with its router, if it has one.
    pub(super) router: Option<BTreeMap<String, String>>,
}

/// Why nothing is known.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Unread {
    /// The cluster answers, but not to this.
    Refused(String),
    /// The cluster does not answer.
    Failed(String),
}

/// Asks the cluster.
pub(super) async fn read(client: &Client) -> Result<Networks, Unread> {
    match of_openshift(client).await {
        Ok(Some(networks)) => return Ok(networks),
        Ok(None) => {}
        // Whoever has few rights is refused before it matters whether there is such a kind.
        Err(error) if is_refused(&error) => {}
        Err(error) => return Err(Unread::Failed(told(&error.into()))),
    }
    match of_kubernetes(client).await {
        Ok(closed) if closed.is_empty() => Err(Unread::Refused(
            "the cluster with the machines tells nothing of its networks".to_owned(),
        )),
        Ok(closed) => Ok(Networks { closed, router: None }),
        Err(error) if is_refused(&error) => Err(Unread::Refused(format!(
            "the kubeconfig may neither get networks.config.openshift.io cluster nor list nodes, \
             servicecidrs.networking.k8s.io, and endpointslices.discovery.k8s.io in namespace {API_SERVER_NAMESPACE}: {}",
            told(&Failure::from(error))
        ))),
        Err(error) => Err(Unread::Failed(told(&error.into()))),
    }
}

fn is_refused(error: &kube::Error) -> bool {
    matches!(error, kube::Error::Api(status) if status.code == 403)
}

fn is_missing(error: &kube::Error) -> bool {
    // Of a group that is not served the server says so in plain text, without the reason that goes with it.
    matches!(error, kube::Error::Api(status) if status.code == 404)
}

async fn of_openshift(client: &Client) -> kube::Result<Option<Networks>> {
    let kind = GroupVersionKind::gvk("config.openshift.io", "v1", "Network");
    let resource = ApiResource::from_gvk_with_plural(&kind, "networks");
    let api: kube::Api<DynamicObject> = kube::Api::all_with(client.clone(), &resource);
    match api.get("cluster").await {
        Ok(found) => Ok(configured(&found.data)),
        Err(error) if is_missing(&error) => Ok(None),
        Err(error) => Err(error),
    }
}

/// The networks that the configuration of an OpenShift cluster names: those in use, or those that are asked for.
pub(super) fn configured(configuration: &Value) -> Option<Networks> {
    let named = |part: &str| -> Vec<String> {
        let list = |field: &str| configuration[part][field].as_array().into_iter().flatten();
        let pods = list("clusterNetwork").filter_map(|network| network["cidr"].as_str());
        let services = list("serviceNetwork").filter_map(Value::as_str);
        pods.chain(services).map(str::to_owned).collect()
    };
    let parts = ["status", "spec"].map(|part| surroundings::closed([], [], &[], &named(part)));
    let closed = parts.into_iter().find(|closed| !closed.is_empty())?;
    let router = BTreeMap::from([("network.openshift.io/policy-group".to_owned(), "ingress".to_owned())]);
    Some(Networks {
        closed,
        router: Some(router),
    })
}

async fn of_kubernetes(client: &Client) -> kube::Result<Vec<String>> {
    let pods: Vec<String> = pod_networks(client).await?.into_iter().collect();
    let ranges: Api<ServiceCIDR> = Api::all(client.clone());
    let ranges = match ranges.list(&ListParams::default()).await {
        Ok(list) => list.items,
        Err(error) if is_missing(&error) => Vec::new(),
        Err(error) => return Err(error),
    };
    let slices: Api<EndpointSlice> = Api::namespaced(client.clone(), API_SERVER_NAMESPACE);
    let slices = slices.list(&ListParams::default().labels(API_SERVER_SELECTOR)).await?;
    Ok(surroundings::closed(&slices.items, &ranges, &pods, &[]))
}

async fn pod_networks(client: &Client) -> kube::Result<BTreeSet<String>> {
    let nodes: Api<PlainNode> = Api::all(client.clone());
    let mut networks = BTreeSet::new();
    let mut parameters = ListParams::default().limit(PAGE);
    for _ in 0..MOST_PAGES {
        let page = nodes.list(&parameters).await?;
        networks.extend(page.items.into_iter().flat_map(|node| node.spec.pod_networks));
        match page.metadata.continue_.filter(|token| !token.is_empty()) {
            Some(token) => parameters = parameters.continue_token(&token),
            None => break,
        }
    }
    Ok(networks)
}
