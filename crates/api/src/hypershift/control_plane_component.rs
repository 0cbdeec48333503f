//! ControlPlaneComponent: how far one component of a hosted control plane has come.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use serde::{Deserialize, Serialize};

use crate::{
    common::ConditionSchema,
    resource::{column, custom_resource, wide},
    schema::{JsonSchema, list_map},
};

custom_resource! {
    /// The rollout of one component of a hosted control plane, one object per component.
    pub struct ControlPlaneComponent {
        group: "hypershift.openshift.io",
        version: "v1beta1",
        plural: "controlplanecomponents",
        scope: Namespaced,
        spec: optional ControlPlaneComponentSpec,
        status: ControlPlaneComponentStatus,
        @short_names: &["cpc", "cpcs"],
        @columns: &[
            column("Version", "string", ".status.version", "Version that runs"),
            column("Available", "string", r#".status.conditions[?(@.type=="Available")].status"#, "Whether it serves"),
            column(
                "RolloutComplete",
                "string",
                r#".status.conditions[?(@.type=="RolloutComplete")].status"#,
                "Whether every replica runs the version",
            ),
            column("Message", "string", r#".status.conditions[?(@.type=="Available")].message"#, "Why it serves or not"),
            wide(
                "RolloutCompleteMessage",
                "string",
                r#".status.conditions[?(@.type=="RolloutComplete")].message"#,
                "How far the rollout is",
            ),
        ],
    }
}

/// Nothing is asked of a component: its object only reports.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct ControlPlaneComponentSpec {}

/// What has been observed of a component.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ControlPlaneComponentStatus {
    /// Available and RolloutComplete.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(with = "Vec<ConditionSchema>", length(max = 10), transform = list_map("type"))]
    pub conditions: Vec<Condition>,
    /// The version that runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 255))]
    pub version: Option<String>,
    /// Everything that was written for the component.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 100))]
    pub resources: Vec<ComponentResource>,
    /// The generation of the HostedControlPlane that the component follows.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 9_007_199_254_740_992_i64))]
    pub observed_generation: Option<i64>,
}

/// One object that was written for a component.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ComponentResource {
    /// API group; empty for the core group.
    #[schemars(length(max = 255))]
    pub group: String,
    /// Kind.
    #[schemars(length(max = 255))]
    pub kind: String,
    /// Name.
    #[schemars(length(max = 255))]
    pub name: String,
}
