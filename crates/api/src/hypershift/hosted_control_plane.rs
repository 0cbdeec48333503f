//! HostedControlPlane: one control plane on the management cluster, made from a HostedCluster.
//!
//! Its shape follows the HostedCluster's, judged less strictly: the HostedCluster was judged already. It is also the
//! control plane that Cluster API sees.

use std::collections::BTreeMap;

use k8s_openapi::{
    api::core::v1::Toleration,
    apimachinery::pkg::apis::meta::v1::{Condition, Time},
};
use serde::{Deserialize, Serialize};

use super::{
    auto_node::{AutoNode, AutoNodeStatus},
    autoscaling::ClusterAutoscaling,
    availability::{AvailabilityPolicy, OlmCatalogPlacement},
    capabilities::Capabilities,
    configuration::{ClusterConfiguration, status::ConfigurationStatus},
    dns::{Dns, DomainName},
    endpoint::ApiEndpoint,
    etcd::Etcd,
    image_content_source::ImageContentSource,
    monitoring::Monitoring,
    networking::ClusterNetworking,
    operator_configuration::OperatorConfiguration,
    ours::ControlPlaneInitialization,
    platform::{Platform, PlatformStatus},
    secret_encryption::{SecretEncryption, status::SecretEncryptionStatus},
    services::ServicePublishing,
    version_status::{ClusterVersionStatus, ControlPlaneVersionStatus},
};
use crate::{
    common::{ConditionSchema, LocalObjectReference, SecretKeyReference, TimeSchema, TolerationSchema},
    constants::labels::{CAPI_CONTRACT_V1BETA1, CAPI_CONTRACT_V1BETA2},
    resource::custom_resource,
    schema::{JsonSchema, immutable, list_map, properties, rule},
};

custom_resource! {
    /// A control plane that runs on this cluster; made from a HostedCluster, not by hand.
    pub struct HostedControlPlane {
        group: "hypershift.openshift.io",
        version: "v1beta1",
        plural: "hostedcontrolplanes",
        scope: Namespaced,
        spec: expected HostedControlPlaneSpec,
        status: HostedControlPlaneStatus,
        @short_names: &["hcp", "hcps"],
        @categories: &["cluster-api"],
        // Cluster API reads here which of our versions follows which of its contracts, and takes the newest: v1beta1
        // asks for ready and initialized, v1beta2 for initialization.
        @labels: &[(CAPI_CONTRACT_V1BETA1.as_str(), "v1beta1"), (CAPI_CONTRACT_V1BETA2.as_str(), "v1beta1")],
    }
}

/// What a control plane is made from.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(
    transform = rule(
        "size(self.services) >= (self.platform.type == 'IBMCloud' ? 3 : 4)",
        "services needs at least four entries, or three on IBMCloud: APIServer, OAuthServer, Konnectivity, Ignition",
    ),
    transform = rule(
        "!has(self.operatorConfiguration) || !has(self.operatorConfiguration.clusterNetworkOperator) || \
         !has(self.operatorConfiguration.clusterNetworkOperator.disableMultiNetwork) || \
         !self.operatorConfiguration.clusterNetworkOperator.disableMultiNetwork || \
         self.networking.networkType == 'Other'",
        "operatorConfiguration.clusterNetworkOperator.disableMultiNetwork needs networkType Other",
    ),
    transform = rule(
        "has(self.secretEncryption) || !has(oldSelf.secretEncryption)",
        "secretEncryption cannot be removed after it has been set: data would stay unreadable",
    ),
)]
pub struct HostedControlPlaneSpec {
    /// The release of the cluster.
    #[schemars(length(max = 255))]
    pub release_image: String,
    /// The release of the control plane, where it differs.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 255))]
    pub control_plane_release_image: Option<String>,
    /// The infrastructure under the cluster.
    pub platform: Platform,
    /// The networks of pods, services and machines.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub networking: Option<ClusterNetworking>,
    /// How each endpoint of the control plane is reached from outside.
    #[schemars(length(max = 6))]
    pub services: Vec<ServicePublishing>,
    /// The cluster's domain.
    pub dns: Dns,
    /// A further name under which the API server is reached.
    #[serde(rename = "kubeAPIServerDNSName", skip_serializing_if = "Option::is_none")]
    pub kube_api_server_dns_name: Option<DomainName>,
    /// The etcd of the control plane.
    pub etcd: Etcd,
    /// Replicas of the control plane.
    #[serde(default = "AvailabilityPolicy::of_control_plane")]
    #[schemars(transform = immutable("controllerAvailabilityPolicy"))]
    pub controller_availability_policy: AvailabilityPolicy,
    /// Replicas of what the cluster runs for itself on its own nodes.
    #[serde(default = "AvailabilityPolicy::of_infrastructure")]
    pub infrastructure_availability_policy: AvailabilityPolicy,
    /// The Secret with the registry credentials.
    pub pull_secret: LocalObjectReference,
    /// The Secret with the public SSH keys of the nodes.
    pub ssh_key: LocalObjectReference,
    /// Where the administrator's kubeconfig is written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kubeconfig: Option<SecretKeyReference>,
    /// How Secrets are encrypted in etcd.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub secret_encryption: Option<SecretEncryption>,
    /// The issuer in the tokens of service accounts.
    #[serde(rename = "issuerURL")]
    #[schemars(length(max = 255))]
    pub issuer_url: String,
    /// The Secret with the private key that signs tokens of service accounts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub service_account_signing_key: Option<LocalObjectReference>,
    /// The ConfigMap with further trusted certificates.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub additional_trust_bundle: Option<LocalObjectReference>,
    /// The Secret that says where audit events are sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub audit_webhook: Option<LocalObjectReference>,
    /// Mirrors from which images are pulled.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 255))]
    pub image_content_sources: Vec<ImageContentSource>,
    /// Optional parts of OpenShift, chosen once.
    #[serde(default)]
    pub capabilities: Capabilities,
    /// Settings in the shapes of OpenShift's configuration API.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub configuration: Option<Box<ClusterConfiguration>>,
    /// Settings of OpenShift's operators.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub operator_configuration: Option<Box<OperatorConfiguration>>,
    /// How the autoscaler treats all node pools.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub autoscaling: Option<ClusterAutoscaling>,
    /// Nodes that appear as workloads need them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub auto_node: Option<AutoNode>,
    /// Which metrics are collected.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub monitoring: Option<Monitoring>,
    /// Labels that a management node must have to run the control plane.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub node_selector: BTreeMap<String, String>,
    /// Taints of management nodes that the control plane puts up with.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(with = "Vec<TolerationSchema>", length(max = 25))]
    pub tolerations: Vec<Toleration>,
    /// Labels on the pods of the control plane.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(transform = properties(None, Some(20)))]
    pub labels: BTreeMap<String, String>,
    /// On which side operator catalogues run.
    #[serde(default)]
    pub olm_catalog_placement: OlmCatalogPlacement,
    /// Asks nodes to use only cryptography that FIPS allows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fips: Option<bool>,
    /// The identity of the cluster towards the outside.
    #[serde(rename = "clusterID", skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 255))]
    pub cluster_id: Option<String>,
    /// The name of the cluster's infrastructure.
    #[serde(rename = "infraID")]
    #[schemars(length(max = 255))]
    pub infra_id: String,
    /// Where the cluster asks for updates.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub update_service: Option<String>,
    /// The channel whose updates the cluster is offered.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 255))]
    pub channel: Option<String>,
    /// Stops all reconciliation: true, or until a point in time.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 255))]
    pub paused_until: Option<String>,
}

