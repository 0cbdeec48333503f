//! Hosts that were booted by the agent and wait to be claimed.

use serde::{Deserialize, Serialize};

use crate::schema::JsonSchema;

/// Settings of the Agent platform.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AgentPlatform {
    /// The namespace whose Agents may become nodes of the cluster.
    #[schemars(length(max = 63))]
    pub agent_namespace: String,
}
