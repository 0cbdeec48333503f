//! HostedCluster: a cluster that a user asks for.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::Toleration;
use serde::{Deserialize, Serialize};

use super::{
    auto_node::AutoNode,
    autoscaling::ClusterAutoscaling,
    availability::{AvailabilityPolicy, OlmCatalogPlacement},
    capabilities::Capabilities,
    configuration::ClusterConfiguration,
    dns::{Dns, DomainName},
    etcd::Etcd,
    hosted_cluster_status::HostedClusterStatus,
    image_content_source::ImageContentSource,
    monitoring::Monitoring,
    networking::ClusterNetworking,
    operator_configuration::OperatorConfiguration,
    ours::DistributionVersion,
    paused::PausedUntil,
    platform::Platform,
    release::Release,
    secret_encryption::SecretEncryption,
    services::ServicePublishing,
};
use crate::{
    common::{LocalObjectReference, TolerationSchema},
    resource::{column, custom_resource, wide},
    schema::{JsonSchema, immutable, properties, rule},
    text::string_type,
};

custom_resource! {
    /// A Kubernetes cluster whose control plane runs as workloads on this one.
    pub struct HostedCluster {
        group: "hypershift.openshift.io",
        version: "v1beta1",
        plural: "hostedclusters",
        scope: Namespaced,
        spec: expected HostedClusterSpec,
        status: HostedClusterStatus,
        @short_names: &["hc", "hcs"],
        @columns: &[
            column(
                "Version",
                "string",
                r#".status.version.history[?(@.state=="Completed")].version"#,
                "Version that the whole cluster has reached",
            ),
            column(
                "CP Version",
                "string",
                r#".status.controlPlaneVersion.history[?(@.state=="Completed")].version"#,
                "Version that the control plane has reached",
            ),
            column("KubeConfig", "string", ".status.kubeconfig.name", "Secret with the kubeconfig of an administrator"),
            column("Progress", "string", r#".status.version.history[?(@.state!="")].state"#, "State of the newest version"),
            column(
                "Available",
                "string",
                r#".status.conditions[?(@.type=="Available")].status"#,
                "Whether the control plane serves",
            ),
            column(
                "Progressing",
                "string",
                r#".status.conditions[?(@.type=="Progressing")].status"#,
                "Whether a version is being rolled out",
            ),
            column(
                "Message",
                "string",
                r#".status.conditions[?(@.type=="Available")].message"#,
                "Why the control plane serves or not",
            ),
            wide(
                "CP Progress",
                "string",
                ".status.controlPlaneVersion.history[0].state",
                "State of the newest version of the control plane",
            ),
            wide("DP Progress", "string", ".status.version.history[0].state", "State of the newest version of the nodes' side"),
        ],
        @rules: || {
            vec![
                rule(
                    "!has(oldSelf.spec) || !has(oldSelf.spec.infraID) || has(self.spec) && has(self.spec.infraID)",
                    "spec.infraID cannot be removed after it has been set",
                ),
                rule(
                    "!has(oldSelf.spec) || !has(oldSelf.spec.clusterID) || has(self.spec) && has(self.spec.clusterID)",
                    "spec.clusterID cannot be removed after it has been set",
                ),
            ]
        },
    }
}

string_type! {
    /// A UUID. As in HyperShift, only its presence in the text is asked for, which the length makes exact.
    pub struct ClusterId {
        length: 36..=36,
        matches: r"[a-fA-F0-9]{8}-[a-fA-F0-9]{4}-[a-fA-F0-9]{4}-[a-fA-F0-9]{4}-[a-fA-F0-9]{12}"
            => "must be a UUID in hexadecimal digits",
    }
}

string_type! {
    /// The name of a cluster's infrastructure: a DNS label, though longer than one may be.
    pub struct InfraId {
        length: 1..=253,
        matches: r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?$"
            => "must be lower-case letters, digits and dashes, with no dash at either end",
    }
}

/// The issuer of service account tokens when none is chosen; it is only known inside the cluster.
pub const DEFAULT_ISSUER_URL: &str = "https://kubernetes.default.svc";

/// The issuer that tokens of service accounts name, for what spec.issuerURL says.
pub fn issuer_of_service_accounts(given: &str) -> &str {
    match given.trim_end_matches('/') {
        "" => DEFAULT_ISSUER_URL,
        given => given,
    }
}

/// What a user asks of a hosted cluster.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(
    transform = rule(
        "size(self.services) >= (self.platform.type == 'IBMCloud' ? 3 : 4)",
        "services needs at least four entries, or three on IBMCloud: APIServer, OAuthServer, Konnectivity, Ignition",
    ),
    transform = rule(
        "self.platform.type == 'IBMCloud' || self.services == oldSelf.services",
        "services cannot be changed after creation, except on IBMCloud",
    ),
    transform = rule(
        "self.platform.type != 'Azure' || \
         (has(self.platform.azure) && has(self.platform.azure.azureAuthenticationConfig) && \
         has(self.platform.azure.azureAuthenticationConfig.azureAuthenticationConfigType) && \
         self.platform.azure.azureAuthenticationConfig.azureAuthenticationConfigType == 'WorkloadIdentities') || \
         self.services.exists(s, s.service == 'OAuthServer' && s.servicePublishingStrategy.type == 'Route')",
        "on Azure with managed identities, publish OAuthServer by Route",
    ),
    transform = rule(
        "self.platform.type != 'Azure' || \
         !has(self.platform.azure) || !has(self.platform.azure.azureAuthenticationConfig) || \
         !has(self.platform.azure.azureAuthenticationConfig.azureAuthenticationConfigType) || \
         self.platform.azure.azureAuthenticationConfig.azureAuthenticationConfigType != 'WorkloadIdentities' || \
         self.services.exists(s, s.service == 'OAuthServer' && s.servicePublishingStrategy.type in ['Route', 'LoadBalancer'])",
        "on Azure with workload identities, publish OAuthServer by Route or LoadBalancer",
    ),
    transform = rule(
        "self.platform.type != 'Azure' || \
         self.services.exists(s, s.service == 'Konnectivity' && s.servicePublishingStrategy.type == 'Route')",
        "on Azure, publish Konnectivity by Route",
    ),
    transform = rule(
        "self.platform.type != 'Azure' || \
         self.services.exists(s, s.service == 'Ignition' && s.servicePublishingStrategy.type == 'Route')",
        "on Azure, publish Ignition by Route",
    ),
    transform = rule(
        "!has(self.serviceAccountSigningKey) || has(self.issuerURL)",
        "serviceAccountSigningKey needs issuerURL",
    ),
    transform = rule(
        "!has(self.configuration) || !has(self.configuration.apiServer) || \
         !has(self.configuration.apiServer.servingCerts) || \
         !has(self.configuration.apiServer.servingCerts.namedCertificates) || \
         !self.services.exists(s, s.service == 'APIServer' && has(s.servicePublishingStrategy.loadBalancer) && \
         s.servicePublishingStrategy.loadBalancer.hostname != '' && \
         self.configuration.apiServer.servingCerts.namedCertificates.exists(c, has(c.names) && \
         c.names.exists(name, name == s.servicePublishingStrategy.loadBalancer.hostname)))",
        "a name under configuration.apiServer.servingCerts.namedCertificates is the APIServer load balancer's \
         hostname, whose certificate Hyperplane issues itself: remove one of the two",
    ),
    transform = rule(
        "!has(self.operatorConfiguration) || !has(self.operatorConfiguration.clusterNetworkOperator) || \
         !has(self.operatorConfiguration.clusterNetworkOperator.disableMultiNetwork) || \
         !self.operatorConfiguration.clusterNetworkOperator.disableMultiNetwork || \
         self.networking.networkType == 'Other'",
        "operatorConfiguration.clusterNetworkOperator.disableMultiNetwork needs networkType Other",
    ),
    transform = rule(
        "!has(self.operatorConfiguration) || !has(self.operatorConfiguration.clusterNetworkOperator) || \
         !has(self.operatorConfiguration.clusterNetworkOperator.ovnKubernetesConfig) || \
         self.networking.networkType == 'OVNKubernetes'",
        "operatorConfiguration.clusterNetworkOperator.ovnKubernetesConfig needs networkType OVNKubernetes",
    ),
    transform = rule(
        "has(self.secretEncryption) || !has(oldSelf.secretEncryption)",
        "secretEncryption cannot be removed after it has been set: data would stay unreadable",
    ),
)]
pub struct HostedClusterSpec {
    /// The release of the cluster. It moves the control plane, unless controlPlaneRelease is set, and what the
    /// cluster runs on its nodes; each NodePool moves its nodes by a release of its own.
    pub release: Release,
    /// A release for the control plane alone, to patch what runs on the management side.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub control_plane_release: Option<Release>,
    /// The version of the whole cluster. Set, it drives extensions, control plane and node pools together, in an
    /// order that is proven safe; unset, release moves each of them. An addition of Hyperplane.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub distribution_version: Option<DistributionVersion>,
    /// The infrastructure under the cluster.
    pub platform: Platform,
    /// The networks of pods, services and machines.
    #[serde(default)]
    pub networking: ClusterNetworking,
    /// How each endpoint of the control plane is reached from outside. APIServer, OAuthServer, Konnectivity and
    /// Ignition are needed.
    #[schemars(length(max = 6))]
    pub services: Vec<ServicePublishing>,
    /// The cluster's domain.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dns: Option<Dns>,
    /// A further name under which the API server is reached; a kubeconfig for it appears in
    /// status.customKubeconfig.
    #[serde(rename = "kubeAPIServerDNSName", skip_serializing_if = "Option::is_none")]
    pub kube_api_server_dns_name: Option<DomainName>,
    /// The etcd of the control plane.
    #[serde(default)]
    pub etcd: Etcd,
    /// Replicas of the control plane.
    #[serde(default = "AvailabilityPolicy::of_control_plane")]
    #[schemars(transform = immutable("controllerAvailabilityPolicy"))]
    pub controller_availability_policy: AvailabilityPolicy,
    /// Replicas of what the cluster runs for itself on its own nodes, such as the router.
    #[serde(default = "AvailabilityPolicy::of_infrastructure")]
    pub infrastructure_availability_policy: AvailabilityPolicy,
    /// The Secret with the registry credentials, under the key .dockerconfigjson. A new name rolls the nodes.
    pub pull_secret: LocalObjectReference,
    /// The Secret with the public SSH keys of the nodes, under the key id_rsa.pub.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ssh_key: Option<LocalObjectReference>,
    /// How Secrets are encrypted in etcd. Can be changed, but not removed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub secret_encryption: Option<SecretEncryption>,
    /// The issuer in the tokens of service accounts.
    #[serde(rename = "issuerURL", default = "default_issuer_url")]
    #[schemars(
        length(max = 255),
        transform = immutable("issuerURL"),
        transform = rule("isURL(self)", "issuerURL must be an absolute URL such as https://issuer.example.com"),
    )]
    pub issuer_url: String,
    /// The Secret with the private key that signs tokens of service accounts, under the key named key. Unset means
    /// a key is made.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub service_account_signing_key: Option<LocalObjectReference>,
    /// The ConfigMap with further trusted certificates, under the key ca-bundle.crt. A new name rolls the nodes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub additional_trust_bundle: Option<LocalObjectReference>,
    /// The Secret that says where audit events are sent, under the key webhook-kubeconfig.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub audit_webhook: Option<LocalObjectReference>,
    /// Mirrors from which nodes pull images. A change rolls the nodes.
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
    /// Nodes that appear as workloads need them, without a NodePool.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub auto_node: Option<AutoNode>,
    /// Which metrics of the control plane are collected.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub monitoring: Option<Monitoring>,
    /// Labels that a management node must have to run the control plane.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(transform = rule("size(self) <= 20", "nodeSelector takes no more than 20 labels"))]
    pub node_selector: BTreeMap<String, String>,
    /// Taints of management nodes that the control plane puts up with.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(with = "Vec<TolerationSchema>", length(max = 25))]
    pub tolerations: Vec<Toleration>,
    /// Labels on the pods of the control plane. A change restarts them.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(transform = properties(None, Some(20)))]
    pub labels: BTreeMap<String, String>,
    /// On which side operator catalogues run.
    #[serde(default)]
    #[schemars(transform = immutable("olmCatalogPlacement"))]
    pub olm_catalog_placement: OlmCatalogPlacement,
    /// Asks nodes to use only cryptography that FIPS allows.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(transform = immutable("fips"))]
    pub fips: Option<bool>,
    /// The identity of the cluster towards the outside. Chosen when unset.
    #[serde(rename = "clusterID", skip_serializing_if = "Option::is_none")]
    #[schemars(transform = rule("oldSelf == '' || self == oldSelf", "clusterID cannot be changed after it has been set"))]
    pub cluster_id: Option<ClusterId>,
    /// The name of the cluster's infrastructure. Chosen when unset.
    #[serde(rename = "infraID", skip_serializing_if = "Option::is_none")]
    #[schemars(transform = rule("oldSelf == '' || self == oldSelf", "infraID cannot be changed after it has been set"))]
    pub infra_id: Option<InfraId>,
    /// Where the cluster asks for updates.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(transform = rule("isURL(self)", "updateService must be an absolute URL such as https://updates.example.com"))]
    pub update_service: Option<String>,
    /// The channel whose updates the cluster is offered.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 100))]
    pub channel: Option<String>,
    /// Stops all reconciliation: true, or until a point in time (RFC 3339).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub paused_until: Option<PausedUntil>,
}

fn default_issuer_url() -> String {
    DEFAULT_ISSUER_URL.to_owned()
}