/// What is reported of a control plane.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct HostedControlPlaneStatus {
    /// The API server takes requests. Part of Cluster API's contract.
    #[serde(default)]
    pub ready: bool,
    /// The control plane is looked after; true from the first report on, before anything serves. Part of Cluster API's
    /// contract v1beta1. Whether it has served is told by `initialization`.
    #[serde(default)]
    pub initialized: bool,
    /// How far the control plane has come, as Cluster API's contract v1beta2 wants it. An addition of Hyperplane.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub initialization: Option<ControlPlaneInitialization>,
    /// Tells Cluster API that no machine of its own runs this control plane.
    #[serde(default = "managed_externally")]
    pub external_managed_control_plane: bool,
    /// Where clients reach the API server.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub control_plane_endpoint: Option<ApiEndpoint>,
    /// Versions of the cluster as a whole.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version_status: Option<ClusterVersionStatus>,
    /// Versions of the control plane alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub control_plane_version: Option<ControlPlaneVersionStatus>,
    /// Superseded by versionStatus.desired.version.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 255))]
    pub version: Option<String>,
    /// Superseded by versionStatus.desired.image.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 255))]
    pub release_image: Option<String>,
    /// Superseded by the times in versionStatus.history.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<TimeSchema>")]
    pub last_release_image_transition_time: Option<Time>,
    /// The key of a Secret that holds an administrator's kubeconfig.
    #[serde(rename = "kubeConfig", skip_serializing_if = "Option::is_none")]
    pub kube_config: Option<SecretKeyReference>,
    /// The key of a Secret that holds a kubeconfig for the further name of the API server.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub custom_kubeconfig: Option<SecretKeyReference>,
    /// The Secret with the first password of the user kubeadmin.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kubeadmin_password: Option<LocalObjectReference>,
    /// The address that identity providers send users back to, with a place for the provider's name.
    #[serde(rename = "oauthCallbackURLTemplate", skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 255))]
    pub oauth_callback_url_template: Option<String>,
    /// Everything that is observed; each aspect once.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(with = "Vec<ConditionSchema>", length(max = 100), transform = list_map("type"))]
    pub conditions: Vec<Condition>,
    /// How many nodes the hosted cluster has.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<i128>")]
    pub node_count: Option<i64>,
    /// What the platform reports.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub platform: Option<PlatformStatus>,
    /// What the provisioner of automatic nodes reports.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub auto_node: Option<AutoNodeStatus>,
    /// What the hosted cluster reports of its configuration.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub configuration: Option<ConfigurationStatus>,
    /// Which key encrypts Secrets.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub secret_encryption: Option<SecretEncryptionStatus>,
}

fn managed_externally() -> bool {
    true
}

impl Default for HostedControlPlaneStatus {
    fn default() -> Self {
        Self {
            ready: false,
            initialized: false,
            initialization: None,
            external_managed_control_plane: managed_externally(),
            control_plane_endpoint: None,
            version_status: None,
            control_plane_version: None,
            version: None,
            release_image: None,
            last_release_image_transition_time: None,
            kube_config: None,
            custom_kubeconfig: None,
            kubeadmin_password: None,
            oauth_callback_url_template: None,
            conditions: Vec::new(),
            node_count: None,
            platform: None,
            auto_node: None,
            configuration: None,
            secret_encryption: None,
        }
    }
}
