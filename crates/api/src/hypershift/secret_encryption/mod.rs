//! How a hosted API server encrypts Secrets in etcd: with a key in a Secret, or through a key service.
//!
//! One file per key service; `status` tells how far a change of keys has come.

pub mod kms_aws;
pub mod kms_azure;
pub mod kms_ibmcloud;
pub mod status;

use serde::{Deserialize, Serialize};

use self::{kms_aws::AwsKms, kms_azure::AzureKms, kms_ibmcloud::IbmCloudKms};
use crate::{common::LocalObjectReference, schema::JsonSchema, text::string_enum};

string_enum! {
    /// How Secrets are encrypted.
    pub enum SecretEncryptionType {
        /// By the key service of a cloud.
        Kms = "kms",
        /// By AES in CBC mode, with a key that lies in a Secret.
        AesCbc = "aescbc",
    }
}

/// How the hosted API server encrypts Secrets before they reach etcd.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SecretEncryption {
    /// Which of the two ways is used.
    #[serde(rename = "type")]
    pub encryption_type: SecretEncryptionType,
    /// The key service, for type kms.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kms: Option<KmsEncryption>,
    /// The keys, for type aescbc.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub aescbc: Option<AesCbcEncryption>,
}

/// Encryption with a key that lies in a Secret.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AesCbcEncryption {
    /// The Secret whose field key holds what new data is encrypted with.
    pub active_key: LocalObjectReference,
    /// The Secret with the key before it, still needed to read older data. Ignored once the status names an active
    /// key, because rotation then keeps track of the older one by itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub backup_key: Option<LocalObjectReference>,
}

string_enum! {
    /// Whose key service encrypts.
    pub enum KmsProvider {
        /// IBM Cloud Key Protect.
        IbmCloud = "IBMCloud",
        /// AWS KMS.
        Aws = "AWS",
        /// Azure Key Vault or Managed HSM.
        Azure,
    }
}

/// Encryption by the key service of a cloud.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct KmsEncryption {
    /// Whose key service it is.
    pub provider: KmsProvider,
    /// Keys and access, for provider AWS.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub aws: Option<AwsKms>,
    /// Keys and access, for provider Azure.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub azure: Option<AzureKms>,
    /// Keys and access, for provider IBMCloud.
    #[serde(rename = "ibmcloud", skip_serializing_if = "Option::is_none")]
    pub ibm_cloud: Option<IbmCloudKms>,
}
