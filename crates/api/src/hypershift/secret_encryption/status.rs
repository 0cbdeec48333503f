//! How far a hosted cluster is in changing from one encryption key to the next.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use serde::{Deserialize, Serialize};

use super::{kms_aws::AwsKmsKey, kms_azure::AzureKmsKey, kms_ibmcloud::IbmCloudKmsKey};
use crate::{
    common::{SecretName, TimeSchema},
    schema::{JsonSchema, atomic, properties, rule},
    text::string_enum,
};

/// Which key protects the data, and which key follows it.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = properties(Some(1), None))]
pub struct SecretEncryptionStatus {
    /// The key under which every stored object is known to be encrypted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub active_key: Option<EncryptionKeyStatus>,
    /// The key that a rotation moves to, as it stood when the rotation began: a later change of the spec waits for
    /// the end of this one. Absent at rest.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target_key: Option<EncryptionKeyStatus>,
    /// The latest rotations, newest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(min = 1, max = 5), transform = atomic())]
    pub history: Vec<EncryptionKeyRotation>,
}

string_enum! {
    /// Who holds an encryption key.
    pub enum EncryptionKeyProvider {
        /// Azure Key Vault or Managed HSM.
        Azure,
        /// AWS KMS.
        Aws = "AWS",
        /// IBM Cloud Key Protect.
        IbmCloud = "IBMCloud",
        /// A Secret of the management cluster.
        AesCbc = "AESCBC",
    }
}

/// The identity of an encryption key.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(
    transform = rule(
        "has(self.azure) == (self.provider == 'Azure')",
        "set azure when provider is Azure, and only then",
    ),
    transform = rule(
        "has(self.aws) == (self.provider == 'AWS')",
        "set aws when provider is AWS, and only then",
    ),
    transform = rule(
        "has(self.ibmCloud) == (self.provider == 'IBMCloud')",
        "set ibmCloud when provider is IBMCloud, and only then",
    ),
    transform = rule(
        "has(self.aescbc) == (self.provider == 'AESCBC')",
        "set aescbc when provider is AESCBC, and only then",
    ),
)]
pub struct EncryptionKeyStatus {
    /// Who holds the key.
    pub provider: EncryptionKeyProvider,
    /// The key, for provider Azure.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub azure: Option<AzureKmsKey>,
    /// The key, for provider AWS.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub aws: Option<AwsKmsKey>,
    /// The key, for provider IBMCloud.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ibm_cloud: Option<IbmCloudKmsKey>,
    /// The key, for provider AESCBC.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub aescbc: Option<AesCbcKeyStatus>,
}

/// A key that lies in a Secret, at one moment.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AesCbcKeyStatus {
    /// The Secret.
    pub secret: AesCbcSecretReference,
    /// SHA-256 over its field key, in hexadecimal, so that a change behind the same name is seen.
    #[schemars(length(min = 1, max = 64))]
    pub data_hash: String,
}

/// The Secret that holds a key.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AesCbcSecretReference {
    /// How the Secret is called.
    pub name: SecretName,
}

string_enum! {
    /// The phase of a rotation.
    pub enum EncryptionKeyRotationState {
        /// Every API server learns to read with the new key; the old one still writes.
        ReadOnlyDeploy,
        /// The new key becomes the one that writes.
        WritePromote,
        /// Stored objects are written again, with the new key.
        Migrating,
        /// Nothing depends on the old key any more.
        Completed,
        /// It ended before it was complete.
        Interrupted,
    }
}

/// One change from a key to the next.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct EncryptionKeyRotation {
    /// How far it has come.
    pub state: EncryptionKeyRotationState,
    /// The key before.
    pub from: EncryptionKeyFingerprint,
    /// The key after.
    pub to: EncryptionKeyFingerprint,
    /// When it began.
    #[schemars(with = "TimeSchema")]
    pub started_time: Time,
    /// When it ended; absent while it runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<TimeSchema>")]
    pub completion_time: Option<Time>,
}

/// A key, by a short name that says nothing of its content.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct EncryptionKeyFingerprint {
    /// Who holds the key.
    pub provider: EncryptionKeyProvider,
    /// SHA-256 over the fields that identify the key, in hexadecimal.
    #[schemars(length(min = 1, max = 64))]
    pub fingerprint: String,
}
