//! Where the machines of a node pool come from: one structure per platform, each in a file of its own.

pub mod agent;
pub mod aws;
pub mod azure;
pub mod gcp;
pub mod kubevirt;
pub mod openstack;
pub mod powervs;

use serde::{Deserialize, Serialize};

use self::{
    agent::AgentNodePoolPlatform, aws::AwsNodePoolPlatform, azure::AzureNodePoolPlatform, gcp::GcpNodePoolPlatform,
    kubevirt::KubeVirtNodePoolPlatform, openstack::OpenStackNodePoolPlatform, powervs::PowerVsNodePoolPlatform,
};
use crate::{
    hypershift::{platform::ibmcloud::IbmCloudPlatform, platform_type::PlatformType},
    schema::{FeatureGate, JsonSchema, gated, gated_values, immutable},
};

/// Where the machines of a node pool come from.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NodePoolPlatform {
    /// The platform; that of the hosted cluster.
    #[serde(rename = "type")]
    #[schemars(
        length(max = 100),
        transform = immutable("type"),
        transform = gated_values(FeatureGate::OpenStack, "OpenStack"),
        transform = gated_values(FeatureGate::GcpPlatform, "GCP"),
    )]
    pub type_: PlatformType,
    /// Machines on KubeVirt.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kubevirt: Option<KubeVirtNodePoolPlatform>,
    /// Hosts that an agent has enrolled.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<AgentNodePoolPlatform>,
    /// Machines on AWS.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub aws: Option<AwsNodePoolPlatform>,
    /// Machines on Azure.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub azure: Option<AzureNodePoolPlatform>,
    /// Machines on Google Cloud.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(transform = gated(FeatureGate::GcpPlatform))]
    pub gcp: Option<GcpNodePoolPlatform>,
    /// Machines on IBM Cloud.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ibmcloud: Option<IbmCloudPlatform>,
    /// Machines on OpenStack.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(transform = gated(FeatureGate::OpenStack))]
    pub openstack: Option<OpenStackNodePoolPlatform>,
    /// Machines on IBM Power Virtual Server.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub powervs: Option<PowerVsNodePoolPlatform>,
}
