//! Everything that a hosted cluster needs inside of it, as a value. One file per concern; adding one is a line in
//! [`all`]. Nothing here talks to a cluster.

mod access;
mod dns;
mod endpoints;
mod guards;
mod konnectivity;
mod machine_approver;
mod proxy;
#[cfg(test)]
mod tests;

use std::{collections::BTreeMap, net::IpAddr};

use hyperplane_api::{
    constants::{labels, ours},
    hypershift::{hosted_control_plane::HostedControlPlane, networking::ClusterNetworking},
};
use hyperplane_components::Endpoint;
use hyperplane_planner::release::Release;
use hyperplane_runtime::{Failure, Kind, Manifest};
use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use kube::Resource;
use serde::de::DeserializeOwned;

/// Where the parts of Kubernetes itself live.
pub(crate) const SYSTEM_NAMESPACE: &str = "kube-system";

/// What the objects are made from.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wanted<'a> {
    /// The control plane.
    pub(crate) control_plane: &'a HostedControlPlane,
    /// The release of the hosted cluster.
    pub(crate) release: &'a Release,
    /// Where nodes reach the API server.
    pub(crate) api_server: &'a Endpoint,
    /// Where agents reach konnectivity.
    pub(crate) konnectivity: &'a Endpoint,
    /// Who is trusted as konnectivity.
    pub(crate) konnectivity_authority: &'a ConfigMap,
    /// The certificate of agents.
    pub(crate) konnectivity_agent: &'a Secret,
}

impl Wanted<'_> {
    pub(crate) fn networking(&self) -> ClusterNetworking {
        self.control_plane.spec.networking.clone().unwrap_or_default()
    }

    /// The image of a component in the release.
    fn image(&self, component: &'static str) -> Result<String, Incomplete> {
        let found = self
            .release
            .components
            .get(component)
            .and_then(|found| found.image.clone());
        found.ok_or(Incomplete::Image(component))
    }
}

/// Why the objects cannot be made. Each says who can help.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Incomplete {
    /// The release lacks an image.
    #[error("the release carries no image for {0}: add it to its DistributionRelease")]
    Image(&'static str),
    /// A network of the spec is none.
    #[error("spec.networking.serviceNetwork: {0:?} is no network such as 172.31.0.0/16")]
    Network(String),
    /// The advertised address is none.
    #[error("spec.networking.apiServer.advertiseAddress: {0:?} is no IP address")]
    Address(String),
}

/// Everything, in the order in which it is written.
pub(crate) fn all(wanted: &Wanted<'_>) -> Result<Vec<Manifest>, Failure> {
    let mut set = Set::default();
    access::add(&mut set);
    machine_approver::add(&mut set);
    guards::add(&mut set);
    endpoints::add(wanted, &mut set).map_err(Failure::retry)?;
    konnectivity::add(wanted, &mut set).map_err(Failure::retry)?;
    dns::add(wanted, &mut set).map_err(Failure::retry)?;
    proxy::add(wanted, &mut set).map_err(Failure::retry)?;
    set.0.into_iter().collect()
}

/// Objects that are collected, each marked as ours.
#[derive(Default)]
struct Set(Vec<Result<Manifest, Failure>>);

impl Set {
    fn add<K: Kind>(&mut self, object: K) {
        self.0.push(Manifest::of(&marked(object)));
    }

    fn add_asset<K: Kind + DeserializeOwned>(&mut self, text: &str) {
        self.add(asset::<K>(text));
    }
}

fn marked<K: Resource>(mut object: K) -> K {
    let marks = [
        (labels::MANAGED.as_str().to_owned(), "true".to_owned()),
        (ours::MANAGED_BY.as_str().to_owned(), ours::MANAGED_BY_US.to_owned()),
    ];
    object.meta_mut().labels.get_or_insert_with(BTreeMap::new).extend(marks);
    object
}

fn asset<K: DeserializeOwned>(text: &str) -> K {
    serde_saphyr::from_str(text).expect("the asset is part of the program, and a test reads it")
}

/// The address at a position in a network.
fn address_in(network: &str, position: u8) -> Result<IpAddr, Incomplete> {
    let invalid = || Incomplete::Network(network.to_owned());
    let (base, _) = network.split_once('/').ok_or_else(invalid)?;
    match base.parse::<IpAddr>().map_err(|_| invalid())? {
        IpAddr::V4(base) => Ok(IpAddr::V4((u32::from(base) | u32::from(position)).into())),
        IpAddr::V6(base) => Ok(IpAddr::V6((u128::from(base) | u128::from(position)).into())),
    }
}

/// The address of an endpoint as clients write it.
fn url(endpoint: &Endpoint) -> String {
    let host = &endpoint.host;
    let host = if host.contains(':') {
        format!("[{host}]")
    } else {
        host.clone()
    };
    format!("https://{host}:{}", endpoint.port)
}
