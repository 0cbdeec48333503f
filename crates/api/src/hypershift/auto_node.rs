//! Nodes that a provisioner makes as workloads ask for them, beside those of node pools.

use serde::{Deserialize, Serialize};

use crate::{
    schema::{JsonSchema, properties, rule},
    text::{string_enum, string_type},
};

/// Nodes that appear and disappear with the demand of workloads.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AutoNode {
    /// What makes the nodes.
    pub provisioner_config: ProvisionerConfig,
}

string_enum! {
    /// What makes nodes on demand.
    pub enum Provisioner {
        /// Karpenter.
        Karpenter,
    }
}

/// The provisioner and its settings.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = rule(
    "has(self.karpenter) == (self.name == 'Karpenter')",
    "set karpenter when name is Karpenter, and only then",
))]
pub struct ProvisionerConfig {
    /// Which provisioner it is.
    pub name: Provisioner,
    /// Its settings, for Karpenter.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub karpenter: Option<KarpenterConfig>,
}

string_enum! {
    /// Where Karpenter makes nodes.
    pub enum KarpenterPlatform {
        /// As EC2 instances.
        Aws = "AWS",
    }
}

/// Settings of Karpenter.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = rule(
    "has(self.aws) == (self.platform == 'AWS')",
    "set aws when platform is AWS, and only then",
))]
pub struct KarpenterConfig {
    /// Where the nodes are made.
    #[schemars(length(max = 100))]
    pub platform: KarpenterPlatform,
    /// Access to the cloud, for AWS.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub aws: Option<KarpenterAws>,
}

string_type! {
    /// A role of AWS IAM, by its resource name.
    pub struct KarpenterRoleArn {
        length: 0..=2048,
        matches: r"^arn:aws(-cn|-us-gov)?:iam::[0-9]{12}:role/.+$"
            => "must be the ARN of a role, such as arn:aws:iam::123456789012:role/karpenter",
    }
}

/// Access of Karpenter to AWS.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct KarpenterAws {
    /// The role that Karpenter takes on. It must trust the service account karpenter of the hosted cluster, and be
    /// allowed to start, tag and end instances.
    #[serde(rename = "roleARN")]
    pub role_arn: KarpenterRoleArn,
}

/// What the provisioner has made.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = properties(Some(1), None))]
pub struct AutoNodeStatus {
    /// How many nodes are there.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub node_count: Option<i32>,
    /// How many nodes are wanted; those that have not registered yet count, too.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub node_claim_count: Option<i32>,
    /// How many virtual CPUs those nodes have together.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 1_000_000))]
    pub vcpus: Option<i32>,
}
