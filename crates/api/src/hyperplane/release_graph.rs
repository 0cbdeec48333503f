//! From which versions an update to a release is offered, and what may go wrong for whom.

use serde::{Deserialize, Serialize};

use super::release_text::VersionText;
use crate::{
    hypershift::version_status::PromQlCondition,
    schema::{JsonSchema, atomic, list_map, pattern, rule},
};

/// An update to the release is offered from one version; with risks it is offered to those whom none concerns.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ReleaseEdge {
    /// The version of the same distribution that a cluster has.
    pub from: VersionText,
    /// What may go wrong. Each is accepted by its name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 16), transform = list_map("name"))]
    pub risks: Vec<ReleaseRisk>,
}

/// One thing that may go wrong with an update.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ReleaseRisk {
    /// The risk in one CamelCase word.
    #[schemars(length(min = 1, max = 253), transform = pattern("^[A-Za-z]([0-9A-Za-z_,:]*[0-9A-Za-z_])?$"))]
    pub name: String,
    /// The risk in sentences, for a person.
    #[schemars(length(min = 1, max = 4096))]
    pub message: String,
    /// Where a person can read more.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 2048))]
    pub url: Option<String>,
    /// Tests for whether a cluster is concerned; the first one that can be evaluated decides. Without any, nobody can
    /// tell, and the update is not recommended.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 4), transform = atomic())]
    pub matching_rules: Vec<MatchingRule>,
}

/// A test for whether a cluster is concerned by a risk.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = rule("(self.type == 'PromQL') == has(self.promql)", "promql goes with type PromQL, and only with it"))]
pub struct MatchingRule {
    /// How it is found out: Always, PromQL, or a way that only other releases know and this one passes over.
    // No enumeration: graphs carry types that older readers do not know, and must still be taken.
    #[serde(rename = "type")]
    #[schemars(length(min = 1, max = 63), transform = pattern("^[A-Za-z][0-9A-Za-z]*$"))]
    pub rule_type: String,
    /// The query, for PromQL.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub promql: Option<PromQlCondition>,
}
