//! What the infrastructure clusters of all providers have in common.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// An object by namespace and name.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NamespacedReference {
    /// The namespace.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub namespace: Option<String>,
    /// The name.
    pub name: String,
}

/// What Cluster API reads of an infrastructure cluster.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct InfrastructureStatus {
    /// Machines can be made; contract v1beta1 reads this.
    #[serde(default)]
    pub ready: bool,
    /// How far the infrastructure has come; contract v1beta2 reads this.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub initialization: Option<InfrastructureInitialization>,
}

/// How far an infrastructure cluster has come.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct InfrastructureInitialization {
    /// Machines can be made; stays true.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provisioned: Option<bool>,
}
