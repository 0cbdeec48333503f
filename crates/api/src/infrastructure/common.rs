//! What the infrastructure clusters and machines of all providers have in common.

use serde::{Deserialize, Serialize};

use crate::{cluster_api::machine_status::MachineAddress, schema::JsonSchema};

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

/// What Cluster API reads of an infrastructure machine.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct InfrastructureMachineStatus {
    /// The machine is there; contract v1beta1 reads this.
    #[serde(default)]
    pub ready: bool,
    /// How far the machine has come; contract v1beta2 reads this.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub initialization: Option<InfrastructureInitialization>,
    /// Names and addresses of the machine.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub addresses: Vec<MachineAddress>,
    /// The failure domain in which the machine was placed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failure_domain: Option<String>,
}

/// How far an infrastructure cluster or machine has come.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct InfrastructureInitialization {
    /// Machines can be made, or the machine is there; stays true.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provisioned: Option<bool>,
}
