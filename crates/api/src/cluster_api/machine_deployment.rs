//! MachineDeployment: machines that are replaced, set by set, when their template changes.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, LabelSelector, Time};
use serde::{Deserialize, Serialize};

use super::{
    deprecated::{Deprecated, MachineDeploymentV1Beta1},
    replicas::{DeletionPreference, MachineNaming, MachineTemplateSpec, StatusVersion},
};
use crate::{
    common::{ConditionSchema, IntOrString, LabelSelectorSchema, TimeSchema},
    resource::{Scale, column, custom_resource},
    schema::{JsonSchema, list_map, properties},
    text::string_enum,
};

custom_resource! {
    /// Machines that are replaced, little by little, when their template changes.
    pub struct MachineDeployment {
        group: "cluster.x-k8s.io",
        version: "v1beta2",
        plural: "machinedeployments",
        scope: Namespaced,
        spec: required MachineDeploymentSpec,
        status: MachineDeploymentStatus,
        @short_names: &["md"],
        @categories: &["cluster-api"],
        @scale: Some(Scale { spec: ".spec.replicas", status: ".status.replicas", selector: Some(".status.selector") }),
        @columns: &[
            column("Cluster", "string", ".spec.clusterName", "Cluster that it belongs to"),
            column(
                "Available",
                "string",
                r#".status.conditions[?(@.type=="Available")].status"#,
                "Whether enough machines are available",
            ),
            column("Desired", "integer", ".spec.replicas", "How many machines are wanted"),
            column("Current", "integer", ".status.replicas", "How many machines there are"),
            column("Ready", "integer", ".status.readyReplicas", "How many can be used"),
            column("Available", "integer", ".status.availableReplicas", "How many have been ready for long enough"),
            column("Up-to-date", "integer", ".status.upToDateReplicas", "How many are as the template is now"),
            column(
                "Paused",
                "string",
                r#".status.conditions[?(@.type=="Paused")].status"#,
                "Whether controllers leave it alone",
            )
            .with_priority(10),
            column("Phase", "string", ".status.phase", "What is going on"),
            column("Age", "date", ".metadata.creationTimestamp", "How long ago it was created"),
            column("Version", "string", ".spec.template.spec.version", "Version of Kubernetes"),
        ],
    }
}

/// How many machines are wanted, of what kind, and how a change reaches them.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MachineDeploymentSpec {
    /// The Cluster that the machines belong to.
    #[schemars(length(min = 1, max = 63))]
    pub cluster_name: String,
    /// How many machines are wanted; unset is filled in from autoscaling annotations or as 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replicas: Option<i32>,
    /// Which machines count; the labels of the template have to match.
    #[schemars(with = "LabelSelectorSchema")]
    pub selector: LabelSelector,
    /// What each machine is made from.
    pub template: MachineTemplateSpec,
    /// How a changed template reaches the machines.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rollout: Option<MachineDeploymentRollout>,
    /// How unhealthy machines are replaced.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub remediation: Option<MachineDeploymentRemediation>,
    /// How new machines are named.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub machine_naming: Option<MachineNaming>,
    /// Which machines go first when there are too many.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deletion: Option<DeletionPreference>,
    /// Whether changes are held back.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub paused: Option<bool>,
}

/// When and how machines are replaced.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = properties(Some(1), None))]
pub struct MachineDeploymentRollout {
    /// Machines older than this moment are replaced once it has passed, even without a change.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<TimeSchema>")]
    pub after: Option<Time>,
    /// By which strategy machines are replaced.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub strategy: Option<MachineDeploymentStrategy>,
}

string_enum! {
    /// Who decides when a machine is replaced.
    pub enum MachineDeploymentStrategyType {
        /// The controller does, within bounds.
        RollingUpdate,
        /// Whoever deletes a machine does.
        OnDelete,
    }
}

/// How machines are replaced.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = properties(Some(1), None))]
pub struct MachineDeploymentStrategy {
    /// Who decides when a machine is replaced.
    pub r#type: MachineDeploymentStrategyType,
    /// The bounds of RollingUpdate.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rolling_update: Option<MachineDeploymentRollingUpdate>,
}

/// How far the number of machines may stray while they are replaced.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = properties(Some(1), None))]
pub struct MachineDeploymentRollingUpdate {
    /// How many, or what share rounded up, may be there beyond the wanted number; unset means 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_surge: Option<IntOrString>,
    /// How many, or what share rounded down, may be missing; unset means 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_unavailable: Option<IntOrString>,
}

/// How unhealthy machines are replaced.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = properties(Some(1), None))]
pub struct MachineDeploymentRemediation {
    /// How many machines, or what share rounded up, may be under repair at a time; unset means without bound.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_in_flight: Option<IntOrString>,
}

/// What has been observed of the machines of a deployment.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = properties(Some(1), None))]
pub struct MachineDeploymentStatus {
    /// The aspects of the deployment: Available, RollingOut, ScalingUp, Remediating and others.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(with = "Vec<ConditionSchema>", length(max = 32), transform = list_map("type"))]
    pub conditions: Vec<Condition>,
    /// The selector as text, for the scale subresource.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 4096))]
    pub selector: Option<String>,
    /// How many machines there are.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replicas: Option<i32>,
    /// How many of them are Ready.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ready_replicas: Option<i32>,
    /// How many of them are Available.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub available_replicas: Option<i32>,
    /// How many of them are UpToDate.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub up_to_date_replicas: Option<i32>,
    /// What is going on, in one word.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub phase: Option<MachineDeploymentPhase>,
    /// How many of them run which version of Kubernetes, oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(min = 1, max = 100), transform = list_map("version"))]
    pub versions: Vec<StatusVersion>,
    /// The generation of the spec that this status answers.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub observed_generation: Option<i64>,
    /// What is left of older versions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deprecated: Option<Deprecated<MachineDeploymentV1Beta1>>,
}

string_enum! {
    /// What is going on with a deployment.
    pub enum MachineDeploymentPhase {
        /// Machines are being added.
        ScalingUp,
        /// Machines are being removed.
        ScalingDown,
        /// The wanted number runs.
        Running,
        /// It failed for good; only old controllers say so.
        Failed,
        /// It cannot be told.
        Unknown,
    }
}
