//! The identities of a hosted cluster that trust tokens of its own service accounts.

use serde::{Deserialize, Serialize};

use crate::schema::JsonSchema;

use super::identity::AzureWorkloadIdentity;

/// The identities of a hosted cluster that trust tokens of its own service accounts, one per part.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AzureWorkloadIdentities {
    /// For the image registry operator.
    pub image_registry: AzureWorkloadIdentity,
    /// For the ingress operator.
    pub ingress: AzureWorkloadIdentity,
    /// For the storage operator's file shares.
    pub file: AzureWorkloadIdentity,
    /// For the storage operator's disks.
    pub disk: AzureWorkloadIdentity,
    /// For what makes the machines of node pools.
    pub node_pool_management: AzureWorkloadIdentity,
    /// For the cloud controller manager.
    pub cloud_provider: AzureWorkloadIdentity,
    /// For the network operator.
    pub network: AzureWorkloadIdentity,
    /// For the control-plane operator, which makes the Private Link Service; needed for PrivateLink only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub control_plane_operator: Option<AzureWorkloadIdentity>,
}
