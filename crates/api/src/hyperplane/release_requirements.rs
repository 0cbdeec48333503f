//! What must hold before a cluster goes to a release, or leaves it: providers, gates, nodes, kubelet configuration.

use serde::{Deserialize, Serialize};

use super::release_text::VersionText;
use crate::{
    schema::{JsonSchema, list_map, list_set, pattern, properties, rule, text_items},
    text::string_enum,
};

/// Which versions of a provider go with the release. A release that needs a new provider has a lower bound; the one
/// before it has an upper bound when the new provider no longer serves it. Together they pair both ways.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(
    transform = rule(
        "has(self.minVersion) || has(self.maxVersion) || has(self.belowVersion)",
        "give minVersion, maxVersion or belowVersion",
    ),
    transform = rule(
        "!has(self.maxVersion) || !has(self.belowVersion)",
        "give maxVersion or belowVersion, not both",
    ),
)]
pub struct ProviderPairing {
    /// The provider, such as an infrastructure provider of Cluster API, or the chart of a network plugin.
    #[schemars(length(min = 1, max = 253))]
    pub name: String,
    /// The oldest version that serves the release.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_version: Option<VersionText>,
    /// The newest version that serves the release.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_version: Option<VersionText>,
    /// The first version that no longer serves the release.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub below_version: Option<VersionText>,
}

string_enum! {
    /// At which end of a move a gate stands.
    pub enum GatePoint {
        /// Before a cluster goes to the release.
        Entering,
        /// Before a cluster goes on from the release.
        Leaving,
    }
}

string_enum! {
    /// Which moves a gate holds back.
    pub enum GateScope {
        /// Moves to another minor.
        Minor,
        /// Moves to another patch too.
        All,
    }
}

/// Something that an administrator acknowledges by name before a cluster moves.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = rule(
    "!has(self.appliesFrom) || self.when == 'Entering'",
    "appliesFrom is only for gates that stand before entering",
))]
pub struct ReleaseGate {
    /// What is acknowledged, such as ack-4.4-kubernetes-1.35-kernel-update.
    #[schemars(length(min = 1, max = 253), transform = pattern("^[0-9A-Za-z][0-9A-Za-z._-]*$"))]
    pub name: String,
    /// What the administrator has to look at first. A gate that asks nothing cannot be answered, so it is never empty.
    #[schemars(length(min = 1, max = 4096))]
    pub message: String,
    /// Where a person can read more.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 2048))]
    pub url: Option<String>,
    /// Whether it stands before entering the release or before leaving it.
    #[serde(default = "entering")]
    pub when: GatePoint,
    /// Which moves it holds back.
    #[serde(default = "minor")]
    pub scope: GateScope,
    /// The versions or minors (such as 4.3) from which it counts; unset means from all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 100), transform = list_set())]
    pub applies_from: Vec<VersionText>,
}

fn entering() -> GatePoint {
    GatePoint::Entering
}

fn minor() -> GateScope {
    GateScope::Minor
}

string_enum! {
    /// The version of control groups.
    pub enum CgroupVersion {
        /// The first.
        V1 = "v1",
        /// The unified hierarchy.
        V2 = "v2",
    }
}

/// What every node must offer before its kubelet may have the release.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = properties(Some(1), None))]
pub struct NodeRequirements {
    /// The oldest kernel, such as 5.8.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 32), transform = pattern(r"^[0-9]+\.[0-9]+(\.[0-9]+)?$"))]
    pub min_kernel: Option<String>,
    /// The oldest version of control groups.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cgroup: Option<CgroupVersion>,
    /// The lowest level of x86-64 processors: 2 for x86-64-v2. Other architectures have no levels.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 4))]
    pub cpu_level: Option<i32>,
}

/// Fields of the kubelet configuration that the hop to the release must bring, or must not.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = rule(
    "!has(self.mustHave) || !has(self.mustNotHave) || self.mustHave.all(one, !(one.field in self.mustNotHave))",
    "a field must not be in both mustHave and mustNotHave",
))]
pub struct KubeletRequirements {
    /// Fields that must be there.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 64), transform = list_map("field"))]
    pub must_have: Vec<KubeletField>,
    /// Fields that must not be there.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 64), transform = text_items(Some(1), Some(253), vec![]), transform = list_set())]
    pub must_not_have: Vec<String>,
}

/// A field of the kubelet configuration.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct KubeletField {
    /// The field.
    #[schemars(length(min = 1, max = 253))]
    pub field: String,
    /// Its value; unset means any.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 1024))]
    pub value: Option<String>,
}
