//! An etcd that runs beside the hosted control plane: its storage, its placement, its shards.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::Toleration;
use serde::{Deserialize, Serialize};

use super::{
    backup::EtcdBackupEncryption,
    shard::{ManagedEtcdShard, NO_SHARED_RESOURCE, SHARDS_KEPT},
};
use crate::{
    common::{Quantity, TolerationSchema},
    schema::{FeatureGate, JsonSchema, atomic, gated, immutable, list_map, list_set, properties, rule, text_items},
    text::string_enum,
};

/// An etcd that is run for the hosted cluster.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = rule(
    "has(self.shards) == has(oldSelf.shards)",
    "shards can be given only when the cluster is created, and then stay",
).only_with(FeatureGate::EtcdSharding))]
pub struct EtcdManaged {
    /// Where the data is kept.
    pub storage: EtcdStorage,
    /// Where the pods of the default shard may run.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(transform = gated(FeatureGate::EtcdSharding))]
    pub scheduling: Option<EtcdScheduling>,
    /// Further etcd clusters, each for the resources that it names; all others stay in the default shard.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(
        length(min = 1, max = 10),
        transform = list_map("name"),
        transform = gated(FeatureGate::EtcdSharding),
        transform = rule(NO_SHARED_RESOURCE, "a resource can be in one shard only"),
        transform = rule("self.size() == oldSelf.size()", "shards can be neither added nor removed"),
        transform = rule(SHARDS_KEPT, "a shard cannot be replaced by one with another name"),
    )]
    pub shards: Vec<ManagedEtcdShard>,
    /// The key that encrypts snapshots in cloud storage; has an effect once a backup is asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(transform = gated(FeatureGate::EtcdBackup))]
    pub backup: Option<EtcdBackupEncryption>,
}

impl Default for EtcdManaged {
    fn default() -> Self {
        let storage = EtcdStorage {
            storage_type: EtcdStorageType::PersistentVolume,
            persistent_volume: Some(EtcdPersistentVolume::default()),
            restore_snapshot_url: None,
        };
        Self {
            storage,
            scheduling: None,
            shards: Vec::new(),
            backup: None,
        }
    }
}

string_enum! {
    /// What holds the data of the default shard.
    #[derive(Default)]
    pub enum EtcdStorageType {
        /// One persistent volume per member.
        #[default]
        PersistentVolume,
    }
}

/// Where a managed etcd keeps its data.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = rule(
    "has(self.restoreSnapshotURL) == has(oldSelf.restoreSnapshotURL)",
    "restoreSnapshotURL can be given only when the cluster is created, and then stays",
))]
pub struct EtcdStorage {
    /// What holds the data.
    #[serde(rename = "type")]
    pub storage_type: EtcdStorageType,
    /// The volumes of the members.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub persistent_volume: Option<EtcdPersistentVolume>,
    /// Where a snapshot is fetched from that fills an empty etcd at its first start; at most one address.
    // An empty list is not the same as none: the rule above refuses to turn one into the other.
    #[serde(rename = "restoreSnapshotURL", skip_serializing_if = "Option::is_none")]
    #[schemars(
        length(max = 1),
        transform = text_items(None, Some(1024), vec![]),
        transform = list_set(),
        transform = immutable("restoreSnapshotURL"),
        transform = rule("self.size() <= 1", "give one address at most"),
        transform = rule("self.all(url, url.matches('^(https|s3)://'))", "the address must begin with https:// or s3://"),
    )]
    pub restore_snapshot_url: Option<Vec<String>>,
}

/// The persistent volume of each etcd member.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct EtcdPersistentVolume {
    /// How large each volume is at least.
    #[serde(default = "default_size")]
    #[schemars(transform = immutable("size"))]
    pub size: Quantity,
    /// The StorageClass of the volumes; unset means the default one of the management cluster.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 255), transform = immutable("storageClassName"))]
    pub storage_class_name: Option<String>,
}

impl Default for EtcdPersistentVolume {
    fn default() -> Self {
        Self {
            size: default_size(),
            storage_class_name: None,
        }
    }
}

fn default_size() -> Quantity {
    Quantity::from("8Gi")
}

/// Where the pods of one shard may run, beside what holds for all of the control plane.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = properties(Some(1), None))]
pub struct EtcdScheduling {
    /// Labels that a node must carry.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(transform = properties(Some(1), Some(16)))]
    pub node_selector: BTreeMap<String, String>,
    /// Taints that the pods put up with.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(with = "Vec<TolerationSchema>", length(min = 1, max = 16), transform = atomic())]
    pub tolerations: Vec<Toleration>,
}
