//! How the cluster autoscaler of a hosted cluster behaves over all its node pools.

use serde::{Deserialize, Serialize};

use crate::{
    schema::{JsonSchema, pattern, rule, text_items},
    text::string_enum,
};

string_enum! {
    /// How the autoscaler chooses a node pool to grow.
    pub enum Expander {
        /// The pool that is left with the least idle capacity.
        LeastWaste,
        /// The pool with the highest priority that the user gave.
        Priority,
        /// Any pool.
        Random,
    }
}

string_enum! {
    /// In which directions the autoscaler acts.
    #[derive(Default)]
    pub enum ScalingMode {
        /// It only adds nodes.
        ScaleUpOnly,
        /// It adds and removes nodes.
        #[default]
        ScaleUpAndScaleDown,
    }
}

/// Behaviour of the cluster autoscaler.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = rule(
    "!has(self.scaleDown) || self.scaling == 'ScaleUpAndScaleDown'",
    "scaleDown needs scaling ScaleUpAndScaleDown",
))]
pub struct ClusterAutoscaling {
    /// Whether nodes are only added, or removed too.
    #[serde(default)]
    pub scaling: ScalingMode,
    /// When and how nodes are removed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scale_down: Option<ScaleDown>,
    /// The most nodes that the cluster may have in all; unset means no limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub max_nodes_total: Option<i32>,
    /// The longest that pods get to end, in seconds, before their node is removed. Unset means 600.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub max_pod_grace_period: Option<i32>,
    /// The longest that a node may take to appear before the attempt counts as failed, such as 15m.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 100), transform = pattern("^([0-9]+(\\.[0-9]+)?(ns|us|µs|ms|s|m|h))+$"))]
    pub max_node_provision_time: Option<String>,
    /// Pods below this priority never cause a node to be added or kept. Unset means -10.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pod_priority_threshold: Option<i32>,
    /// How pools to grow are chosen, the first rule that decides wins. Unset means Priority, then LeastWaste.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(min = 1, max = 3))]
    pub expanders: Vec<Expander>,
    /// Labels that do not make two pools different when load is spread over similar ones.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(
        length(max = 64),
        transform = text_items(None, Some(317), vec![]),
        transform = rule(
            "self.all(key, key.matches('^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\\\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?[a-zA-Z0-9]([a-zA-Z0-9_.-]{0,61}[a-zA-Z0-9])?$'))",
            "every entry must be a label key such as example.com/zone",
        ),
    )]
    pub balancing_ignored_labels: Vec<String>,
    /// How far, in percent, free capacity may differ between two pools that count as similar.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 100))]
    pub max_free_difference_ratio_percent: Option<i32>,
}

/// When nodes are removed.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ScaleDown {
    /// Seconds of rest after a node was added. Unset means 600.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 86400))]
    pub delay_after_add_seconds: Option<i32>,
    /// Seconds of rest after a node was removed. Unset means one scan of the autoscaler.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 86400))]
    pub delay_after_delete_seconds: Option<i32>,
    /// Seconds of rest after a removal failed. Unset means 180.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 86400))]
    pub delay_after_failure_seconds: Option<i32>,
    /// Seconds that a node must have been without need before it may go. Unset means 600.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 86400))]
    pub unneeded_duration_seconds: Option<i32>,
    /// A node whose requests fill less than this percentage of it may go. Unset means 50.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 100))]
    pub utilization_threshold_percent: Option<i32>,
}
