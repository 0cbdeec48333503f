//! Machines of a node pool that are hosts enrolled by an agent.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::LabelSelector;
use serde::{Deserialize, Serialize};

use crate::{common::LabelSelectorSchema, schema::JsonSchema};

/// Hosts that an agent has enrolled.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AgentNodePoolPlatform {
    /// Which of the free Agents may become machines of the pool; unset means any.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<LabelSelectorSchema>")]
    pub agent_label_selector: Option<LabelSelector>,
}
