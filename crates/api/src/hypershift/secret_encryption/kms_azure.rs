//! Encryption of Secrets by Azure Key Vault or Managed HSM.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    schema::{pattern, rule},
    text::{string_enum, string_type},
};

/// A client id as the plain keyword that stands beside the rule of [`AzureClientId`]. A tool that reads a schema
/// without CEL sees the form, too.
const CLIENT_ID_PATTERN: &str = "^[0-9a-fA-F]{8}-([0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}$";

string_type! {
    /// The id of an application or managed identity in Microsoft Entra.
    pub struct AzureClientId {
        length: 36..=36,
        matches: r"^[0-9a-fA-F]{8}-([0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}$"
            => "must be a UUID: five groups of 8, 4, 4, 4 and 12 hexadecimal digits with hyphens between them",
    }
}

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

string_enum! {
    /// How the certificate of a managed identity is written in its vault.
    pub enum ObjectEncoding {
        /// As text.
        Utf8 = "utf-8",
        /// As hexadecimal digits.
        Hex = "hex",
        /// As base64.
        Base64 = "base64",
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

/// A managed identity whose credentials lie in a vault.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AzureManagedIdentity {
    /// The secret in Azure's vault that holds the credentials as JSON.
    #[schemars(length(min = 1, max = 127), transform = pattern("^[a-zA-Z0-9-]+$"))]
    pub credentials_secret_name: String,
    /// How the certificate in that secret is written; another encoding than the stored one cannot be read.
    pub object_encoding: ObjectEncoding,
    /// The id of the identity that the credentials belong to; for tests.
    #[serde(rename = "clientID", skip_serializing_if = "Option::is_none")]
    #[schemars(transform = pattern(CLIENT_ID_PATTERN))]
    pub client_id: Option<AzureClientId>,
}

/// A managed identity that trusts tokens of the hosted cluster.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AzureWorkloadIdentity {
    /// The id of the identity that tokens are exchanged for.
    #[serde(rename = "clientID")]
    #[schemars(transform = pattern(CLIENT_ID_PATTERN))]
    pub client_id: AzureClientId,
}
