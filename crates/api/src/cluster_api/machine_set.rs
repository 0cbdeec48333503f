//! MachineSet: a number of machines that are all made from one template.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, LabelSelector};
use serde::{Deserialize, Serialize};

use super::{
    deprecated::{Deprecated, MachineSetV1Beta1},
    replicas::{DeletionPreference, MachineNaming, MachineTemplateSpec, StatusVersion},
};
use crate::{
    common::{ConditionSchema, LabelSelectorSchema},
    resource::{Scale, column, custom_resource},
    schema::{JsonSchema, list_map, properties},
};

custom_resource! {
    /// A number of machines that are all made from one template; one revision of a MachineDeployment.
    pub struct MachineSet {
        group: "cluster.x-k8s.io",
        version: "v1beta2",
        plural: "machinesets",
        scope: Namespaced,
        spec: required MachineSetSpec,
        status: MachineSetStatus,
        @short_names: &["ms"],
        @categories: &["cluster-api"],
        @scale: Some(Scale { spec: ".spec.replicas", status: ".status.replicas", selector: Some(".status.selector") }),
        @columns: &[
            column("Cluster", "string", ".spec.clusterName", "Cluster that it belongs to"),
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
            column("Age", "date", ".metadata.creationTimestamp", "How long ago it was created"),
            column("Version", "string", ".spec.template.spec.version", "Version of Kubernetes"),
        ],
    }
}

/// How many machines are wanted, and of what kind.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MachineSetSpec {
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
    /// How new machines are named.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub machine_naming: Option<MachineNaming>,
    /// Which machines go first when there are too many.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deletion: Option<DeletionPreference>,
}

/// What has been observed of the machines of a set.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = properties(Some(1), None))]
pub struct MachineSetStatus {
    /// The aspects of the set: MachinesReady, MachinesUpToDate, ScalingUp, ScalingDown and others.
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
    pub deprecated: Option<Deprecated<MachineSetV1Beta1>>,
}
