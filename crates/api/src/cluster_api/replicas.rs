//! What MachineSet and MachineDeployment, and the summaries in a Cluster, say alike of many machines.

use serde::{Deserialize, Serialize};

use super::{common::TemplateMetadata, machine::MachineSpec};
use crate::{
    schema::{JsonSchema, properties},
    text::string_enum,
};

/// What each machine of a set is made from.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MachineTemplateSpec {
    /// Labels and annotations of the machines.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metadata: Option<TemplateMetadata>,
    /// What each machine is to be.
    pub spec: MachineSpec,
}

/// How machines are named.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = properties(Some(1), None))]
pub struct MachineNaming {
    /// A Go template over .cluster.name, .machineSet.name and .random; it has to use .random, and what it gives has to
    /// be a name of at most 63 characters.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 256))]
    pub template: Option<String>,
}

string_enum! {
    /// Which machines go first when there are too many; marked and unhealthy ones always go before the others.
    pub enum DeletionOrder {
        /// Any.
        Random,
        /// The youngest.
        Newest,
        /// The oldest.
        Oldest,
    }
}

/// How machines that are too many are chosen.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = properties(Some(1), None))]
pub struct DeletionPreference {
    /// Which machines go first; unset means Random.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub order: Option<DeletionOrder>,
}

/// How many machines run a version.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct StatusVersion {
    /// The version of Kubernetes.
    #[schemars(length(min = 1, max = 256))]
    pub version: String,
    /// How many run it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub replicas: Option<i32>,
}

/// A step of an upgrade that is still ahead.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct UpgradePlanVersion {
    /// The version of Kubernetes that the step reaches.
    #[schemars(length(min = 1, max = 256))]
    pub version: String,
}
