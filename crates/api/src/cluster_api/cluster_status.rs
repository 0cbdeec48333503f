//! What has been observed of a Cluster.

use std::collections::BTreeMap;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use serde::{Deserialize, Serialize};

use super::{
    deprecated::{Deprecated, FailureV1Beta1},
    replicas::{StatusVersion, UpgradePlanVersion},
};
use crate::{
    common::ConditionSchema,
    schema::{JsonSchema, atomic, list_map, properties},
    text::string_enum,
};

/// What has been observed of a cluster.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = properties(Some(1), None))]
pub struct ClusterStatus {
    /// The aspects of the cluster: Available, InfrastructureReady, ControlPlaneAvailable, Deleting and others.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(with = "Vec<ConditionSchema>", length(max = 32), transform = list_map("type"))]
    pub conditions: Vec<Condition>,
    /// Which of the steps to a usable cluster are done.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub initialization: Option<ClusterInitialization>,
    /// How far the cluster has come, in one word.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub phase: Option<ClusterPhase>,
    /// The machines of the control plane, where it has any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub control_plane: Option<ReplicaSummary>,
    /// The worker machines.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub workers: Option<ReplicaSummary>,
    /// Where machines can be placed, as the infrastructure provider offers it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(min = 1, max = 100), transform = list_map("name"))]
    pub failure_domains: Vec<FailureDomain>,
    /// The generation of the spec that this status answers.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub observed_generation: Option<i64>,
    /// What is left of older versions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deprecated: Option<Deprecated<FailureV1Beta1>>,
}

/// Which of the steps to a usable cluster are done; once true they stay so.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = properties(Some(1), None))]
pub struct ClusterInitialization {
    /// Whether the provider has made what all machines share.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub infrastructure_provisioned: Option<bool>,
    /// Whether the control plane has answered for the first time; machines wait for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub control_plane_initialized: Option<bool>,
}

string_enum! {
    /// How far a cluster has come.
    pub enum ClusterPhase {
        /// Nothing has been made yet.
        Pending,
        /// It is being made.
        Provisioning,
        /// It exists and has an address.
        Provisioned,
        /// It is being removed.
        Deleting,
        /// It failed for good; only old controllers say so.
        Failed,
        /// It cannot be told.
        Unknown,
    }
}

/// Machines of a cluster, counted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ReplicaSummary {
    /// How many are wanted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub desired_replicas: Option<i32>,
    /// How many there are.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replicas: Option<i32>,
    /// How many are UpToDate.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub up_to_date_replicas: Option<i32>,
    /// How many are Ready.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ready_replicas: Option<i32>,
    /// How many are Available.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub available_replicas: Option<i32>,
    /// How many run which version of Kubernetes, oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(min = 1, max = 32), transform = atomic())]
    pub versions: Vec<StatusVersion>,
    /// The versions that an upgrade under way still has ahead, nearest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(min = 1, max = 32), transform = atomic())]
    pub upgrade_plan: Vec<UpgradePlanVersion>,
}

/// A place for machines that fails apart from the others.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FailureDomain {
    /// Its name.
    #[schemars(length(min = 1, max = 256))]
    pub name: String,
    /// Whether machines of a control plane may stand there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub control_plane: Option<bool>,
    /// What the provider adds.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub attributes: BTreeMap<String, String>,
}
