//! What is to exist for a cluster, as values. Pure: no client, no clock, no chance.

mod cluster_api;
mod copies;
mod hosted_control_plane;
mod kubeconfig;
mod mirrored;
mod namespace;
mod network_policies;
mod rbac;
#[cfg(test)]
mod tests;

use hyperplane_api::{
    constants::ours,
    hypershift::{hosted_cluster::HostedCluster, hosted_control_plane::HostedControlPlane},
};
use hyperplane_components::has_dedicated_operators;
use hyperplane_platforms::{Infrastructure, Platform};
use k8s_openapi::api::{
    core::v1::{ConfigMap, Namespace, Secret, ServiceAccount},
    networking::v1::NetworkPolicy,
    rbac::v1::{ClusterRole, ClusterRoleBinding, Role, RoleBinding},
};
use kube::ResourceExt as _;

pub use self::rbac::manager_rules;
pub(crate) use self::{
    cluster_api::{ClusterApi, cluster_with_pause},
    hosted_control_plane::with_pause,
    kubeconfig::{kubeadmin_password, obsolete},
    namespace::claim,
    network_policies::{MachinesElsewhere, elsewhere, elsewhere_name},
};
use crate::{dereference::Seen, metadata, names, settings::HostedClusterSettings, validate::Case};

/// From what everything is built.
#[derive(Clone, Copy)]
pub(crate) struct Blueprint<'a> {
    /// The cluster, which is complete and valid.
    pub(crate) cluster: &'a HostedCluster,
    /// The name of its infrastructure.
    pub(crate) infra_id: &'a str,
    /// The namespace of its control plane.
    pub(crate) namespace: &'a str,
    /// What was seen.
    pub(crate) seen: &'a Seen,
    /// What the operator was told.
    pub(crate) settings: &'a HostedClusterSettings,
    /// The platform.
    pub(crate) platform: &'static dyn Platform,
    /// The user that pods run as, where the management cluster assigns none.
    pub(crate) user_id: Option<i64>,
    /// Where machines fetch their configuration: host and port.
    pub(crate) ignition_endpoint: Option<&'a str>,
    /// Which components of Cluster API run for this cluster.
    pub(crate) of_cluster_api: &'a [&'a str],
}

/// Everything that is to exist.
#[derive(Clone, Debug)]
pub(crate) struct Desired {
    pub(crate) namespace: Namespace,
    pub(crate) secrets: Vec<Secret>,
    pub(crate) config_maps: Vec<ConfigMap>,
    /// Names of copies that stay as they are, because they are as their originals.
    pub(crate) kept_secrets: Vec<String>,
    pub(crate) kept_config_maps: Vec<String>,
    pub(crate) service_accounts: Vec<ServiceAccount>,
    pub(crate) roles: Vec<Role>,
    pub(crate) role_bindings: Vec<RoleBinding>,
    pub(crate) cluster_roles: Vec<ClusterRole>,
    pub(crate) cluster_role_bindings: Vec<ClusterRoleBinding>,
    pub(crate) network_policies: Vec<NetworkPolicy>,
    pub(crate) control_plane: HostedControlPlane,
    pub(crate) infrastructure: Infrastructure,
    pub(crate) cluster_api: Option<ClusterApi>,
    /// Secrets beside the cluster.
    pub(crate) kubeconfigs: Vec<Secret>,
}

/// Builds everything.
pub(crate) fn build(blueprint: &Blueprint<'_>) -> Desired {
    let copies = copies::build(blueprint);
    let access = rbac::build(blueprint);
    let (infrastructure, cluster_api) = cluster_api::build(blueprint);
    Desired {
        namespace: namespace::build(blueprint),
        secrets: copies.secrets,
        config_maps: copies.config_maps,
        kept_secrets: copies.kept_secrets,
        kept_config_maps: copies.kept_config_maps,
        service_accounts: access.service_accounts,
        roles: access.roles,
        role_bindings: access.role_bindings,
        cluster_roles: access.cluster_roles,
        cluster_role_bindings: access.cluster_role_bindings,
        network_policies: network_policies::build(blueprint),
        control_plane: hosted_control_plane::build(blueprint),
        infrastructure,
        cluster_api,
        kubeconfigs: kubeconfig::build(blueprint),
    }
}

/// The control plane that a cluster would get, for those who judge the cluster before it gets one.
pub(crate) fn preview(case: &Case<'_>) -> HostedControlPlane {
    let platform = hyperplane_platforms::of(&case.cluster.spec);
    let namespace = names::namespace_of(case.cluster);
    hosted_control_plane::build(&Blueprint {
        cluster: case.cluster,
        infra_id: case.cluster.spec.infra_id.as_ref().map_or("", |id| id.as_str()),
        namespace: &namespace,
        seen: case.seen,
        settings: case.settings,
        platform: platform.unwrap_or(hyperplane_platforms::ALL[0]),
        user_id: None,
        ignition_endpoint: None,
        of_cluster_api: &[],
    })
}

impl Blueprint<'_> {
    /// Whether the operators of this control plane run in its namespace: as its cluster says, or as all of them do.
    fn has_dedicated_operators(&self) -> bool {
        let is_usual = self.settings.dedicates_operators && ours::TENANT_OPERATORS.of(self.cluster).is_none();
        is_usual || has_dedicated_operators(self.cluster)
    }

    /// Metadata of an object in the namespace of the control plane.
    pub(crate) fn metadata(&self, name: &str) -> k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta {
        metadata::in_namespace(self.cluster, self.namespace, name)
    }
}

/// The name of the control plane of a cluster.
pub(crate) fn control_plane_name(cluster: &HostedCluster) -> String {
    cluster.name_any()
}
