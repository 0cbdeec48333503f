//! Features of a hosted cluster that are turned on or off, away from what its release has.

use serde::{Deserialize, Serialize};

use crate::{
    schema::{JsonSchema, nullable, pattern, rule},
    text::string_enum,
};

string_enum! {
    /// A selection of features.
    pub enum FeatureGateSet {
        /// Those that customNoUpgrade lists. The cluster cannot be upgraded, and there is no way back.
        CustomNoUpgrade,
        /// Those that are being developed. The cluster cannot be upgraded, and there is no way back.
        DevPreviewNoUpgrade,
        /// Those that are previewed. The cluster cannot be upgraded, and there is no way back.
        TechPreviewNoUpgrade,
        /// Those of OKD.
        Okd = "OKD",
        /// Those that the release has.
        Default = "",
    }
}

/// Which features the cluster has.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FeatureGateConfiguration {
    /// The selection; unset or empty means what the release has. A set whose name ends in NoUpgrade stays for good.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(
        transform = rule(
            "oldSelf != 'CustomNoUpgrade' || self == 'CustomNoUpgrade'",
            "a cluster with CustomNoUpgrade stays with it",
        ),
        transform = rule(
            "oldSelf != 'TechPreviewNoUpgrade' || self == 'TechPreviewNoUpgrade'",
            "a cluster with TechPreviewNoUpgrade stays with it",
        ),
        transform = rule(
            "oldSelf != 'DevPreviewNoUpgrade' || self == 'DevPreviewNoUpgrade'",
            "a cluster with DevPreviewNoUpgrade stays with it",
        ),
        transform = rule(
            "oldSelf != 'OKD' || self != ''",
            "a cluster with OKD cannot go back to the features of the release",
        ),
    )]
    pub feature_set: Option<FeatureGateSet>,
    /// Features one by one, for featureSet CustomNoUpgrade. Gates that do not fit together break the cluster.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(transform = nullable())]
    pub custom_no_upgrade: Option<CustomFeatureGates>,
}

/// Features that are turned one by one.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CustomFeatureGates {
    /// Gates that are on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub enabled: Vec<FeatureGateName>,
    /// Gates that are off.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub disabled: Vec<FeatureGateName>,
}

/// The name of a feature gate.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(transparent)]
#[schemars(transform = pattern(r"^([A-Za-z0-9-]+\.)*[A-Za-z0-9-]+\.?$"))]
pub struct FeatureGateName(pub String);
