//! The part of the configuration that concerns OperatorHub: which of the usual catalogues a hosted cluster has.

use serde::{Deserialize, Serialize};

use crate::schema::JsonSchema;

/// Which of the usual catalogues of operators the hosted cluster starts with.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct OperatorHubConfiguration {
    /// Leaves all of them out, except those that sources names as not disabled.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub disable_all_default_sources: Option<bool>,
    /// Single catalogues, which count before disableAllDefaultSources.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sources: Vec<HubSource>,
}

/// One of the usual catalogues.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct HubSource {
    /// Its name.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 253))]
    pub name: Option<String>,
    /// Whether it is left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub disabled: Option<bool>,
}
