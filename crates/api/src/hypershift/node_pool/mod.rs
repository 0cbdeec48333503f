//! NodePool: a number of like nodes of a hosted cluster, their release and how they change.

pub mod management;
pub mod platform;
pub mod status;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use self::{management::NodePoolManagement, platform::NodePoolPlatform, status::NodePoolStatus};
use super::{paused::NodePoolPausedUntil, release::Release};
use crate::{
    common::{GoDuration, LocalObjectReference},
    resource::{Scale, column, custom_resource},
    schema::{FeatureGate, JsonSchema, gated, immutable, rule},
    text::{string_enum, string_type},
};

custom_resource! {
    /// A number of like nodes of one hosted cluster.
    pub struct NodePool {
        group: "hypershift.openshift.io",
        version: "v1beta1",
        plural: "nodepools",
        scope: Namespaced,
        spec: expected NodePoolSpec,
        status: NodePoolStatus,
        @short_names: &["np", "nps"],
        @columns: &[
            column("Cluster", "string", ".spec.clusterName", "The hosted cluster that the nodes belong to"),
            column("Desired Nodes", "integer", ".spec.replicas", "How many nodes are wanted"),
            column("Current Nodes", "integer", ".status.replicas", "How many nodes there are"),
            column(
                "Autoscaling",
                "string",
                r#".status.conditions[?(@.type=="AutoscalingEnabled")].status"#,
                "Whether load decides how many nodes there are",
            ),
            column(
                "Autorepair",
                "string",
                r#".status.conditions[?(@.type=="AutorepairEnabled")].status"#,
                "Whether unhealthy machines are replaced",
            ),
            column("Version", "string", ".status.version", "The version that every node has reached"),
            column(
                "UpdatingVersion",
                "string",
                r#".status.conditions[?(@.type=="UpdatingVersion")].status"#,
                "Whether a new version is being rolled out",
            ),
            column(
                "UpdatingConfig",
                "string",
                r#".status.conditions[?(@.type=="UpdatingConfig")].status"#,
                "Whether a new configuration is being rolled out",
            ),
            column("Message", "string", r#".status.conditions[?(@.type=="Ready")].message"#, "Why it is ready or not"),
        ],
        @scale: Some(Scale { spec: ".spec.replicas", status: ".status.replicas", selector: None }),
    }
}

string_type! {
    /// Name of a HostedCluster, which must also be a DNS label.
    pub struct ClusterName {
        length: 1..=253,
        matches: r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?$"
            => "must be lower-case letters, digits and dashes, with a letter or digit at both ends",
    }
}

string_enum! {
    /// The processor architecture of the machines.
    #[derive(Default)]
    pub enum Architecture {
        /// 64-bit Arm.
        Arm64 = "arm64",
        /// 64-bit x86.
        #[default]
        Amd64 = "amd64",
        /// 64-bit Power, little endian.
        Ppc64le = "ppc64le",
        /// IBM Z.
        S390x = "s390x",
    }
}

/// What is wanted of a node pool.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(
    transform = rule(
        "!has(oldSelf.osImageStream) || has(self.osImageStream)",
        "osImageStream cannot be taken away again; set it to the stream that you want",
    ).only_with(FeatureGate::OsStreams),
    transform = rule(
        "!has(oldSelf.arch) || has(self.arch)",
        "arch cannot be taken away again",
    ),
    transform = rule(
        "self.arch != 'arm64' || has(self.platform.aws) || has(self.platform.azure) || has(self.platform.agent) || \
         self.platform.type in ['GCP', 'None']",
        "arch can be arm64 only on AWS, Azure, Agent, GCP and None",
    ),
    transform = rule(
        "self.arch != 's390x' || has(self.platform.kubevirt)",
        "arch can be s390x only on KubeVirt",
    ),
    transform = rule(
        "self.arch == 'amd64' || !has(self.platform.aws) || !has(self.platform.aws.imageType) || \
         self.platform.aws.imageType != 'Windows'",
        "Windows images exist only for arch amd64",
    ),
    transform = rule(
        "!(has(self.replicas) && has(self.autoScaling))",
        "set either replicas or autoScaling, not both",
    ),
    transform = rule(
        "!has(self.autoScaling) || self.autoScaling.min > 0 || self.platform.type in ['AWS', 'Azure']",
        "autoScaling.min can be 0 only on AWS and Azure",
    ),
)]
pub struct NodePoolSpec {
    /// Name of the HostedCluster, in the same namespace, that the nodes belong to. It may come later than the pool.
    #[schemars(transform = immutable("clusterName"))]
    pub cluster_name: ClusterName,
    /// The release that the nodes run; a new one rolls all of them. It must not be newer than the control plane.
    pub release: Release,
    /// Where the machines come from.
    pub platform: NodePoolPlatform,
    /// How many nodes are wanted; unset without autoScaling means none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replicas: Option<i32>,
    /// Bounds within which load decides how many nodes there are, in place of replicas.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub auto_scaling: Option<NodePoolAutoScaling>,
    /// How nodes are upgraded and repaired.
    pub management: NodePoolManagement,
    /// The processor architecture of the machines.
    #[serde(default)]
    #[schemars(transform = immutable("arch"))]
    pub arch: Architecture,
    /// ConfigMaps with machine configuration in the key config; a change rolls the nodes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 10))]
    pub config: Vec<LocalObjectReference>,
    /// ConfigMaps with tuning profiles in the key tuning; a change may roll the nodes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 10))]
    pub tuning_config: Vec<LocalObjectReference>,
    /// Labels that a node is born with; a change reaches new nodes only.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub node_labels: BTreeMap<String, String>,
    /// Taints that a node is born with; a change reaches new nodes only.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 50))]
    pub taints: Vec<NodePoolTaint>,
    /// How long a node is drained before it goes all the same; unset or zero means as long as it takes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub node_drain_timeout: Option<GoDuration>,
    /// How long volumes are waited for before a machine goes all the same; unset or zero means as long as it takes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub node_volume_detach_timeout: Option<GoDuration>,
    /// The stream of operating system images; unset means that of the release.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(
        transform = gated(FeatureGate::OsStreams),
        transform = rule(
            "oldSelf.name != 'rhel-10' || self.name != 'rhel-9'",
            "the way from rhel-10 back to rhel-9 does not exist; make a new pool",
        ),
    )]
    pub os_image_stream: Option<OsImageStream>,
    /// Leaves the pool as it is until a time in RFC 3339, or, with true, until the field changes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub paused_until: Option<NodePoolPausedUntil>,
}

