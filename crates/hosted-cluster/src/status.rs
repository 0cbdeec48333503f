//! What is reported of a cluster, computed from what was seen by one function. Nothing in it changes by itself: at rest it
//! is the same again and again.

mod conditions;
mod copied;
mod deleting;
mod progress;
#[cfg(test)]
mod tests;
mod version;

use hyperplane_api::hypershift::paused::PauseState;
use hyperplane_api::{
    common::LocalObjectReference,
    constants::objects::{keys, kubeconfigs},
    hypershift::{
        endpoint::ApiEndpoint,
        hosted_cluster::HostedCluster,
        hosted_cluster_status::HostedClusterStatus,
        hosted_control_plane::HostedControlPlaneStatus,
        services::{PublishedService, PublishingStrategyType},
    },
};
use hyperplane_components::Infrastructure;
use hyperplane_runtime::{Failure, conditions as merging};
use jiff::Timestamp;

pub(crate) use self::deleting::deleting;
use crate::{
    build::kubeadmin_password,
    dereference::Seen,
    names,
    validate::{Verdict, payload_architecture},
};

/// The port under which everything is found that is published by Route.
const ROUTE_PORT: i32 = 443;

/// From what the status is computed.
#[derive(Clone, Copy)]
pub(crate) struct Report<'a> {
    pub(crate) cluster: &'a HostedCluster,
    pub(crate) seen: &'a Seen,
    pub(crate) verdict: &'a Verdict,
    pub(crate) pause: &'a PauseState,
    /// What ended the run, if something did.
    pub(crate) failure: Option<&'a Failure>,
    /// Where the control plane is reached.
    pub(crate) infrastructure: Option<&'a Infrastructure>,
    pub(crate) now: Timestamp,
}

impl Report<'_> {
    /// What is reported of the control plane.
    fn control_plane(&self) -> Option<&HostedControlPlaneStatus> {
        self.seen.control_plane.as_ref()?.status.as_ref()
    }
}

/// The status of a cluster.
pub(crate) fn status(report: &Report<'_>) -> HostedClusterStatus {
    let before = report.cluster.status.clone().unwrap_or_default();
    let control_plane = report.control_plane();
    let version = version::of(report, before.version.as_ref());
    let observed = conditions::observe(report, version.as_ref());
    let generation = report.cluster.metadata.generation;
    HostedClusterStatus {
        conditions: merging::merge(&before.conditions, observed, generation, report.now),
        version,
        control_plane_version: control_plane
            .and_then(|status| status.control_plane_version.clone())
            .or(before.control_plane_version),
        kubeconfig: secret(report, kubeconfigs::ADMIN, names::admin_kubeconfig(report.cluster)),
        custom_kubeconfig: report.cluster.spec.kube_api_server_dns_name.as_ref().and_then(|_| {
            secret(
                report,
                kubeconfigs::CUSTOM_ADMIN,
                names::custom_kubeconfig(report.cluster),
            )
        }),
        kubeadmin_password: password(report),
        ignition_endpoint: ignition_endpoint(report.infrastructure),
        control_plane_endpoint: control_plane.and_then(|status| endpoint(report.cluster, status)),
        oauth_callback_url_template: control_plane.and_then(|status| status.oauth_callback_url_template.clone()),
        payload_arch: report
            .verdict
            .releases
            .as_ref()
            .map(|pair| payload_architecture(&pair.cluster))
            .or(before.payload_arch),
        platform: control_plane.and_then(|status| status.platform.clone()),
        auto_node: control_plane.and_then(|status| status.auto_node.clone()),
        configuration: control_plane.and_then(|status| status.configuration.clone()),
        // Whoever makes backups reports them.
        last_successful_etcd_backup_url: None,
        secret_encryption: control_plane.and_then(|status| status.secret_encryption.clone()),
    }
}

/// A Secret beside the cluster, once there is something to put into it.
fn secret(report: &Report<'_>, source: &str, name: String) -> Option<LocalObjectReference> {
    let content = report.seen.objects.secret_value(source, keys::KUBECONFIG);
    content.map(|_| LocalObjectReference { name })
}

/// The password of the first user, where there is one.
fn password(report: &Report<'_>) -> Option<LocalObjectReference> {
    let found = kubeadmin_password(report.cluster, report.seen);
    found.map(|_| LocalObjectReference {
        name: names::kubeadmin_password(report.cluster),
    })
}

/// Where machines fetch their configuration: host and port.
pub(crate) fn ignition_endpoint(infrastructure: Option<&Infrastructure>) -> Option<String> {
    let endpoint = infrastructure?.ignition.as_ref()?;
    // The port of HTTPS is not written, as browsers do; machines add the scheme themselves.
    Some(match endpoint.port {
        443 => endpoint.host.clone(),
        port => format!("{}:{port}", endpoint.host),
    })
}

fn endpoint(cluster: &HostedCluster, status: &HostedControlPlaneStatus) -> Option<ApiEndpoint> {
    let mut endpoint = status.control_plane_endpoint.clone()?;
    let is_route = cluster.spec.services.iter().any(|entry| {
        entry.service == PublishedService::ApiServer
            && entry.service_publishing_strategy.strategy_type == PublishingStrategyType::Route
    });
    if is_route {
        endpoint.port = ROUTE_PORT;
    }
    Some(endpoint)
}
