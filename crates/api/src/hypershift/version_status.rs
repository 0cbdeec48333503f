//! Which version a hosted cluster runs, which ones it ran, and where it may go.
//!
//! The same shapes serve HostedCluster and HostedControlPlane.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, Time};
use serde::{Deserialize, Serialize};

use crate::{
    common::{ConditionSchema, TimeSchema},
    schema::{FeatureGate, JsonSchema, atomic, format, gated, list_map, list_set, nullable, rule, text_items},
    text::{string_enum, string_type},
};

/// The version of the whole cluster, as OpenShift's cluster-version operator reports it.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ClusterVersionStatus {
    /// Where the cluster is going, or where it is once the newest entry of history is complete.
    pub desired: VersionedRelease,
    /// The versions that were applied, newest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub history: Vec<ClusterVersionUpdate>,
    /// The generation of the spec that this status answers.
    pub observed_generation: i64,
    /// Updates that can be recommended without reservation. Null means that they are not known.
    #[schemars(with = "Vec<VersionedRelease>", length(max = 100), transform = nullable())]
    pub available_updates: Option<Vec<VersionedRelease>>,
    /// Updates that can be recommended unless one of their risks concerns this cluster.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 100), transform = atomic())]
    pub conditional_updates: Vec<ConditionalUpdate>,
}

string_enum! {
    /// Whether a release serves one processor architecture or many.
    pub enum ReleaseArchitecture {
        /// Many.
        Multi,
        /// One.
        Single = "",
    }
}

/// A release, as the update service knows it.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct VersionedRelease {
    /// The version; may be empty as long as it is not known.
    pub version: String,
    /// Where the image of the release is pulled from.
    pub image: String,
    /// Where a person can read about the release.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// The update channels that carry the release.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(transform = list_set())]
    pub channels: Vec<String>,
    /// Whether it serves one processor architecture or many.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(transform = gated(FeatureGate::ImageStreamImportMode))]
    pub architecture: Option<ReleaseArchitecture>,
}

string_enum! {
    /// How far an update came.
    pub enum UpdateState {
        /// Everything reached the version at least once.
        Completed,
        /// Something has not reached the version.
        Partial,
    }
}

/// One update of the whole cluster, under way or past.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ClusterVersionUpdate {
    /// How far it came: Completed or Partial.
    #[schemars(with = "String")]
    pub state: UpdateState,
    /// The version; absent when the image does not tell it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// The release image.
    pub image: String,
    /// When it began.
    #[schemars(with = "TimeSchema")]
    pub started_time: Time,
    /// When it ended, by completion or by the start of the next one; null for the one that is under way.
    #[schemars(with = "TimeSchema", transform = nullable())]
    pub completion_time: Option<Time>,
    /// Whether the signature of the release was checked beforehand.
    pub verified: bool,
    /// Warnings that were overridden to begin it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub accepted_risks: Option<String>,
}

/// An update with risks that concern some clusters.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ConditionalUpdate {
    /// Where the update leads.
    pub release: VersionedRelease,
    /// What may go wrong, and for whom.
    #[schemars(length(min = 1, max = 200), transform = list_map("name"))]
    pub risks: Vec<ConditionalUpdateRisk>,
    /// The names of all risks that could concern this update; it is open only while each of them is either absent
    /// here or accepted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(
        length(min = 1, max = 500),
        transform = text_items(None, Some(256), vec![]),
        transform = list_set(),
        transform = gated(FeatureGate::ClusterUpdateAcceptRisks),
    )]
    pub risk_names: Vec<String>,
    /// Recommended: whether this cluster should take the update.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(with = "Vec<ConditionSchema>", transform = list_map("type"))]
    pub conditions: Vec<Condition>,
}

/// One thing that may go wrong with an update.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ConditionalUpdateRisk {
    /// The risk in one CamelCase word.
    #[schemars(length(min = 1))]
    pub name: String,
    /// The risk in sentences, for a person.
    #[schemars(length(min = 1))]
    pub message: String,
    /// Where a person can read more.
    #[schemars(length(min = 1), transform = format("uri"))]
    pub url: String,
    /// Tests for whether a cluster is concerned; the first one that can be evaluated decides.
    #[schemars(length(min = 1), transform = atomic())]
    pub matching_rules: Vec<ClusterCondition>,
    /// Applies: whether this cluster is concerned.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(
        with = "Vec<ConditionSchema>",
        length(min = 1, max = 8),
        transform = list_map("type"),
        transform = rule(
            "self.exists_one(condition, condition.type == 'Applies')",
            "one condition of type Applies must be among them",
        ),
        transform = gated(FeatureGate::ClusterUpdateAcceptRisks),
    )]
    pub conditions: Vec<Condition>,
}

string_enum! {
    /// How it is found out whether a cluster is concerned by a risk.
    pub enum ClusterConditionType {
        /// Every cluster is.
        Always,
        /// A query to the metrics of the cluster tells.
        PromQl = "PromQL",
    }
}

/// A test for whether a cluster is concerned by a risk.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ClusterCondition {
    /// How it is found out.
    #[serde(rename = "type")]
    pub condition_type: ClusterConditionType,
    /// The query, for PromQL.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub promql: Option<PromQlCondition>,
}

/// A test by a query to the metrics of the cluster.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PromQlCondition {
    /// A query whose answer is 1 where the risk exists and 0 where it does not; any other answer decides nothing.
    pub promql: String,
}

/// The version of the components on the management cluster, which can be ahead of the nodes.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ControlPlaneVersionStatus {
    /// Where the control plane is going, or where it is once the newest entry of history is complete.
    pub desired: VersionedRelease,
    /// The versions that were applied, newest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(min = 1, max = 100), transform = atomic())]
    pub history: Vec<ControlPlaneUpdate>,
    /// The generation of the HostedControlPlane that this status answers.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 9_007_199_254_740_992_i64))]
    pub observed_generation: Option<i64>,
}

string_type! {
    /// The version of a release: three numbers, and whatever follows them.
    pub struct ReleaseVersion {
        length: 1..=64,
        matches: r"^[0-9]+\.[0-9]+\.[0-9]+" => "must begin with three numbers, such as 4.20.1",
    }
}

/// One update of the control plane, under way or past.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ControlPlaneUpdate {
    /// Completed once every component runs the version; Partial until then.
    pub state: UpdateState,
    /// The version.
    pub version: ReleaseVersion,
    /// The release image.
    #[schemars(length(min = 1, max = 447))]
    pub image: String,
    /// When it began.
    #[schemars(with = "TimeSchema")]
    pub started_time: Time,
    /// When every component had reached the version; absent until then.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<TimeSchema>")]
    pub completion_time: Option<Time>,
}
