//! DistributionRelease: what one version of a distribution is.

use std::collections::BTreeMap;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use serde::{Deserialize, Serialize};

use super::{
    release_content::{OsImage, ReleaseComponent, ReleaseExtension},
    release_graph::ReleaseEdge,
    release_requirements::{KubeletRequirements, NodeRequirements, ProviderPairing, ReleaseGate},
    release_text::{DistributionName, ImageReference, KubernetesMinor, KubernetesVersion, VersionScheme},
};
use crate::{
    common::ConditionSchema,
    hypershift::ours::DistributionVersion,
    resource::{column, custom_resource, wide},
    schema::{JsonSchema, immutable, list_map, list_set, pattern, properties, rule, text_items},
};

custom_resource! {
    /// What one version of a distribution is: its Kubernetes, its components, what it needs and from where it can be
    /// reached. Many versions may have the same Kubernetes. A HostedCluster or NodePool comes to it by spec.image.
    pub struct DistributionRelease {
        group: "hyperplane.dev",
        version: "v1alpha1",
        plural: "distributionreleases",
        scope: Cluster,
        spec: required DistributionReleaseSpec,
        status: DistributionReleaseStatus,
        @short_names: &["distrel", "distrels"],
        @columns: &[
            column("Distribution", "string", ".spec.distribution", "The distribution"),
            column("Version", "string", ".spec.version", "The version of the distribution"),
            column("Kubernetes", "string", ".spec.kubernetesVersion", "The version of Kubernetes in it"),
            column("Valid", "string", ".status.conditions[?(@.type==\"Valid\")].status", "Whether it can be used"),
            wide("Image", "string", ".spec.image", "The image by which clusters ask for it"),
            column("Age", "date", ".metadata.creationTimestamp", "Time since it was created"),
        ],
    }
}

/// The content of a release. Only distribution, version and kubernetesVersion are required.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = rule(
    "!has(self.edges) || self.edges.all(edge, edge.from != self.version)",
    "an edge must not lead from a version to itself",
))]
pub struct DistributionReleaseSpec {
    /// The distribution, such as kubernetes, openshift or acp.
    #[schemars(transform = immutable("distribution"))]
    pub distribution: DistributionName,
    /// The version of the distribution as a whole.
    #[schemars(transform = immutable("version"))]
    pub version: DistributionVersion,
    /// The version of Kubernetes in it.
    pub kubernetes_version: KubernetesVersion,
    /// By whose rules its versions are ordered. Unset means the scheme that is named like the distribution, or else
    /// kubernetes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scheme: Option<VersionScheme>,
    /// The image by which spec.release.image of a HostedCluster or NodePool asks for the release.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub image: Option<ImageReference>,
    /// Where a person can read about the release.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 2048))]
    pub url: Option<String>,
    /// The day after which nobody mends the release any more, such as 2027-06-28.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 10), transform = pattern("^[0-9]{4}-[0-9]{2}-[0-9]{2}$"))]
    pub end_of_life: Option<String>,
    /// The update channels that carry the release.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 100), transform = text_items(Some(1), Some(63), vec![]), transform = list_set())]
    pub channels: Vec<String>,
    /// Components by name, such as kube-apiserver, etcd or coredns.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(transform = properties(None, Some(512)))]
    pub components: BTreeMap<String, ReleaseComponent>,
    /// Images of operating systems, by platform and architecture.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 256), transform = list_map("platform,architecture"))]
    pub os_images: Vec<OsImage>,
    /// The row of the distribution's support matrix of operating systems that all images come from.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 63))]
    pub support_matrix_row: Option<String>,
    /// Extensions that move with the release.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 256), transform = list_map("name"))]
    pub extensions: Vec<ReleaseExtension>,
    /// Which versions of providers go with the release.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 64), transform = list_map("name"))]
    pub providers: Vec<ProviderPairing>,
    /// The minors of Kubernetes that other clusters may have while their manager has this release; unset means that
    /// the release does not say.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 16), transform = list_set())]
    pub compatible_kubernetes: Vec<KubernetesMinor>,
    /// What every node must offer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nodes: Option<NodeRequirements>,
    /// Fields of the kubelet configuration that the hop to this release must bring, or must not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kubelet: Option<KubeletRequirements>,
    /// What an administrator acknowledges before a cluster enters or leaves the release.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 64), transform = list_map("name"))]
    pub gates: Vec<ReleaseGate>,
    /// From which versions an update to this one is offered. Unset means that no graph says, and the skew policy alone
    /// decides.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 1000), transform = list_map("from"))]
    pub edges: Vec<ReleaseEdge>,
}

/// Whether the release can be used.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DistributionReleaseStatus {
    /// The generation of the spec that this status answers.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 9_007_199_254_740_992_i64))]
    pub observed_generation: Option<i64>,
    /// Valid: whether every version in it can be read and nothing contradicts something else.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(with = "Vec<ConditionSchema>", transform = list_map("type"))]
    pub conditions: Vec<Condition>,
}
