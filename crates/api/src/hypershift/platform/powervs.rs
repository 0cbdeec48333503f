//! IBM Power Virtual Server.

use serde::{Deserialize, Serialize};

use crate::{
    common::LocalObjectReference,
    hypershift::node_pool::platform::powervs::PowerVsResourceReference,
    schema::{JsonSchema, pattern},
};

/// Settings of the IBM Power Virtual Server platform. A Secret named here holds an API key under ibmcloud_api_key.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PowerVsPlatform {
    /// Id of the account.
    #[serde(rename = "accountID")]
    #[schemars(length(max = 255))]
    pub account_id: String,
    /// The instance of Internet Services that holds the DNS records, by the name that begins with crn.
    #[serde(rename = "cisInstanceCRN")]
    #[schemars(length(max = 255), transform = pattern("^crn:"))]
    pub cis_instance_crn: String,
    /// The resource group of the cluster.
    #[schemars(length(max = 255))]
    pub resource_group: String,
    /// The region of the cluster, which also decides the boot images of its node pools.
    #[schemars(length(max = 255))]
    pub region: String,
    /// The availability zone that the control plane makes cloud resources in.
    #[schemars(length(max = 255))]
    pub zone: String,
    /// The subnet that the control plane makes cloud resources in.
    pub subnet: PowerVsResourceReference,
    /// Id of the service instance that the machines belong to.
    #[serde(rename = "serviceInstanceID")]
    #[schemars(length(max = 255))]
    pub service_instance_id: String,
    /// The VPC whose load balancers are used.
    pub vpc: PowerVsVpc,
    /// The Secret of the cloud controller manager.
    pub kube_cloud_controller_creds: LocalObjectReference,
    /// The Secret of what makes the machines of node pools.
    pub node_pool_management_creds: LocalObjectReference,
    /// The Secret of the ingress operator.
    pub ingress_operator_cloud_creds: LocalObjectReference,
    /// The Secret of the storage operator.
    pub storage_operator_cloud_creds: LocalObjectReference,
    /// The Secret of the image registry operator.
    pub image_registry_operator_cloud_creds: LocalObjectReference,
}

/// The VPC whose load balancers a cluster uses.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct PowerVsVpc {
    /// Its name.
    #[schemars(length(max = 255))]
    pub name: String,
    /// Its region.
    #[schemars(length(max = 255))]
    pub region: String,
    /// The availability zone of the load balancers.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 255))]
    pub zone: Option<String>,
    /// The subnet of the load balancers.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 255))]
    pub subnet: Option<String>,
}
