//! Disks of an EC2 instance.

use serde::{Deserialize, Serialize};

use crate::{
    schema::{JsonSchema, properties, rule},
    text::string_enum,
};

/// A disk of an instance.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = properties(Some(1), None))]
pub struct BlockDeviceMapping {
    /// Name of the device, such as /dev/xvda.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 256))]
    pub device_name: Option<String>,
    /// Whether the kubelet keeps its data on this disk; one disk at most.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub root_volume: Option<RootVolume>,
    /// The EBS volume behind the device.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ebs: Option<EbsVolume>,
}

string_enum! {
    /// Whether the kubelet keeps its data on a disk.
    pub enum RootVolume {
        /// It does.
        RootVolume,
        /// It does not.
        NotRootVolume,
    }
}

/// An EBS volume that is created with the instance.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(
    transform = properties(Some(1), None),
    transform = rule("has(self.volumeSizeGiB) || has(self.snapshotID)", "volumeSizeGiB or snapshotID must be set"),
)]
pub struct EbsVolume {
    /// Size in GiB. What is possible depends on the volume type.
    #[serde(rename = "volumeSizeGiB", skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 65_536))]
    pub volume_size_gib: Option<i64>,
    /// Type of the volume.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub volume_type: Option<VolumeType>,
    /// Input and output operations per second; for types whose rate can be bought.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub iops: Option<i64>,
    /// MiB per second, 125 to 1000; for type GP3.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub throughput: Option<i64>,
    /// Snapshot that the volume starts from.
    #[serde(rename = "snapshotID", skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 256))]
    pub snapshot_id: Option<String>,
    /// Whether the volume is encrypted. A volume from a snapshot takes after the snapshot, so leave it unset there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub encrypted: Option<Encryption>,
    /// KMS key for the encryption, by ARN.
    #[serde(rename = "kmsKeyID", skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 2048))]
    pub kms_key_id: Option<String>,
    /// What becomes of the volume when the instance ends.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delete_on_termination: Option<DeleteOnTermination>,
}

string_enum! {
    /// A type of EBS volume.
    pub enum VolumeType {
        /// Magnetic disk of the first generation.
        Standard,
        /// Solid state with a bought rate of operations.
        Io1 = "IO1",
        /// As IO1, more durable.
        Io2 = "IO2",
        /// General solid state; the rate of operations grows with the size.
        Gp2 = "GP2",
        /// Magnetic disk for data that is seldom read.
        Sc1 = "SC1",
        /// Magnetic disk for large sequential reads.
        St1 = "ST1",
        /// General solid state; rates are set apart from the size.
        Gp3 = "GP3",
    }
}

string_enum! {
    /// Whether a volume is encrypted.
    pub enum Encryption {
        /// It is.
        Encrypted,
        /// It is not.
        Unencrypted,
    }
}

string_enum! {
    /// What becomes of a volume when its instance ends.
    pub enum DeleteOnTermination {
        /// It goes with the instance.
        Delete,
        /// It stays, and costs money until someone removes it.
        Retain,
    }
}
