//! What has been observed of a node pool.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use serde::{Deserialize, Serialize};

use super::OsImageStream;
use crate::{
    common::TimeSchema,
    hypershift::platform::kubevirt::KubeVirtCredentials,
    schema::{FeatureGate, JsonSchema, atomic, gated},
    text::{string_enum, string_type},
};

string_type! {
    /// A version of the kubelet, as a node reports it.
    pub struct KubeletVersion {
        length: 1..=64,
        matches: r"^v?[0-9]+\.[0-9]+\.[0-9]+.*$" => "must begin with three numbers, such as v1.36.4",
    }
}

string_type! {
    /// A version of a release.
    pub struct ReleaseVersion {
        length: 1..=64,
        matches: r"^[0-9]+\.[0-9]+\.[0-9]+.*$" => "must begin with three numbers, such as 1.36.4",
    }
}

string_enum! {
    /// Whether a condition holds.
    pub enum ConditionStatus {
        /// It holds.
        True,
        /// It does not hold.
        False,
        /// It cannot be told.
        Unknown,
    }
}

string_enum! {
    /// How bad it is that a condition does not hold, in the words of Cluster API.
    pub enum ConditionSeverity {
        /// Somebody must act.
        Error,
        /// Somebody should look.
        Warning,
        /// It will pass.
        Info,
    }
}

/// What has been observed of a node pool.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NodePoolStatus {
    /// How many nodes the pool has.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replicas: Option<i32>,
    /// The version of the release that has reached every node.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 64))]
    pub version: Option<String>,
    /// Which versions the nodes run, counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nodes_info: Option<NodesInfo>,
    /// The stream of operating system images that the nodes run; unset means that of the release.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(transform = gated(FeatureGate::OsStreams))]
    pub os_image_stream: Option<OsImageStream>,
    /// What only one platform reports.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub platform: Option<NodePoolPlatformStatus>,
    /// Every aspect that is watched, each with its present state.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 100))]
    pub conditions: Vec<NodePoolCondition>,
}

/// One observed aspect of a node pool. Reasons may come from Cluster API, so they follow no pattern, as those of
/// other kinds do.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NodePoolCondition {
    /// Which aspect this is.
    #[serde(rename = "type")]
    #[schemars(length(max = 316))]
    pub type_: String,
    /// Whether the aspect holds: True, False or Unknown.
    #[schemars(with = "String")]
    pub status: ConditionStatus,
    /// How bad it is: Error, Warning or Info; only where the status is False.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>", length(max = 1024))]
    pub severity: Option<ConditionSeverity>,
    /// When the status was last another one.
    #[schemars(with = "TimeSchema")]
    pub last_transition_time: Time,
    /// The cause in one word, for programs.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 1024))]
    pub reason: Option<String>,
    /// The explanation for a person.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 32_768))]
    pub message: Option<String>,
    /// The generation of the spec that was judged.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub observed_generation: Option<i64>,
}

/// Which versions the nodes of a pool run.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NodesInfo {
    /// One entry for each pair of release and kubelet that at least one node runs.
    #[schemars(length(min = 1, max = 100), transform = atomic())]
    pub node_versions: Vec<NodeVersion>,
}

/// How many nodes run one pair of release and kubelet.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NodeVersion {
    /// The version of the release that the nodes got.
    pub ocp_version: ReleaseVersion,
    /// The version of the kubelet that the nodes report.
    pub kubelet_version: KubeletVersion,
    /// How many of the nodes are healthy.
    #[schemars(range(min = 0))]
    pub ready_node_count: i32,
    /// How many of the nodes are not healthy, or not known to be.
    #[schemars(range(min = 0))]
    pub unready_node_count: i32,
}

/// What only one platform reports.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NodePoolPlatformStatus {
    /// What KubeVirt reports.
    #[serde(rename = "kubeVirt", skip_serializing_if = "Option::is_none")]
    pub kubevirt: Option<KubeVirtNodePoolStatus>,
}

/// What KubeVirt reports of a node pool.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct KubeVirtNodePoolStatus {
    /// Name of the DataVolume that caches the boot image, where there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 255))]
    pub cache_name: Option<String>,
    /// How the cluster with the virtual machines is reached, where it is not the management cluster.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub credentials: Option<KubeVirtCredentials>,
}
