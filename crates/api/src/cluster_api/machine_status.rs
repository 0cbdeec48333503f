//! What has been observed of a Machine.

use k8s_openapi::{
    api::core::v1::NodeSystemInfo,
    apimachinery::pkg::apis::meta::v1::{Condition, Time},
};
use serde::{Deserialize, Serialize};

use super::{
    common::ObjectName,
    deprecated::{Deprecated, FailureV1Beta1},
    node_info::NodeSystemInfoSchema,
};
use crate::{
    common::{ConditionSchema, TimeSchema},
    schema::{JsonSchema, atomic, list_map, properties},
    text::string_enum,
};

/// What has been observed of a machine.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = properties(Some(1), None))]
pub struct MachineStatus {
    /// The aspects of the machine: Ready, Available, UpToDate, NodeHealthy, Deleting and others.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(with = "Vec<ConditionSchema>", length(max = 32), transform = list_map("type"))]
    pub conditions: Vec<Condition>,
    /// Which of the steps to a running machine are done.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub initialization: Option<MachineInitialization>,
    /// How far the machine has come, in one word.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub phase: Option<MachinePhase>,
    /// The Node that the machine became.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub node_ref: Option<MachineNodeReference>,
    /// What the kubelet says of that Node.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<NodeSystemInfoSchema>")]
    pub node_info: Option<NodeSystemInfo>,
    /// Under which names and addresses the machine is known, as the infrastructure provider reports them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 256), transform = atomic())]
    pub addresses: Vec<MachineAddress>,
    /// The failure domain in which it was placed.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 256))]
    pub failure_domain: Option<String>,
    /// When its certificates expire; only for machines of a control plane.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<TimeSchema>")]
    pub certificates_expiry_date: Option<Time>,
    /// When the phase last changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<TimeSchema>")]
    pub last_updated: Option<Time>,
    /// When the steps of a deletion began, once it is under way.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deletion: Option<MachineDeletionStatus>,
    /// The generation of the spec that this status answers.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub observed_generation: Option<i64>,
    /// What is left of older versions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deprecated: Option<Deprecated<FailureV1Beta1>>,
}

/// Which of the steps to a running machine are done; once true they stay so.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = properties(Some(1), None))]
pub struct MachineInitialization {
    /// Whether the provider has made the instance.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub infrastructure_provisioned: Option<bool>,
    /// Whether the data for the first boot exists.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bootstrap_data_secret_created: Option<bool>,
}

string_enum! {
    /// How far a machine has come.
    pub enum MachinePhase {
        /// Nothing has been made yet.
        Pending,
        /// The instance is being made.
        Provisioning,
        /// The instance exists; its Node does not yet.
        Provisioned,
        /// The Node exists and is ready.
        Running,
        /// The machine is being changed in place.
        Updating,
        /// The machine is being removed.
        Deleting,
        /// The machine is gone; its object follows.
        Deleted,
        /// The machine failed for good; only old controllers say so.
        Failed,
        /// It cannot be told.
        Unknown,
    }
}

/// A Node of the hosted cluster.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MachineNodeReference {
    /// Its name there.
    pub name: ObjectName,
}

string_enum! {
    /// What an address of a machine is.
    pub enum MachineAddressType {
        /// The name that the host calls itself.
        Hostname,
        /// An address that is reached from outside.
        ExternalIp = "ExternalIP",
        /// An address that is reached from within the network.
        InternalIp = "InternalIP",
        /// A name that leads to an outside address.
        ExternalDns = "ExternalDNS",
        /// A name that leads to an inside address.
        InternalDns = "InternalDNS",
    }
}

/// A name or an address of a machine.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MachineAddress {
    /// What it is.
    pub r#type: MachineAddressType,
    /// The name or address itself.
    #[schemars(length(min = 1, max = 256))]
    pub address: String,
}

/// When the steps of a deletion began; each is measured against its timeout.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MachineDeletionStatus {
    /// Since when the first eviction is held back by hooks.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<TimeSchema>")]
    pub wait_for_pre_drain_hook_start_time: Option<Time>,
    /// Since when pods are being evicted.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<TimeSchema>")]
    pub node_drain_start_time: Option<Time>,
    /// Since when volumes are awaited to come off.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<TimeSchema>")]
    pub wait_for_node_volume_detach_start_time: Option<Time>,
    /// Since when the end of the instance is held back by hooks.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<TimeSchema>")]
    pub wait_for_pre_terminate_hook_start_time: Option<Time>,
}
