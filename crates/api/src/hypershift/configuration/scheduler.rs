//! How the scheduler of a hosted cluster places pods.

use serde::{Deserialize, Serialize};

use super::reference::ConfigMapNameReference;
use crate::{schema::JsonSchema, text::string_enum};

string_enum! {
    /// What the scheduler prefers among the nodes on which a pod fits.
    pub enum SchedulerProfile {
        /// The same as LowNodeUtilization.
        Unset = "",
        /// Nodes that have much left, so that load is spread.
        LowNodeUtilization,
        /// Nodes that are full already, so that others can be given back.
        HighNodeUtilization,
        /// Any of them: the fastest choice.
        NoScoring,
    }
}

string_enum! {
    /// Whether the scheduler hands out devices by resource claims.
    pub enum DynamicResourceAllocation {
        /// What the release has.
        Unset = "",
        /// It does.
        Enabled,
        /// It does not.
        Disabled,
    }
}

/// Settings of the scheduler.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SchedulerConfiguration {
    /// Superseded by profile: the ConfigMap with a policy for the scheduler.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub policy: Option<ConfigMapNameReference>,
    /// What the scheduler prefers among the nodes on which a pod fits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub profile: Option<SchedulerProfile>,
    /// What differs from the profile.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub profile_customizations: Option<SchedulerProfileCustomizations>,
    /// The node selector of pods whose namespace has none, such as type=user-node,region=east.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default_node_selector: Option<String>,
    /// Whether pods of users may run on nodes of the control plane, of which a hosted cluster has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub masters_schedulable: Option<bool>,
}

/// What differs from the profile of the scheduler.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SchedulerProfileCustomizations {
    /// Whether the scheduler hands out devices by resource claims.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dynamic_resource_allocation: Option<DynamicResourceAllocation>,
}
