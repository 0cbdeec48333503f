//! Machines of a node pool on Google Cloud.

use serde::{Deserialize, Serialize};

use crate::{
    schema::{JsonSchema, list_map, list_set, rule, text_items},
    text::{string_enum, string_type},
};

string_type! {
    /// Name of a resource in a project.
    pub struct GcpResourceName {
        length: 1..=63,
        matches: "^[a-z]([-a-z0-9]*[a-z0-9])?$"
            => "must be lower-case letters, digits and dashes, with a letter first and no dash last",
    }
}

string_type! {
    /// Name of a zone.
    pub struct GcpZone {
        length: 1..=63,
        matches: "^[a-z]+(-[a-z0-9]+)*-[a-z]$" => "must be a region, a dash and a letter, such as europe-west2-b",
    }
}

string_type! {
    /// Name of a machine type.
    pub struct GcpMachineType {
        length: 1..=255,
        matches: "^[a-z0-9]+(-[a-z0-9]+)*$"
            => "must be words of lower-case letters and digits with dashes between them, such as n2-standard-4",
    }
}

string_type! {
    /// Resource name of a Cloud KMS key.
    pub struct GcpKmsKeyName {
        length: 1..=2048,
        matches: "^projects/[a-z][a-z0-9-]{4,28}[a-z0-9]/locations/[a-z0-9-]+/keyRings/[a-zA-Z0-9_-]+/cryptoKeys/[a-zA-Z0-9_-]+$"
            => "must be projects/A/locations/B/keyRings/C/cryptoKeys/D",
    }
}

string_type! {
    /// Address of a service account.
    pub struct GcpServiceAccountEmail {
        length: 37..=85,
        matches: r"^[a-z][a-z0-9-]{4,28}[a-z0-9]@[a-z][a-z0-9-]{4,28}[a-z0-9]\.iam\.gserviceaccount\.com$"
            => "must be NAME@PROJECT.iam.gserviceaccount.com, name and project of 6 to 30 characters",
    }
}

string_type! {
    /// Key of a label.
    pub struct GcpLabelKey {
        length: 1..=63,
        matches: "^[a-z]([_a-z0-9-]{0,61}[a-z0-9])?$"
            => "must be lower-case letters, digits, dashes and underscores, a letter first, a letter or digit last",
        rule: "!self.startsWith('goog')" => "keys that begin with goog belong to Google",
        check: |text| !text.starts_with("goog"),
    }
}

string_type! {
    /// Value of a label; may be empty.
    pub struct GcpLabelValue {
        length: 0..=63,
        matches: "^$|^[a-z]([_a-z0-9-]{0,61}[a-z0-9])?$"
            => "must be lower-case letters, digits, dashes and underscores, a letter first, a letter or digit last, or empty",
    }
}

string_enum! {
    /// What becomes of a machine when its host is maintained.
    pub enum GcpOnHostMaintenance {
        /// It moves to another host while it runs.
        Migrate = "MIGRATE",
        /// It is stopped.
        Terminate = "TERMINATE",
    }
}

string_enum! {
    /// How machines are paid for.
    #[derive(Default)]
    pub enum GcpProvisioningModel {
        /// By the second, without interruption.
        #[default]
        Standard,
        /// Cheaper, and taken back at short notice.
        Spot,
        /// The predecessor of Spot, which also ends after a day.
        Preemptible,
    }
}

string_enum! {
    /// The kind of a disk.
    #[derive(Default)]
    pub enum GcpDiskType {
        /// Spinning disks.
        Standard = "pd-standard",
        /// Fast solid-state disks.
        Ssd = "pd-ssd",
        /// Solid-state disks between the two in speed and price.
        #[default]
        Balanced = "pd-balanced",
    }
}

/// Machines on Google Cloud.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = rule(
    "!has(self.onHostMaintenance) || self.onHostMaintenance == 'TERMINATE' || !has(self.provisioningModel) || \
     self.provisioningModel == 'Standard'",
    "Spot and Preemptible machines cannot migrate: onHostMaintenance must be TERMINATE or unset",
))]
pub struct GcpNodePoolPlatform {
    /// The size of the machines, such as n2-standard-4.
    pub machine_type: GcpMachineType,
    /// The zone that the machines are in, in the region of the hosted cluster.
    pub zone: GcpZone,
    /// The subnet that the machines are in, in the network of the hosted cluster and the region of the zone.
    pub subnet: GcpResourceName,
    /// The boot image or its family; unset means that of the release.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 2048))]
    pub image: Option<String>,
    /// The boot disk.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub boot_disk: Option<GcpBootDisk>,
    /// The service account that the machines act as; unset means the default one of the project.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub service_account: Option<GcpNodeServiceAccount>,
    /// How machines are paid for.
    #[serde(default)]
    pub provisioning_model: GcpProvisioningModel,
    /// What becomes of a machine when its host is maintained; unset means the best that provisioningModel allows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub on_host_maintenance: Option<GcpOnHostMaintenance>,
    /// Tags that firewall rules know the machines by.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(min = 1, max = 64), transform = list_set())]
    pub network_tags: Vec<GcpResourceName>,
    /// Labels for machines and disks, which go before those of the hosted cluster; a change rolls nothing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(min = 1, max = 60), transform = list_map("key"))]
    pub resource_labels: Vec<GcpResourceLabel>,
}

/// The boot disk of a machine.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct GcpBootDisk {
    /// How many GB it holds.
    #[serde(rename = "diskSizeGB", default = "default_disk_size_gb")]
    #[schemars(range(min = 20, max = 65_536))]
    pub disk_size_gb: i64,
    /// The kind of the disk.
    #[serde(default)]
    pub disk_type: GcpDiskType,
    /// The user's own key that it is encrypted with; unset means one of Google's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub encryption_key: Option<GcpDiskEncryptionKey>,
}

impl Default for GcpBootDisk {
    fn default() -> Self {
        Self {
            disk_size_gb: default_disk_size_gb(),
            disk_type: GcpDiskType::default(),
            encryption_key: None,
        }
    }
}

fn default_disk_size_gb() -> i64 {
    64
}

/// The user's own key that a disk is encrypted with.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct GcpDiskEncryptionKey {
    /// Resource name of the key.
    pub kms_key_name: GcpKmsKeyName,
}

/// The service account that machines act as.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct GcpNodeServiceAccount {
    /// Its address.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub email: Option<GcpServiceAccountEmail>,
    /// The scopes of its tokens; none means what Compute Engine gives.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(min = 1, max = 50), transform = list_set(), transform = text_items(None, Some(512), vec![]))]
    pub scopes: Vec<String>,
}

/// A label for what is made for a cluster or a pool.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct GcpResourceLabel {
    /// Its key.
    pub key: GcpLabelKey,
    /// Its value.
    #[schemars(length(min = 0))]
    pub value: GcpLabelValue,
}
