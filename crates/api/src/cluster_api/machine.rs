//! Machine: one host of a cluster, what it is made from and how it goes away.

use serde::{Deserialize, Serialize};

use super::{
    common::{ConditionPolarity, ConditionType, ContractVersionedObjectReference},
    machine_status::MachineStatus,
};
use crate::{
    resource::{column, custom_resource},
    schema::{JsonSchema, list_map, properties},
    text::{string_enum, string_type},
};

custom_resource! {
    /// One host of a cluster. Its bootstrap and infrastructure providers make it; it becomes a Node.
    pub struct Machine {
        group: "cluster.x-k8s.io",
        version: "v1beta2",
        plural: "machines",
        scope: Namespaced,
        spec: required MachineSpec,
        status: MachineStatus,
        @short_names: &["ma"],
        @categories: &["cluster-api"],
        @columns: &[
            column("Cluster", "string", ".spec.clusterName", "Cluster that it belongs to"),
            column("Node Name", "string", ".status.nodeRef.name", "Node that it became"),
            column("Provider ID", "string", ".spec.providerID", "Identity at the provider").with_priority(10),
            column("Failure domain", "string", ".status.failureDomain", "Where it stands"),
            column("Ready", "string", r#".status.conditions[?(@.type=="Ready")].status"#, "Whether it can be used"),
            column(
                "Available",
                "string",
                r#".status.conditions[?(@.type=="Available")].status"#,
                "Whether it has been ready for long enough",
            ),
            column(
                "Up-to-date",
                "string",
                r#".status.conditions[?(@.type=="UpToDate")].status"#,
                "Whether it is as its owner wants it now",
            ),
            column(
                "Internal-IP",
                "string",
                r#".status.addresses[?(@.type=="InternalIP")].address"#,
                "Address inside the network",
            )
            .with_priority(10),
            column(
                "External-IP",
                "string",
                r#".status.addresses[?(@.type=="ExternalIP")].address"#,
                "Address outside of the network",
            )
            .with_priority(10),
            column("OS-Image", "string", ".status.nodeInfo.osImage", "Operating system").with_priority(10),
            column(
                "Paused",
                "string",
                r#".status.conditions[?(@.type=="Paused")].status"#,
                "Whether controllers leave it alone",
            )
            .with_priority(10),
            column("Phase", "string", ".status.phase", "How far it has come"),
            column("Age", "date", ".metadata.creationTimestamp", "How long ago it was created"),
            column("Version", "string", ".spec.version", "Version of Kubernetes"),
        ],
    }
}

/// What a machine is to be.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MachineSpec {
    /// The Cluster that the machine belongs to.
    #[schemars(length(min = 1, max = 63))]
    pub cluster_name: String,
    /// What the machine reads at its first boot.
    pub bootstrap: Bootstrap,
    /// The provider's object that stands for the instance.
    pub infrastructure_ref: ContractVersionedObjectReference,
    /// The version of Kubernetes that is wanted, for bootstrap providers that install it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 256))]
    pub version: Option<String>,
    /// The identity of the instance at its provider; the Node has the same. The infrastructure provider decides it.
    #[serde(rename = "providerID", skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 512))]
    pub provider_id: Option<String>,
    /// The failure domain to place the machine in; one that the Cluster lists.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 256))]
    pub failure_domain: Option<String>,
    /// For how many seconds a machine has to be ready before it counts as available; unset means 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub min_ready_seconds: Option<i32>,
    /// Conditions beside the built-in ones without which the machine is not ready.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(min = 1, max = 32), transform = list_map("conditionType"))]
    pub readiness_gates: Vec<MachineReadinessGate>,
    /// How patient the deletion of the machine is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deletion: Option<MachineDeletionSpec>,
    /// Taints of the Node that follow the machine; others on the Node are left alone.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(min = 1, max = 64), transform = list_map("key,effect"))]
    pub taints: Vec<MachineTaint>,
}

/// Where the first boot's data comes from: an object that makes it, or a Secret that holds it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Bootstrap {
    /// The bootstrap provider's object that makes the data.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub config_ref: Option<ContractVersionedObjectReference>,
    /// The Secret that holds the data. Filled in from configRef where that is set.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 0, max = 253))]
    pub data_secret_name: Option<String>,
}

/// A condition that has to be good before a machine is ready.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MachineReadinessGate {
    /// The type of the condition on the Machine; a missing one counts as not good.
    pub condition_type: ConditionType,
    /// Which status is the good one; unset means Positive.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub polarity: Option<ConditionPolarity>,
}

/// How long each step of a deletion is given.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = properties(Some(1), None))]
pub struct MachineDeletionSpec {
    /// Seconds for evicting pods; unset or 0 means without end.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub node_drain_timeout_seconds: Option<i32>,
    /// Seconds for volumes to come off the node; unset or 0 means without end.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub node_volume_detach_timeout_seconds: Option<i32>,
    /// Seconds for removing the Node object; unset means 10, and 0 means without end.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub node_deletion_timeout_seconds: Option<i32>,
}

string_type! {
    /// The key of a taint: a word, or a word behind a DNS name and a slash.
    pub struct TaintKey {
        length: 1..=317,
        pattern: r"^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*\/)?([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$"
            => "must be a word, or a word behind a DNS name and a slash",
    }
}

string_type! {
    /// The value of a taint, as that of a label.
    pub struct TaintValue {
        length: 1..=63,
        pattern: r"^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$"
            => "must begin and end with a letter or digit, with dashes, dots and underscores between",
    }
}

string_enum! {
    /// What a taint does to pods that do not tolerate it.
    pub enum TaintEffect {
        /// New pods stay away.
        NoSchedule,
        /// New pods stay away if they can.
        PreferNoSchedule,
        /// All pods have to leave.
        NoExecute,
    }
}

string_enum! {
    /// How long Cluster API cares for a taint.
    pub enum TaintPropagation {
        /// It is put back whenever it is missing.
        Always,
        /// It is set once, when the node appears, and then left to others.
        OnInitialization,
    }
}

/// A taint that a machine's Node gets.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MachineTaint {
    /// Its key.
    pub key: TaintKey,
    /// Its value, where it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<TaintValue>,
    /// What it does to pods that do not tolerate it.
    pub effect: TaintEffect,
    /// Whether it is kept for the life of the Node or only set at its beginning.
    pub propagation: TaintPropagation,
}
