//! ClusterSizingConfiguration: size classes of hosted clusters and what each class gets.

use std::str::FromStr;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use serde::{Deserialize, Serialize};

use crate::{
    common::{ConditionSchema, GoDuration, Quantity},
    resource::custom_resource,
    schema::{JsonSchema, list_map, pattern, rule},
};

custom_resource! {
    /// The size classes of this management cluster, how clusters move between them, and what each class means for a
    /// control plane. There is one object, named cluster.
    pub struct ClusterSizingConfiguration {
        group: "scheduling.hypershift.openshift.io",
        version: "v1alpha1",
        plural: "clustersizingconfigurations",
        scope: Cluster,
        spec: expected ClusterSizingConfigurationSpec,
        status: ClusterSizingConfigurationStatus,
        @short_names: &["csc", "cscs"],
        @rules: || vec![rule("self.metadata.name == 'cluster'", "metadata.name must be cluster: there is one object")],
    }
}

/// The classes and how clusters move between them.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ClusterSizingConfigurationSpec {
    /// The classes. Together they cover every node count from zero up, without gaps and without overlaps.
    #[schemars(
        transform = list_map("name"),
        transform = rule("self.exists_one(size, size.criteria.from == 0)", "one size, and only one, must start from 0"),
        transform = rule("self.exists_one(size, !has(size.criteria.to))", "one size, and only one, must be open to the top"),
    )]
    pub sizes: Vec<SizeConfiguration>,
    /// How long a cluster must have outgrown its class before it moves.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub transition_delay: Option<TransitionDelay>,
    /// How many clusters may move at about the same time, because each move reschedules control plane pods.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub concurrency: Option<TransitionConcurrency>,
    /// How classes are chosen by the memory that the API server needs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resource_based_autoscaling: Option<ResourceBasedAutoscaling>,
    /// Spare nodes in each zone for pods that do not serve requests.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub non_request_serving_nodes_buffer_per_zone: Option<Quantity>,
}

/// One size class.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SizeConfiguration {
    /// Name of the class, such as small.
    pub name: String,
    /// How many nodes make a cluster belong to the class.
    pub criteria: NodeCountCriteria,
    /// What the class changes in a control plane.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub effects: Option<SizeEffects>,
    /// What the class asks of the management cluster.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub management: Option<SizeManagement>,
    /// What a machine for this class offers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub capacity: Option<SizeCapacity>,
}

/// A range of node counts.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = rule("!has(self.to) || self.to >= self.from", "to must not be below from"))]
pub struct NodeCountCriteria {
    /// The fewest nodes in the class.
    #[schemars(range(min = 0))]
    pub from: i32,
    /// The most nodes in the class; unset means without end.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub to: Option<i32>,
}

/// What a class changes in a control plane.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SizeEffects {
    /// Soft memory limit of the Go runtime in the API server: a number with B, KiB, MiB, GiB, TiB or no unit.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 20), transform = pattern(MEMORY_LIMIT_PATTERN))]
    pub kas_go_mem_limit: Option<String>,
    /// Priority class of most pods of the control plane.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub control_plane_priority_class_name: Option<String>,
    /// Priority class of etcd.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub etcd_priority_class_name: Option<String>,
    /// Priority class of pods on the way of an API request.
    #[serde(rename = "APICriticalPriorityClassName", skip_serializing_if = "Option::is_none")]
    pub api_critical_priority_class_name: Option<String>,
    /// How long a machine may be unhealthy before it is replaced.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub machine_health_check_timeout: Option<GoDuration>,
    /// How many reading requests the API server works on at once.
    // The wire names no width for this number and the next.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<isize>")]
    pub maximum_requests_inflight: Option<i64>,
    /// How many writing requests the API server works on at once.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<isize>")]
    pub maximum_mutating_requests_inflight: Option<i64>,
    /// Resource requests of single containers, in place of their defaults.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub resource_requests: Vec<ContainerResourceRequest>,
}

/// The resource request of one container.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ContainerResourceRequest {
    /// Workload of the container.
    pub deployment_name: String,
    /// The container.
    pub container_name: String,
    /// Processors that it asks for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu: Option<Quantity>,
    /// Memory that it asks for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory: Option<Quantity>,
}

/// What a class asks of the management cluster.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SizeManagement {
    /// How many sets of nodes are kept ready, by pods that do nothing, for clusters that do not exist yet.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub placeholders: Option<u64>,
    /// Nodes in each zone that one cluster of this class needs for pods that do not serve requests; may be a
    /// fraction, such as 0.2 for five clusters on one node.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub non_request_serving_nodes_per_zone: Option<Quantity>,
}

/// What a machine for a class offers.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SizeCapacity {
    /// Memory of the machine.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory: Option<Quantity>,
    /// Processors of the machine.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu: Option<Quantity>,
}

/// How long a cluster stays in its class after its node count has left it.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TransitionDelay {
    /// The wait before a move to a larger class.
    #[serde(default = "default_increase")]
    #[schemars(transform = pattern(DURATION_PATTERN))]
    pub increase: GoDuration,
    /// The wait before a move to a smaller class.
    #[serde(default = "ten_minutes")]
    #[schemars(transform = pattern(DURATION_PATTERN))]
    pub decrease: GoDuration,
}

/// A limit on moves in a sliding window of time.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TransitionConcurrency {
    /// The length of the window.
    #[serde(default = "ten_minutes")]
    #[schemars(transform = pattern(DURATION_PATTERN))]
    pub sliding_window: GoDuration,
    /// How many moves may begin within the window, over all clusters.
    #[serde(default = "default_limit")]
    #[schemars(range(min = 1))]
    pub limit: i32,
}

/// How classes are chosen by memory.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ResourceBasedAutoscaling {
    /// Which part of a machine's memory the API server may use, between 0 and 1.
    #[serde(rename = "kubeAPIServerMemoryFraction", skip_serializing_if = "Option::is_none")]
    pub kube_api_server_memory_fraction: Option<Quantity>,
}

/// Whether the classes make sense together.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ClusterSizingConfigurationStatus {
    /// ClusterSizingConfigurationValid.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(with = "Vec<ConditionSchema>", transform = list_map("type"))]
    pub conditions: Vec<Condition>,
}

/// A memory limit as Go's runtime reads it, such as 2GiB.
const MEMORY_LIMIT_PATTERN: &str = r"^\d+(B|KiB|MiB|GiB|TiB)?$";

/// A length of time in hours, minutes and seconds only.
const DURATION_PATTERN: &str = r"^([0-9]+(\.[0-9]+)?(s|m|h))+$";

fn default_increase() -> GoDuration {
    duration("30s")
}

fn ten_minutes() -> GoDuration {
    duration("10m")
}

fn duration(text: &str) -> GoDuration {
    GoDuration::from_str(text).expect("the defaults are durations")
}

fn default_limit() -> i32 {
    5
}
