//! Everything that a render depends on. Two equal inputs give equal manifests, byte for byte.

use std::{borrow::Cow, collections::BTreeMap, fmt, sync::Arc};

use hyperplane_api::{
    constants::{Annotation, annotations, ours},
    hypershift::{
        availability::AvailabilityPolicy,
        configuration::{
            ClusterConfiguration, api_server::ApiServerConfiguration, authentication::AuthenticationConfiguration,
        },
        hosted_control_plane::HostedControlPlane,
        networking::ClusterNetworking,
        platform_type::PlatformType,
    },
};
use hyperplane_planner::{release::Release, version::Version};
use k8s_openapi::api::core::v1::{ConfigMap, Secret};

use crate::infrastructure::Infrastructure;

/// The revision of our manifests that new control planes get. A control plane keeps the revision that it has until its
/// next upgrade: a newer program alone restarts nothing.
pub const RENDER_REVISION: u32 = 1;

/// The value of the topology annotation by which pods on the way of a request get nodes of their own.
const DEDICATED_REQUEST_SERVING: &str = "dedicated-request-serving-components";

/// The value of the annotation by which the operators of a control plane run in its namespace.
const DEDICATED_OPERATORS: &str = "dedicated";

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
    /// The revision of our manifests.
    pub revision: u32,
    /// The newest revision that this program knows, which is [`RENDER_REVISION`] but in tests.
    pub newest_revision: u32,
}

impl<'a> Inputs<'a> {
    /// The namespace of the control plane.
    pub fn namespace(&self) -> &'a str {
        self.control_plane.metadata.namespace.as_deref().unwrap_or_default()
    }

    /// An annotation of the control plane; an empty one counts as absent.
    pub fn annotation(&self, key: Annotation) -> Option<&'a str> {
        key.of(self.control_plane)
    }

    /// Whether components have more than one replica.
    pub fn is_highly_available(&self) -> bool {
        self.control_plane.spec.controller_availability_policy == AvailabilityPolicy::HighlyAvailable
    }

    /// Whether pods on the way of a request get nodes of their own.
    pub fn has_dedicated_request_serving_nodes(&self) -> bool {
        self.annotation(annotations::TOPOLOGY) == Some(DEDICATED_REQUEST_SERVING)
    }

    /// Whether the operators of this control plane run in its namespace. An operator image of its own forces it.
    pub fn has_dedicated_operators(&self) -> bool {
        has_dedicated_operators(self.control_plane)
    }

    /// Whether an annotation is set to true.
    pub fn is_set(&self, key: Annotation) -> bool {
        self.annotation(key) == Some("true")
    }

    /// Whether a component is in an annotation that lists components with commas between them.
    pub fn is_listed(&self, key: Annotation, component: &str) -> bool {
        let listed = self.annotation(key).unwrap_or_default();
        listed.split(',').any(|one| one.trim() == component)
    }

    /// The platform.
    pub fn platform(&self) -> &'a PlatformType {
        &self.control_plane.spec.platform.type_
    }

    /// The networks, with what an API server would have defaulted.
    pub fn networking(&self) -> Cow<'a, ClusterNetworking> {
        match &self.control_plane.spec.networking {
            Some(networking) => Cow::Borrowed(networking),
            None => Cow::Owned(ClusterNetworking::default()),
        }
    }

    /// The configuration, where there is one.
    pub fn configuration(&self) -> Option<&'a ClusterConfiguration> {
        self.control_plane.spec.configuration.as_deref()
    }

    /// The part of the configuration that concerns the API servers.
    pub fn api_server(&self) -> Option<&'a ApiServerConfiguration> {
        self.configuration()?.api_server.as_ref()
    }

    /// The part of the configuration that says where users come from.
    pub fn authentication(&self) -> Option<&'a AuthenticationConfiguration> {
        self.configuration()?.authentication.as_ref()
    }

    /// The ports that Services of type NodePort take, where they are chosen.
    pub fn node_ports(&self) -> Option<&'a str> {
        let configuration = self.control_plane.spec.configuration.as_deref();
        let network = configuration.and_then(|configuration| configuration.network.as_ref());
        network.and_then(|network| network.service_node_port_range.as_deref())
    }

    /// The image that the components of the management side are asked to be of.
    pub fn release_image(&self) -> &'a str {
        let spec = &self.control_plane.spec;
        spec.control_plane_release_image
            .as_deref()
            .unwrap_or(&spec.release_image)
    }

    /// The version that components on the management side are to reach.
    pub fn desired_version(&self) -> &'a str {
        self.release.version.number()
    }
}

/// Whether the operators of a control plane run in its namespace. An operator image of its own forces it. The cluster
/// and its control plane carry the same annotations.
pub fn has_dedicated_operators<K: kube::Resource>(control_plane: &K) -> bool {
    ours::TENANT_OPERATORS.of(control_plane) == Some(DEDICATED_OPERATORS)
        || annotations::CONTROL_PLANE_OPERATOR_IMAGE.of(control_plane).is_some()
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
    /// Whether our own controllers make and remove machines, so that no manager of Cluster API must.
    pub runs_machines: bool,
}

/// Secrets and ConfigMaps of one namespace, by name.
#[derive(Clone, Default)]
pub struct Objects {
    /// Secrets.
    pub secrets: BTreeMap<String, Arc<Secret>>,
    /// ConfigMaps.
    pub config_maps: BTreeMap<String, Arc<ConfigMap>>,
}

impl Objects {
    /// A value of a Secret, if both exist.
    pub fn secret_value(&self, name: &str, key: &str) -> Option<&[u8]> {
        let data = self.secrets.get(name)?.data.as_ref()?;
        data.get(key).map(|value| value.0.as_slice())
    }

    /// A value of a ConfigMap, if both exist.
    pub fn config_map_value(&self, name: &str, key: &str) -> Option<&str> {
        let data = self.config_maps.get(name)?.data.as_ref()?;
        data.get(key).map(String::as_str)
    }
}

/// Names only: what Secrets hold is not for logs.
impl fmt::Debug for Objects {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = formatter.debug_struct("Objects");
        let shown = shown.field("secrets", &self.secrets.keys().collect::<Vec<_>>());
        shown
            .field("config_maps", &self.config_maps.keys().collect::<Vec<_>>())
            .finish()
    }
}
