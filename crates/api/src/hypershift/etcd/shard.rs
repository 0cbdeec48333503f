//! Shards: further etcd clusters behind one API server, each for the resources that it names.

use serde::{Deserialize, Serialize};

use super::managed::EtcdScheduling;
use crate::{
    schema::{JsonSchema, immutable, list_map, properties, rule},
    text::{string_enum, string_type},
};

/// On a list of shards: no resource stands in two of them. Two of one name are for the keys of the list to refuse.
pub(super) const NO_SHARED_RESOURCE: &str = "self.all(shard, self.all(other, shard.name == other.name || \
     !shard.resources.exists(resource, resource in other.resources)))";

/// On a list of shards: every shard of before is still there.
pub(super) const SHARDS_KEPT: &str = "oldSelf.all(before, self.exists(now, now.name == before.name))";

string_type! {
    /// The name of a shard; names of objects are made from it.
    pub struct EtcdShardName {
        length: 1..=48,
        matches: r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?$"
            => "must be lower-case letters, digits and hyphens, with a letter or digit at both ends",
    }
}

string_type! {
    /// An API group; empty is the core group.
    pub struct EtcdShardApiGroup {
        length: 0..=253,
        matches: r"^$|^[a-z0-9]([a-z0-9-]*[a-z0-9])?([.][a-z0-9]([a-z0-9-]*[a-z0-9])?)*$"
            => "must be empty or a DNS name in lower case, such as coordination.k8s.io",
    }
}

string_type! {
    /// The plural name of a resource.
    pub struct EtcdShardResourceName {
        length: 1..=63,
        matches: r"^[a-z0-9]([a-z0-9-]*[a-z0-9])?$" => "must be a plural in lower case, such as events",
    }
}

string_type! {
    /// The name of a StorageClass.
    pub struct StorageClassName {
        length: 1..=253,
        matches: r"^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$"
            => "must be lower-case letters, digits, hyphens and dots, with a letter or digit at both ends",
    }
}

/// A resource that a shard holds. It must be built into kube-apiserver: custom and aggregated resources stay where
/// they are.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct EtcdShardResource {
    /// The API group, written out as an empty string for the core group.
    #[schemars(length(min = 0))]
    pub api_group: EtcdShardApiGroup,
    /// The plural name, such as events or leases.
    pub resource: EtcdShardResourceName,
}

/// One further etcd cluster that is run for the hosted cluster.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = rule(
    "has(self.storage) == has(oldSelf.storage)",
    "the storage of a shard can be given only when the cluster is created, and then stays",
))]
pub struct ManagedEtcdShard {
    /// What the shard is called among its siblings.
    #[schemars(transform = immutable("name"))]
    pub name: EtcdShardName,
    /// The resources that the shard holds.
    #[schemars(length(min = 1, max = 20), transform = list_map("apiGroup,resource"), transform = immutable("resources"))]
    pub resources: Vec<EtcdShardResource>,
    /// The number of members, one or three.
    #[schemars(range(min = 1), extend("enum" = vec![1, 3]), transform = immutable("replicas"))]
    pub replicas: i32,
    /// Where the shard keeps its data; unset means as the default shard does.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(transform = immutable("storage"))]
    pub storage: Option<EtcdShardStorage>,
    /// Where the pods of the shard may run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scheduling: Option<EtcdScheduling>,
}

string_enum! {
    /// What holds the data of a shard.
    pub enum EtcdShardStorageType {
        /// One persistent volume per member.
        PersistentVolume,
        /// Space on the node, which is lost together with the pod.
        EmptyDir,
    }
}

/// Where one shard keeps its data.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = rule(
    "!has(self.persistentVolume) || self.type == 'PersistentVolume'",
    "persistentVolume can be set only when type is PersistentVolume",
))]
pub struct EtcdShardStorage {
    /// What holds the data.
    #[serde(rename = "type")]
    pub storage_type: EtcdShardStorageType,
    /// What differs from the volumes of the default shard.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub persistent_volume: Option<EtcdShardPersistentVolume>,
}

/// What the volumes of a shard have of their own; size comes from the default shard.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = properties(Some(1), None))]
pub struct EtcdShardPersistentVolume {
    /// The StorageClass; unset means that of the default shard.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub storage_class_name: Option<StorageClassName>,
}