/// Bounds within which load decides how many nodes there are.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = rule("self.min <= self.max", "min cannot be above max"))]
pub struct NodePoolAutoScaling {
    /// The fewest nodes; 0 only on AWS and Azure.
    #[schemars(range(min = 0))]
    pub min: i32,
    /// The most nodes.
    #[schemars(range(min = 1))]
    pub max: i32,
}

string_enum! {
    /// The name of a stream of operating system images.
    pub enum OsImageStreamName {
        /// Images from RHEL 9.
        Rhel9 = "rhel-9",
        /// Images from RHEL 10.
        Rhel10 = "rhel-10",
    }
}

/// A stream of operating system images.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct OsImageStream {
    /// Which stream it is.
    pub name: OsImageStreamName,
}

string_type! {
    /// Key of a taint: a name, or a name behind a DNS name and a slash.
    pub struct TaintKey {
        length: 1..=253,
        matches: r"^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$"
            => "must be a name of at most 63 characters, with or without a DNS prefix, such as example.com/dedicated",
    }
}

string_type! {
    /// Value of a taint; may be empty.
    pub struct TaintValue {
        length: 0..=253,
        matches: r"^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$"
            => "must be letters, digits, dashes, dots and underscores, with a letter or digit at both ends, or empty",
    }
}

string_enum! {
    /// What a taint does to pods that do not tolerate it.
    pub enum TaintEffect {
        /// They are not placed on the node.
        NoSchedule,
        /// They are placed on the node only when nothing else fits.
        PreferNoSchedule,
        /// They are not placed on the node, and those that run there are evicted.
        NoExecute,
    }
}

/// A taint that nodes of a pool are born with.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct NodePoolTaint {
    /// Key of the taint.
    pub key: TaintKey,
    /// Value of the taint.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<TaintValue>,
    /// What happens to pods that do not tolerate the taint.
    pub effect: TaintEffect,
}
