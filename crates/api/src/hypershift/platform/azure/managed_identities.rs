//! The identities of a hosted cluster that Azure manages, where Azure runs the service.

use serde::{Deserialize, Serialize};

use crate::schema::JsonSchema;

use super::identity::AzureManagedIdentity;

/// The identities of a hosted cluster that Azure manages.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AzureManagedIdentities {
    /// Those of the control plane.
    pub control_plane: AzureControlPlaneIdentities,
    /// Those of what runs on the nodes.
    pub data_plane: AzureDataPlaneIdentities,
}

/// The identities of a control plane, with credentials in one vault.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AzureControlPlaneIdentities {
    /// The vault beside the management cluster from which pods mount the credentials.
    pub managed_identities_key_vault: AzureManagedIdentitiesKeyVault,
    /// For the cloud controller manager.
    pub cloud_provider: AzureManagedIdentity,
    /// For what makes the machines of node pools.
    pub node_pool_management: AzureManagedIdentity,
    /// For the control-plane operator.
    pub control_plane_operator: AzureManagedIdentity,
    /// For the image registry operator.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub image_registry: Option<AzureManagedIdentity>,
    /// For the ingress operator.
    pub ingress: AzureManagedIdentity,
    /// For the network operator.
    pub network: AzureManagedIdentity,
    /// For the controller of disks.
    pub disk: AzureManagedIdentity,
    /// For the controller of file shares.
    pub file: AzureManagedIdentity,
}

/// The vault that holds the credentials of managed identities.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct AzureManagedIdentitiesKeyVault {
    /// Its name.
    #[schemars(length(max = 255))]
    pub name: String,
    /// The tenant that it is in.
    #[serde(rename = "tenantID")]
    #[schemars(length(max = 255))]
    pub tenant_id: String,
}

/// The identities, by client id, of what runs on the nodes.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct AzureDataPlaneIdentities {
    /// For the image registry.
    #[serde(rename = "imageRegistryMSIClientID")]
    #[schemars(length(max = 255))]
    pub image_registry_msi_client_id: String,
    /// For the driver of disks.
    #[serde(rename = "diskMSIClientID")]
    #[schemars(length(max = 255))]
    pub disk_msi_client_id: String,
    /// For the driver of file shares.
    #[serde(rename = "fileMSIClientID")]
    #[schemars(length(max = 255))]
    pub file_msi_client_id: String,
}
