//! The cloud key that encrypts snapshots of a managed etcd. When and where to take one is HCPEtcdBackup's matter.

use serde::{Deserialize, Serialize};

use crate::{
    schema::{JsonSchema, rule},
    text::{string_enum, string_type},
};

string_enum! {
    /// The cloud that keeps the snapshots.
    pub enum EtcdBackupPlatform {
        /// S3, with a key of AWS KMS.
        Aws = "AWS",
        /// Blob storage, with a key of Azure Key Vault or Managed HSM.
        Azure,
    }
}

string_type! {
    /// A key of AWS KMS, by its resource name.
    pub struct AwsKmsKeyArn {
        length: 1..=256,
        matches: r"^arn:aws(-cn|-us-gov)?:kms:[a-z0-9-]+:[0-9]{12}:key/[a-zA-Z0-9-]+$"
            => "must be the ARN of a KMS key, such as arn:aws:kms:us-east-1:123456789012:key/1a2b3c",
    }
}

string_type! {
    /// A key of Azure Key Vault or Managed HSM in any of Azure's clouds, by its URL.
    pub struct AzureKeyUrl {
        length: 1..=210,
        matches: r"^https://[a-zA-Z0-9-]+\.(vault|managedhsm)\.(azure\.net|usgovcloudapi\.net|azure\.cn|microsoftazure\.de|sovcloud-api\.fr)/keys/[a-zA-Z0-9-]+(/[a-zA-Z0-9]+)?$"
            => "must be the URL of a key, such as https://myvault.vault.azure.net/keys/mykey/1a2b3c",
    }
}

/// How snapshots of etcd are encrypted in cloud storage.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(
    transform = rule(
        "has(self.aws) == (self.platform == 'AWS')",
        "set aws when platform is AWS, and only then",
    ),
    transform = rule(
        "has(self.azure) == (self.platform == 'Azure')",
        "set azure when platform is Azure, and only then",
    ),
)]
pub struct EtcdBackupEncryption {
    /// The cloud that keeps the snapshots.
    pub platform: EtcdBackupPlatform,
    /// The key, for AWS.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub aws: Option<AwsEtcdBackupEncryption>,
    /// The key, for Azure.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub azure: Option<AzureEtcdBackupEncryption>,
}

/// How snapshots are encrypted in S3.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AwsEtcdBackupEncryption {
    /// The key, as the ARN that AWS KMS shows for it.
    #[serde(rename = "kmsKeyARN")]
    pub kms_key_arn: AwsKmsKeyArn,
}

/// How snapshots are encrypted in Azure's blob storage.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AzureEtcdBackupEncryption {
    /// The key, as its URL with or without a version.
    #[serde(rename = "encryptionKeyURL")]
    pub encryption_key_url: AzureKeyUrl,
}
