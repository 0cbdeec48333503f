//! Virtual machines on a Kubernetes cluster with KubeVirt.

use serde::{Deserialize, Serialize};

use crate::{
    common::SecretKeyReference,
    schema::{JsonSchema, immutable, rule},
    text::string_enum,
};

/// Settings of the KubeVirt platform.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = rule(
    "has(self.generateID) || !has(oldSelf.generateID)",
    "generateID cannot be removed after it has been set",
))]
pub struct KubeVirtPlatform {
    /// Takes the base domain from the applications' domain of the cluster that runs the machines, instead of
    /// from dns.baseDomain.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(transform = immutable("baseDomainPassthrough"))]
    pub base_domain_passthrough: Option<bool>,
    /// A suffix that keeps names on the infrastructure cluster apart; chosen when unset.
    #[serde(rename = "generateID", skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 11), transform = immutable("generateID"))]
    pub generate_id: Option<String>,
    /// Where the machines run, when that is not the management cluster.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub credentials: Option<KubeVirtCredentials>,
    /// Which storage of the infrastructure cluster the hosted cluster may use.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(transform = immutable("storageDriver"))]
    pub storage_driver: Option<KubeVirtStorageDriver>,
}

/// Access to another cluster that runs the machines.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct KubeVirtCredentials {
    /// The key of a Secret that holds the kubeconfig of that cluster.
    #[serde(rename = "infraKubeConfigSecret", skip_serializing_if = "Option::is_none")]
    #[schemars(transform = immutable("infraKubeConfigSecret"))]
    pub infra_kube_config_secret: Option<SecretKeyReference>,
    /// The namespace there in which machines are made.
    #[schemars(length(max = 255), transform = immutable("infraNamespace"))]
    pub infra_namespace: String,
}

string_enum! {
    /// How storage classes reach the hosted cluster.
    #[derive(Default)]
    pub enum KubeVirtStorageDriverType {
        /// Not at all.
        None,
        /// The default class of the infrastructure cluster is passed on.
        #[default]
        Default,
        /// As the mappings say.
        Manual,
    }
}

/// Which storage of the infrastructure cluster the hosted cluster may use.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct KubeVirtStorageDriver {
    /// How storage classes are passed on.
    #[serde(rename = "type", default)]
    #[schemars(transform = immutable("type"))]
    pub driver_type: KubeVirtStorageDriverType,
    /// The mappings for type Manual.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(transform = immutable("manual"))]
    pub manual: Option<KubeVirtManualStorage>,
}

/// Storage classes one by one.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct KubeVirtManualStorage {
    /// Storage classes that the hosted cluster sees.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 50), transform = immutable("storageClassMapping"))]
    pub storage_class_mapping: Vec<KubeVirtStorageClassMapping>,
    /// Snapshot classes that the hosted cluster sees.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 50), transform = immutable("volumeSnapshotClassMapping"))]
    pub volume_snapshot_class_mapping: Vec<KubeVirtVolumeSnapshotClassMapping>,
}

/// One storage class under two names.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct KubeVirtStorageClassMapping {
    /// Mappings of one group belong together: volumes of its classes can use its snapshot classes.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 255))]
    pub group: Option<String>,
    /// Name on the infrastructure cluster.
    #[schemars(length(max = 255))]
    pub infra_storage_class_name: String,
    /// Name in the hosted cluster.
    #[schemars(length(max = 255))]
    pub guest_storage_class_name: String,
}

/// One snapshot class under two names.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct KubeVirtVolumeSnapshotClassMapping {
    /// Mappings of one group belong together: volumes of its classes can use its snapshot classes.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 255))]
    pub group: Option<String>,
    /// Name on the infrastructure cluster.
    #[schemars(length(max = 255))]
    pub infra_volume_snapshot_class_name: String,
    /// Name in the hosted cluster.
    #[schemars(length(max = 255))]
    pub guest_volume_snapshot_class_name: String,
}
