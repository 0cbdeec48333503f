//! HCPEtcdBackup: one snapshot of a hosted etcd, taken once and uploaded to object storage.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use serde::{Deserialize, Serialize};

use super::etcd::backup::{AwsKmsKeyArn, AzureKeyUrl};
use crate::{
    common::{ConditionSchema, SecretName},
    resource::{column, custom_resource},
    schema::{FeatureGate, JsonSchema, immutable, list_map, properties, rule},
    text::{string_enum, string_type},
};

custom_resource! {
    /// A request to take one snapshot of the etcd of a hosted control plane and to upload it.
    pub struct HCPEtcdBackup {
        group: "hypershift.openshift.io",
        version: "v1beta1",
        plural: "hcpetcdbackups",
        scope: Namespaced,
        spec: required EtcdBackupSpec,
        status: EtcdBackupStatus,
        @gate: Some(FeatureGate::EtcdBackup),
        @short_names: &["hcpetcdbk"],
        @columns: &[
            column(
                "Completed",
                "string",
                r#".status.conditions[?(@.type=="BackupCompleted")].status"#,
                "Whether the snapshot is in the storage",
            ),
            column("URL", "string", ".status.snapshotURL", "Where the snapshot is"),
            column("Age", "date", ".metadata.creationTimestamp", "Time since creation"),
        ],
    }
}

/// Where the snapshot goes. A backup is taken once, so nothing here can change; create another object instead.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = immutable("spec"))]
pub struct EtcdBackupSpec {
    /// The object storage that receives the snapshot.
    pub storage: EtcdBackupStorage,
}

string_enum! {
    /// A kind of object storage.
    pub enum EtcdBackupStorageType {
        /// A bucket of AWS S3.
        S3,
        /// A container of Azure Blob Storage.
        AzureBlob,
    }
}

/// An object storage and how to write to it.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(
    transform = rule(
        "has(self.s3) == (self.storageType == 'S3')",
        "s3 must be set when storageType is S3, and only then",
    ),
    transform = rule(
        "has(self.azureBlob) == (self.storageType == 'AzureBlob')",
        "azureBlob must be set when storageType is AzureBlob, and only then",
    ),
)]
pub struct EtcdBackupStorage {
    /// Which of the storages below is used.
    pub storage_type: EtcdBackupStorageType,
    /// The bucket, for storageType S3.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub s3: Option<S3BackupStorage>,
    /// The container, for storageType AzureBlob.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub azure_blob: Option<AzureBlobBackupStorage>,
}

/// A place in an S3 bucket.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = rule(
    "has(self.kmsKeyARN) || !has(oldSelf.kmsKeyARN)",
    "kmsKeyARN must stay once it has been set",
))]
pub struct S3BackupStorage {
    /// The bucket.
    pub bucket: S3BucketName,
    /// Region of the bucket, such as eu-west-1.
    pub region: AwsRegion,
    /// What the object key of the snapshot starts with.
    pub key_prefix: S3KeyPrefix,
    /// Secret in the namespace of the operator whose key credentials holds an AWS credentials file.
    pub credentials: BackupCredentials,
    /// KMS key that encrypts the snapshot at rest. Unset means the default of the bucket.
    #[serde(rename = "kmsKeyARN", skip_serializing_if = "Option::is_none")]
    #[schemars(transform = immutable("kmsKeyARN"))]
    pub kms_key_arn: Option<AwsKmsKeyArn>,
}

/// A place in a container of Azure Blob Storage.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = rule(
    "has(self.encryptionKeyURL) || !has(oldSelf.encryptionKeyURL)",
    "encryptionKeyURL must stay once it has been set",
))]
pub struct AzureBlobBackupStorage {
    /// The storage account.
    pub storage_account: AzureStorageAccountName,
    /// The container within the account.
    pub container: AzureContainerName,
    /// What the blob name of the snapshot starts with.
    pub key_prefix: AzureBlobPrefix,
    /// Secret in the namespace of the operator that holds Azure credentials.
    pub credentials: BackupCredentials,
    /// Key in a Key Vault or a Managed HSM that encrypts the snapshot. Unset means the default of the account.
    #[serde(rename = "encryptionKeyURL", skip_serializing_if = "Option::is_none")]
    #[schemars(transform = immutable("encryptionKeyURL"))]
    pub encryption_key_url: Option<AzureKeyUrl>,
}

