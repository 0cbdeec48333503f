//! Everything that a hosted cluster needs inside of it, as a value. One file per concern; adding one is a line in
//! [`all`]. Nothing here talks to a cluster.

mod access;
mod controllers;
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
    constants::{annotations, labels, objects::components, ours},
    hypershift::{hosted_control_plane::HostedControlPlane, networking::ClusterNetworking},
};
use hyperplane_components::{Endpoint, hosted_image};
use hyperplane_objects::Kind;
use hyperplane_planner::release::Release;
use hyperplane_runtime::{Failure, Manifest};
use k8s_openapi::api::core::v1::{ConfigMap, PodTemplateSpec, Secret};
use kube::Resource;

/// Where the parts of Kubernetes itself live.
pub(crate) const SYSTEM_NAMESPACE: &str = "kube-system";

/// The workloads among the objects that run on every node.
pub(crate) const DAEMON_SETS: &[&str] = &[components::KONNECTIVITY_AGENT, "kube-proxy"];
/// The other workloads among them.
pub(crate) const DEPLOYMENTS: &[&str] = &["coredns"];

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

    /// The image of a component: of the release, or of an annotation that replaces it.
    fn image(&self, component: &'static str) -> Result<String, Incomplete> {
        hosted_image(component, self.release, self.control_plane).ok_or(Incomplete::Image(component))
    }

    /// Finishes the pods of one component: its image, what restarts them when it changes, and the date of a restart that
    /// was asked for.
    fn finish(
        &self,
        component: &'static str,
        stamps: &[(&str, String)],
        template: &mut PodTemplateSpec,
    ) -> Result<(), Incomplete> {
        let date = annotations::RESTART_DATE.of(self.control_plane);
        let date = date.map(|date| (annotations::RESTART_DATE.as_str(), date.to_owned()));
        let stamps = stamps.iter().cloned().chain(date);
        let of_pods = &mut template.metadata.get_or_insert_default().annotations;
        for (key, value) in stamps {
            of_pods.get_or_insert_default().insert(key.to_owned(), value);
        }
        let image = self.image(component)?;
        for container in template.spec.iter_mut().flat_map(|pod| &mut pod.containers) {
            container.image = Some(image.clone());
        }
        Ok(())
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
    controllers::add(wanted, &mut set);
    guards::add(&mut set);
    endpoints::add(wanted, &mut set).map_err(Failure::retry)?;
    konnectivity::add(wanted, &mut set).map_err(Failure::retry)?;
    dns::add(wanted, &mut set).map_err(Failure::retry)?;
    proxy::add(wanted, &mut set).map_err(Failure::retry)?;
    set.0.into_iter().collect()
}

/// What keeps a cluster that is going from making anything new outside of itself, in the order in which it is written.
pub(crate) fn ending() -> Result<Vec<Manifest>, Failure> {
    let mut set = Set::default();
    guards::add_ending(&mut set);
    set.0.into_iter().collect()
}

/// Objects that are collected, each marked as ours.
#[derive(Default)]
struct Set(Vec<Result<Manifest, Failure>>);

impl Set {
    fn add<K: Kind>(&mut self, object: K) {
        self.0.push(Manifest::of(&marked(object)));
    }

    fn add_asset<K: Kind>(&mut self, text: &str) {
        self.add(asset::<K>(text));
    }
}

fn marked<K: Resource>(mut object: K) -> K {
    let marks = [(labels::MANAGED.as_str().to_owned(), "true".to_owned()), ours::label()];
    object.meta_mut().labels.get_or_insert_with(BTreeMap::new).extend(marks);
    object
}

fn asset<K: Kind>(text: &str) -> K {
    let json = hyperplane_objects::yaml_value(text).expect("the asset is part of the program, and a test reads it");
    K::from_json(&json).expect("the asset is of its kind, which a test finds out")
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
