//! The infrastructure under a hosted cluster: one file or directory per platform.

pub mod agent;
pub mod aws;
pub mod azure;
pub mod gcp;
pub mod ibmcloud;
pub mod kubevirt;
pub mod openstack;
pub mod powervs;

use serde::{Deserialize, Serialize};

use super::platform_type::PlatformType;
use crate::schema::{FeatureGate, JsonSchema, gated, gated_values, immutable};

/// The infrastructure under a hosted cluster. What only one platform has is kept aside, so that the others do not carry it.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Platform {
    /// Which platform; the structure of the same name holds its settings.
    #[serde(rename = "type")]
    #[schemars(
        length(max = 100),
        transform = gated_values(FeatureGate::OpenStack, "OpenStack"),
        transform = gated_values(FeatureGate::GcpPlatform, "GCP"),
        transform = immutable("type"),
    )]
    pub type_: PlatformType,
    /// Settings for hosts that join by themselves through the agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<agent::AgentPlatform>,
    /// Settings for virtual machines on a cluster with KubeVirt.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kubevirt: Option<kubevirt::KubeVirtPlatform>,
    /// Settings for Amazon Web Services.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub aws: Option<Box<aws::AwsPlatform>>,
    /// Settings for Microsoft Azure.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub azure: Option<Box<azure::AzurePlatform>>,
    /// Settings for Google Cloud.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(transform = gated(FeatureGate::GcpPlatform))]
    pub gcp: Option<Box<gcp::GcpPlatform>>,
    /// Settings for IBM Cloud.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ibmcloud: Option<ibmcloud::IbmCloudPlatform>,
    /// Settings for OpenStack.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(transform = gated(FeatureGate::OpenStack))]
    pub openstack: Option<Box<openstack::OpenStackPlatform>>,
    /// Settings for IBM Power Virtual Server.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub powervs: Option<Box<powervs::PowerVsPlatform>>,
}

/// What a platform reports of a hosted cluster.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PlatformStatus {
    /// What was made on Amazon Web Services.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub aws: Option<aws::AwsPlatformStatus>,
}
