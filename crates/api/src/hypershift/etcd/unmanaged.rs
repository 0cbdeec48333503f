//! An etcd that the user runs: where it is and how the control plane proves itself to it.

use serde::{Deserialize, Serialize};

use super::shard::{EtcdShardName, EtcdShardResource, NO_SHARED_RESOURCE, SHARDS_KEPT};
use crate::{
    common::LocalObjectReference,
    schema::{FeatureGate, JsonSchema, gated, immutable, list_map, pattern, rule},
    text::string_type,
};

/// An etcd that the user runs.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = rule(
    "has(self.shards) == has(oldSelf.shards)",
    "shards can be given only when the cluster is created, and then stay",
).only_with(FeatureGate::EtcdSharding))]
pub struct EtcdUnmanaged {
    /// The address of the clients' port with its scheme, such as https://etcd.example.com:2379.
    #[schemars(length(max = 255), transform = pattern("^https://"))]
    pub endpoint: String,
    /// How the control plane and etcd prove themselves to each other, in every shard.
    pub tls: EtcdTls,
    /// Further etcd clusters, each for the resources that it names; all others go to endpoint.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(
        length(min = 1, max = 10),
        transform = list_map("name"),
        transform = gated(FeatureGate::EtcdSharding),
        transform = rule(NO_SHARED_RESOURCE, "a resource can be in one shard only"),
        transform = rule("self.size() == oldSelf.size()", "shards can be neither added nor removed"),
        transform = rule(SHARDS_KEPT, "a shard cannot be replaced by one with another name"),
    )]
    pub shards: Vec<UnmanagedEtcdShard>,
}

/// How the control plane proves itself to an etcd that the user runs.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct EtcdTls {
    /// A Secret with the keys etcd-client.crt, etcd-client.key and etcd-client-ca.crt.
    pub client_secret: LocalObjectReference,
}

string_type! {
    /// The address of a shard that the user runs.
    pub struct EtcdShardEndpoint {
        length: 1..=267,
        rule: "isURL(self) && url(self).getScheme() == 'https'" => "must be a URL that begins with https://",
        check: is_https_url,
    }
}

/// Stricter than the schema, which also takes a URL without a host: nothing can be reached under such a one.
fn is_https_url(text: &str) -> bool {
    text.strip_prefix("https://").is_some_and(|rest| {
        let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
        !host.is_empty() && !rest.contains(|one: char| one.is_whitespace() || one.is_control())
    })
}

/// One further etcd cluster that the user runs; it trusts the same authority and client as the default one.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct UnmanagedEtcdShard {
    /// What the shard is called among its siblings.
    #[schemars(transform = immutable("name"))]
    pub name: EtcdShardName,
    /// The resources that the shard holds.
    #[schemars(length(min = 1, max = 20), transform = list_map("apiGroup,resource"), transform = immutable("resources"))]
    pub resources: Vec<EtcdShardResource>,
    /// The address of the clients' port with its scheme.
    #[schemars(transform = immutable("endpoint"))]
    pub endpoint: EtcdShardEndpoint,
}
