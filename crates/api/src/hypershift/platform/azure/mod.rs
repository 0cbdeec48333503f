//! Microsoft Azure.

pub mod authentication;
pub mod container_registry;
pub mod identity;
pub mod managed_identities;
pub mod private;
pub mod workload_identities;

use serde::{Deserialize, Serialize};

use self::{
    authentication::AzureAuthenticationConfig, container_registry::AzureContainerRegistry, private::AzurePrivate,
};
use crate::{
    hypershift::node_pool::platform::azure::AzureSubnetId,
    schema::{JsonSchema, immutable, pattern, rule},
    text::string_enum,
};

string_enum! {
    /// Which of Azure's clouds is meant.
    #[derive(Default)]
    pub enum AzureCloud {
        /// The one for everybody.
        #[default]
        AzurePublicCloud,
        /// That of the government of the United States.
        AzureUsGovernmentCloud = "AzureUSGovernmentCloud",
        /// That of China.
        AzureChinaCloud,
        /// That of Germany.
        AzureGermanCloud,
        /// That of Bleu, in France.
        AzureBleuCloud,
        /// One on premises.
        AzureStackCloud,
    }
}

string_enum! {
    /// From where the API server is reached.
    pub enum AzureTopology {
        /// From the internet.
        Public,
        /// From the internet and from the network of the nodes.
        PublicAndPrivate,
        /// From the network of the nodes only.
        Private,
    }
}

/// Settings of the Azure platform.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(
    transform = rule(
        "has(self.private) == has(oldSelf.private)",
        "private belongs to the creation of a cluster: it can be neither added nor removed later",
    ),
    transform = rule(
        "has(self.topology) || !has(oldSelf.topology)",
        "topology cannot be removed after it has been set",
    ),
    transform = rule(
        "!has(self.topology) || !has(oldSelf.topology) || \
         (self.topology == 'Public') == (oldSelf.topology == 'Public')",
        "topology can change between PublicAndPrivate and Private only",
    ),
    transform = rule(
        "(has(self.topology) && self.topology in ['Private', 'PublicAndPrivate']) == has(self.private)",
        "topology Private and PublicAndPrivate need private, and nothing else takes it",
    ),
    transform = rule(
        "!has(self.private) || self.private.type != 'PrivateLink' || \
         self.azureAuthenticationConfig.azureAuthenticationConfigType != 'WorkloadIdentities' || \
         has(self.azureAuthenticationConfig.workloadIdentities.controlPlaneOperator)",
        "PrivateLink with workload identities needs azureAuthenticationConfig.workloadIdentities.controlPlaneOperator",
    ),
)]
pub struct AzurePlatform {
    /// Which of Azure's clouds it is.
    #[serde(default)]
    pub cloud: AzureCloud,
    /// The region of the cluster, such as westeurope.
    #[schemars(length(max = 255), transform = immutable("location"))]
    pub location: String,
    /// Name of the resource group, in the subscription below, for all that is made for the cluster.
    #[serde(default = "default_resource_group")]
    #[schemars(
        length(max = 90),
        transform = pattern(r"^[a-zA-Z0-9_()\-\.]{1,89}[a-zA-Z0-9_()\-]$"),
        transform = immutable("resourceGroup"),
    )]
    pub resource_group: String,
    /// Resource id of the virtual network of the nodes; it may be in another resource group.
    #[serde(rename = "vnetID")]
    #[schemars(length(max = 255), transform = immutable("vnetID"))]
    pub vnet_id: String,
    /// Resource id of the subnet of the nodes; node pools may have others in the same network.
    #[serde(rename = "subnetID")]
    #[schemars(transform = immutable("subnetID"))]
    pub subnet_id: AzureSubnetId,
    /// The subscription that everything is in.
    #[serde(rename = "subscriptionID")]
    #[schemars(length(max = 255), transform = immutable("subscriptionID"))]
    pub subscription_id: String,
    /// Resource id of the security group of the subnet, in which the cloud controller manager keeps its rules.
    #[serde(rename = "securityGroupID")]
    #[schemars(length(max = 255), transform = immutable("securityGroupID"))]
    pub security_group_id: String,
    /// How the parts of the cluster authenticate; decides how services may be published.
    pub azure_authentication_config: AzureAuthenticationConfig,
    /// The tenant that everything is in.
    #[serde(rename = "tenantID")]
    #[schemars(length(max = 255))]
    pub tenant_id: String,
    /// How nodes pull from Azure's registries without a pull secret; a change rolls all node pools.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub container_registry: Option<AzureContainerRegistry>,
    /// From where the API server is reached; unset means Public today.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub topology: Option<AzureTopology>,
    /// How the API server is reached from the network of the nodes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub private: Option<AzurePrivate>,
}

fn default_resource_group() -> String {
    "default".to_owned()
}