/// A Secret with credentials for the upload.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct BackupCredentials {
    /// Name of the Secret.
    pub name: SecretName,
}

/// How far the backup has come and where the snapshot is.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = properties(Some(1), None))]
pub struct EtcdBackupStatus {
    /// BackupCompleted: True when the snapshot is in the storage; its reason says why it is not.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(with = "Vec<ConditionSchema>", length(min = 1, max = 10), transform = list_map("type"))]
    pub conditions: Vec<Condition>,
    /// Where the snapshot is, once it is complete.
    #[serde(rename = "snapshotURL", skip_serializing_if = "Option::is_none")]
    pub snapshot_url: Option<SnapshotUrl>,
    /// What the snapshot is encrypted with; needed to restore it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub encryption_metadata: Option<BackupEncryption>,
}

/// The key of an encrypted snapshot; exactly one cloud is set.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = properties(Some(1), Some(1)))]
pub struct BackupEncryption {
    /// The key of a snapshot in S3.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub aws: Option<AwsBackupEncryption>,
    /// The key of a snapshot in Azure Blob Storage.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub azure: Option<AzureBackupEncryption>,
}

/// The key of a snapshot in S3.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AwsBackupEncryption {
    /// The KMS key.
    #[serde(rename = "kmsKeyARN")]
    pub kms_key_arn: AwsKmsKeyArn,
}

/// The key of a snapshot in Azure Blob Storage.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AzureBackupEncryption {
    /// The key in a Key Vault or a Managed HSM.
    #[serde(rename = "encryptionKeyURL")]
    pub encryption_key_url: AzureKeyUrl,
}

string_type! {
    /// The name of an S3 bucket.
    pub struct S3BucketName {
        length: 3..=63,
        matches: "^[a-z0-9][a-z0-9.-]*[a-z0-9]$"
            => "must be made of lower-case letters, digits, hyphens and periods, with a letter or digit at both ends",
        rule: "!self.contains('..')" => "must not have two periods in a row", check: |text| !text.contains(".."),
    }
}

string_type! {
    /// An AWS region.
    pub struct AwsRegion {
        length: 1..=63,
        matches: "^[a-z][a-z0-9-]*[a-z0-9]$" => "must be an AWS region such as eu-west-1",
        rule: "!self.contains('--')" => "must not have two hyphens in a row", check: |text| !text.contains("--"),
    }
}

string_type! {
    /// What an S3 object key starts with.
    pub struct S3KeyPrefix {
        length: 1..=1024,
        matches: "^[a-zA-Z0-9!_.*'()/-]+$" => "must be made of letters, digits and ! _ . * ' ( ) / - only",
    }
}

string_type! {
    /// The name of an Azure storage account.
    pub struct AzureStorageAccountName {
        length: 3..=24,
        matches: "^[a-z0-9]+$" => "must be made of lower-case letters and digits only",
    }
}

string_type! {
    /// The name of a container in Azure Blob Storage.
    pub struct AzureContainerName {
        length: 3..=63,
        matches: "^[a-z0-9]([a-z0-9-]*[a-z0-9])?$"
            => "must be made of lower-case letters, digits and hyphens, with a letter or digit at both ends",
        rule: "!self.contains('--')" => "must not have two hyphens in a row", check: |text| !text.contains("--"),
    }
}

string_type! {
    /// What a blob name starts with.
    pub struct AzureBlobPrefix {
        length: 1..=1024,
        matches: "^[a-zA-Z0-9/_.-]+$" => "must be made of letters, digits and / _ . - only",
    }
}

string_type! {
    /// Where a snapshot can be read.
    pub struct SnapshotUrl {
        length: 1..=2048,
        matches: "^(https|s3)://" => "must be a URL that starts with https:// or s3://",
    }
}
