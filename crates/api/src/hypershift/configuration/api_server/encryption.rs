//! How OpenShift's API servers encrypt what they store.

use serde::{Deserialize, Serialize};

use super::vault::VaultKms;
use crate::{
    schema::{FeatureGate, JsonSchema, gated, gated_values, rule},
    text::string_enum,
};

string_enum! {
    /// A way to encrypt stored data.
    pub enum ApiServerEncryptionType {
        /// The same as identity.
        Unset = "",
        /// None.
        Identity = "identity",
        /// AES in CBC mode, with a key that the cluster makes.
        AesCbc = "aescbc",
        /// AES in GCM mode, with a key that the cluster makes.
        AesGcm = "aesgcm",
        /// By a key service outside of the cluster.
        Kms = "KMS",
    }
}

/// How stored data is encrypted.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = rule(
    "(has(self.type) && self.type == 'KMS') == has(self.kms)",
    "set kms when type is KMS, and only then",
).only_with(FeatureGate::KmsEncryption))]
pub struct ApiServerEncryption {
    /// Which way is used; unset means none.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    #[schemars(transform = gated_values(FeatureGate::KmsEncryption, "KMS"))]
    pub encryption_type: Option<ApiServerEncryptionType>,
    /// The key service, for type KMS.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(transform = gated(FeatureGate::KmsEncryption))]
    pub kms: Option<ApiServerKms>,
}

string_enum! {
    /// A key service.
    pub enum ApiServerKmsType {
        /// HashiCorp Vault.
        Vault,
    }
}

/// A key service outside of the cluster.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = rule(
    "(self.type == 'Vault') == has(self.vault)",
    "set vault when type is Vault, and only then",
))]
pub struct ApiServerKms {
    /// Which service it is.
    #[serde(rename = "type")]
    pub kms_type: ApiServerKmsType,
    /// Settings for Vault.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vault: Option<VaultKms>,
}
