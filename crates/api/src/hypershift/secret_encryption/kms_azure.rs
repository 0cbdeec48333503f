//! Encryption of Secrets by Azure Key Vault or Managed HSM.

use serde::{Deserialize, Serialize};

use crate::{
    hypershift::platform::azure::identity::{AzureManagedIdentity, AzureWorkloadIdentity},
    schema::{JsonSchema, rule},
    text::string_enum,
};

string_enum! {
    /// What keeps the keys.
    pub enum AzureKeyVaultType {
        /// Azure Key Vault.
        KeyVault,
        /// Azure Managed HSM.
        ManagedHsm = "ManagedHSM",
    }
}

string_enum! {
    /// Over which network the vault is reached.
    pub enum AzureKeyVaultAccess {
        /// Over its public endpoint.
        Public,
        /// Over its private endpoint in the customer's network.
        Private,
        /// The same as Public.
        Unset = "",
    }
}

/// Keys of Azure, and the identity that may use them.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(
    transform = rule(
        "!has(self.backupKey) || self.backupKey.keyVaultName == self.activeKey.keyVaultName",
        "activeKey and backupKey must name the same keyVaultName",
    ),
    transform = rule(
        "(has(self.keyVaultType) && self.keyVaultType == 'ManagedHSM') == \
         (has(oldSelf.keyVaultType) && oldSelf.keyVaultType == 'ManagedHSM')",
        "keyVaultType cannot be changed after it has been set; unset counts as KeyVault",
    ),
    transform = rule(
        "!has(self.kms) || !has(self.workloadIdentity)",
        "remove one of kms and workloadIdentity: only one identity can be used",
    ),
    transform = rule(
        "has(self.kms) || has(self.workloadIdentity)",
        "an identity is missing: set kms or workloadIdentity",
    ),
    transform = rule(
        "has(self.kms) == has(oldSelf.kms)",
        "a cluster stays with the one of kms and workloadIdentity that it was created with",
    ),
)]
pub struct AzureKms {
    /// What new data is encrypted with.
    pub active_key: AzureKmsKey,
    /// The key before it, still needed to read older data. Ignored once the status names an active key, because
    /// rotation then keeps track of the older one by itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub backup_key: Option<AzureKmsKey>,
    /// What keeps both keys; unset means KeyVault. Cannot be changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key_vault_type: Option<AzureKeyVaultType>,
    /// Over which network the vault is reached; unset means Public.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key_vault_access: Option<AzureKeyVaultAccess>,
    /// The managed identity that reads the keys, where Azure runs the service.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kms: Option<AzureManagedIdentity>,
    /// The federated identity that reads the keys; it needs the role Key Vault Crypto User.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub workload_identity: Option<AzureWorkloadIdentity>,
}

/// One key of Azure.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AzureKmsKey {
    /// The vault or HSM that holds the key; the identity below must have access to it.
    #[schemars(length(min = 1, max = 255))]
    pub key_vault_name: String,
    /// What the key is called in there.
    #[schemars(length(min = 1, max = 255))]
    pub key_name: String,
    /// Which version of it is meant.
    #[schemars(length(min = 1, max = 255))]
    pub key_version: String,
}
