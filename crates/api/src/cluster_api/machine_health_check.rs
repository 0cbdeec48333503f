//! MachineHealthCheck: when a machine counts as unhealthy, and what is done about it.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, LabelSelector};
use serde::{Deserialize, Serialize};

use super::{
    common::{KindName, ObjectName},
    deprecated::{ConditionsV1Beta1, Deprecated},
};
use crate::{
    common::{ConditionSchema, IntOrString, LabelSelectorSchema},
    resource::{column, custom_resource},
    schema::{JsonSchema, atomic, list_map, properties, text_items},
    text::{string_enum, string_type},
};

custom_resource! {
    /// Watches machines, marks those that are unhealthy, and has them replaced while not too many are.
    pub struct MachineHealthCheck {
        group: "cluster.x-k8s.io",
        version: "v1beta2",
        plural: "machinehealthchecks",
        scope: Namespaced,
        spec: required MachineHealthCheckSpec,
        status: MachineHealthCheckStatus,
        @short_names: &["mhc", "mhcs"],
        @categories: &["cluster-api"],
        @columns: &[
            column("Cluster", "string", ".spec.clusterName", "Cluster that it belongs to"),
            column("Replicas", "integer", ".status.expectedMachines", "How many machines are watched"),
            column("Healthy", "integer", ".status.currentHealthy", "How many of them are healthy"),
            column(
                "Paused",
                "string",
                r#".status.conditions[?(@.type=="Paused")].status"#,
                "Whether controllers leave it alone",
            )
            .with_priority(10),
            column("Age", "date", ".metadata.creationTimestamp", "How long ago it was created"),
        ],
    }
}

/// Which machines are watched, for what, and when they are replaced.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MachineHealthCheckSpec {
    /// The Cluster that the machines belong to.
    #[schemars(length(min = 1, max = 63))]
    pub cluster_name: String,
    /// Which machines are watched.
    #[schemars(with = "LabelSelectorSchema")]
    pub selector: LabelSelector,
    /// What makes a machine unhealthy. Beside this, one whose Node was deleted is, and one that carries the
    /// annotation that asks for its repair.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub checks: Option<MachineHealthChecks>,
    /// What is done about unhealthy machines, and when; unset means that their owner replaces them, always.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub remediation: Option<MachineHealthCheckRemediation>,
}

/// What makes a machine unhealthy; any one of these suffices.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = properties(Some(1), None))]
pub struct MachineHealthChecks {
    /// Seconds within which a machine has to become a Node; unset means 600, and 0 switches this check off.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub node_startup_timeout_seconds: Option<i32>,
    /// Conditions of the Node that are bad when they last.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(min = 1, max = 100), transform = atomic())]
    pub unhealthy_node_conditions: Vec<UnhealthyNodeCondition>,
    /// Conditions of the Machine that are bad when they last.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(min = 1, max = 100), transform = atomic())]
    pub unhealthy_machine_conditions: Vec<UnhealthyMachineCondition>,
}

/// A condition of a Node that is bad when it lasts.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct UnhealthyNodeCondition {
    /// Which condition.
    #[schemars(length(min = 1))]
    pub r#type: String,
    /// The bad status: True, False or Unknown.
    #[schemars(length(min = 1))]
    pub status: String,
    /// After how many seconds of it the machine is unhealthy.
    #[schemars(range(min = 0))]
    pub timeout_seconds: i32,
}

string_type! {
    /// The type of a Machine's condition that a health check may look at.
    pub struct CheckedConditionType {
        length: 1..=316,
        pattern: r"^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])$"
            => "must be a word such as EtcdPodHealthy, or one such as example.com/Healthy",
        rule: "!(self in ['Ready', 'Available', 'HealthCheckSucceeded', 'OwnerRemediated', 'ExternallyRemediated'])"
            => "choose a condition that does not itself follow from health checks: not Ready, Available, \
                HealthCheckSucceeded, OwnerRemediated or ExternallyRemediated",
        check: is_not_derived_from_health,
    }
}

fn is_not_derived_from_health(condition: &str) -> bool {
    ![
        "Ready",
        "Available",
        "HealthCheckSucceeded",
        "OwnerRemediated",
        "ExternallyRemediated",
    ]
    .contains(&condition)
}

string_enum! {
    /// The status of a condition.
    pub enum ConditionStatus {
        /// It holds.
        True,
        /// It does not hold.
        False,
        /// It cannot be told.
        Unknown,
    }
}

/// A condition of a Machine that is bad when it lasts.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct UnhealthyMachineCondition {
    /// Which condition.
    pub r#type: CheckedConditionType,
    /// The bad status.
    pub status: ConditionStatus,
    /// After how many seconds of it the machine is unhealthy.
    #[schemars(range(min = 0))]
    pub timeout_seconds: i32,
}

/// What is done about unhealthy machines, and when.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = properties(Some(1), None))]
pub struct MachineHealthCheckRemediation {
    /// How many may be unhealthy for anything to be done; unset means any number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trigger_if: Option<RemediationTrigger>,
    /// A template of another controller's request for repair; unset means that the owner replaces the machine.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub template_ref: Option<RemediationTemplateReference>,
}

string_type! {
    /// A range such as `[3-5]`, both ends included.
    pub struct UnhealthyRange {
        length: 1..=32,
        pattern: r"^\[[0-9]+-[0-9]+\]$" => "must be two numbers in brackets, such as [3-5]",
    }
}

/// How many machines may be unhealthy for anything to be done; beyond, the fault is taken to lie elsewhere.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = properties(Some(1), None))]
pub struct RemediationTrigger {
    /// At most this many, or this share of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unhealthy_less_than_or_equal_to: Option<IntOrString>,
    /// At least the first and at most the second of these numbers; wins over the other field.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unhealthy_in_range: Option<UnhealthyRange>,
}

string_type! {
    /// A group with a version, such as `infrastructure.cluster.x-k8s.io/v1beta1`.
    pub struct ApiVersion {
        length: 1..=317,
        pattern: r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*\/[a-z]([-a-z0-9]*[a-z0-9])?$"
            => "must be a DNS name, a slash and a version",
    }
}

/// A template of requests for repair.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RemediationTemplateReference {
    /// Group and version of the kind; has to follow the provider when that changes its version.
    pub api_version: ApiVersion,
    /// Which kind of template is meant.
    pub kind: KindName,
    /// Which template is meant.
    pub name: ObjectName,
}

/// What has been observed of the watched machines.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = properties(Some(1), None))]
pub struct MachineHealthCheckStatus {
    /// The aspects of the check: RemediationAllowed and Paused.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(with = "Vec<ConditionSchema>", length(max = 32), transform = list_map("type"))]
    pub conditions: Vec<Condition>,
    /// How many machines are watched.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub expected_machines: Option<i32>,
    /// How many of them are healthy.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub current_healthy: Option<i32>,
    /// How many more may be replaced before the check stops.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub remediations_allowed: Option<i32>,
    /// The names of the watched machines.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 10000), transform = atomic(), transform = text_items(Some(1), Some(253), vec![]))]
    pub targets: Vec<String>,
    /// The generation of the spec that this status answers.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub observed_generation: Option<i64>,
    /// What is left of older versions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deprecated: Option<Deprecated<ConditionsV1Beta1>>,
}
