//! Hosts that were booted by the agent and wait to be claimed.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Settings of the Agent platform.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AgentPlatform {
    /// The namespace whose Agents may become nodes of the cluster.
    #[schemars(length(max = 63))]
    pub agent_namespace: String,
}
