//! Everything that a render depends on. Two equal inputs give equal manifests, byte for byte.

use std::{collections::BTreeMap, sync::Arc};

use hyperplane_api::hypershift::hosted_control_plane::HostedControlPlane;
use hyperplane_planner::{release::Release, version::Version};
use k8s_openapi::api::core::v1::{ConfigMap, Secret};

use crate::infrastructure::Infrastructure;

/// The revision of our manifests that new control planes get. A control plane keeps the revision that it has until its
/// next upgrade: a newer program alone restarts nothing.
pub const RENDER_REVISION: u32 = 1;

/// What components are rendered from.
#[derive(Clone, Copy, Debug)]
pub struct Inputs<'a> {
    /// The control plane.
    pub control_plane: &'a HostedControlPlane,
    /// The release of what runs on the management cluster.
    pub release: &'a Release,
    /// The release of what is seen inside of the hosted cluster.
    pub cluster_release: &'a Release,
    /// Where the control plane is reached from outside.
    pub infrastructure: &'a Infrastructure,
    /// The management cluster.
    pub management: &'a Management,
    /// Secrets and ConfigMaps in the namespace of the control plane.
    pub objects: &'a Objects,
    /// The revision of our manifests, at most [`RENDER_REVISION`].
    pub revision: u32,
}

/// What is known of the management cluster.
#[derive(Clone, Debug, PartialEq)]
pub struct Management {
    /// Its version of Kubernetes.
    pub kubernetes: Version,
    /// In how many zones it has nodes.
    pub zones: usize,
    /// The image of this program, for what we run ourselves.
    pub image: String,
    /// Whether monitors can be written, by the API groups that it serves.
    pub has_monitors: bool,
    /// The user that pods run as in this namespace; none where the cluster chooses one itself.
    pub user_id: Option<i64>,
    /// The domain under which strategy Route gives names to endpoints without a hostname of their own.
    pub ingress_domain: Option<String>,
}

/// Secrets and ConfigMaps of one namespace, by name.
#[derive(Clone, Debug, Default)]
pub struct Objects {
    /// Secrets.
    pub secrets: BTreeMap<String, Arc<Secret>>,
    /// ConfigMaps.
    pub config_maps: BTreeMap<String, Arc<ConfigMap>>,
}
