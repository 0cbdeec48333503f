//! Cluster: which objects make one Kubernetes cluster, its networks and its address.

use serde::{Deserialize, Serialize};

use super::{
    cluster_status::ClusterStatus,
    common::{ConditionPolarity, ConditionType, ContractVersionedObjectReference},
};
use crate::{
    common::OpenObject,
    resource::{column, custom_resource},
    schema::{JsonSchema, atomic, list_map, properties, text_items},
};

custom_resource! {
    /// One Kubernetes cluster: the control plane and the infrastructure that it consists of.
    pub struct Cluster {
        group: "cluster.x-k8s.io",
        version: "v1beta2",
        plural: "clusters",
        scope: Namespaced,
        spec: required ClusterSpec,
        status: ClusterStatus,
        @short_names: &["cl"],
        @categories: &["cluster-api"],
        @columns: &[
            column("ClusterClass", "string", ".spec.topology.classRef.name", "Class that it was made from"),
            column(
                "Available",
                "string",
                r#".status.conditions[?(@.type=="Available")].status"#,
                "Whether it can be used",
            ),
            column("CP Desired", "integer", ".status.controlPlane.desiredReplicas", "Control-plane machines wanted"),
            column("CP Current", "integer", ".status.controlPlane.replicas", "Control-plane machines there")
                .with_priority(10),
            column("CP Ready", "integer", ".status.controlPlane.readyReplicas", "Control-plane machines ready")
                .with_priority(10),
            column(
                "CP Available",
                "integer",
                ".status.controlPlane.availableReplicas",
                "Control-plane machines that have been ready for long enough",
            ),
            column(
                "CP Up-to-date",
                "integer",
                ".status.controlPlane.upToDateReplicas",
                "Control-plane machines that need no change",
            ),
            column("W Desired", "integer", ".status.workers.desiredReplicas", "Worker machines wanted"),
            column("W Current", "integer", ".status.workers.replicas", "Worker machines there").with_priority(10),
            column("W Ready", "integer", ".status.workers.readyReplicas", "Worker machines ready").with_priority(10),
            column(
                "W Available",
                "integer",
                ".status.workers.availableReplicas",
                "Worker machines that have been ready for long enough",
            ),
            column(
                "W Up-to-date",
                "integer",
                ".status.workers.upToDateReplicas",
                "Worker machines that need no change",
            ),
            column(
                "Paused",
                "string",
                r#".status.conditions[?(@.type=="Paused")].status"#,
                "Whether controllers leave it alone",
            )
            .with_priority(10),
            column("Phase", "string", ".status.phase", "How far it has come"),
            column("Age", "date", ".metadata.creationTimestamp", "How long ago it was created"),
            column("Version", "string", ".spec.topology.version", "Version of Kubernetes that the topology asks for"),
        ],
    }
}

/// What a cluster consists of.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = properties(Some(1), None))]
pub struct ClusterSpec {
    /// The object that provides the control plane.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub control_plane_ref: Option<ContractVersionedObjectReference>,
    /// The object that provides what all machines share.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub infrastructure_ref: Option<ContractVersionedObjectReference>,
    /// Where the API server is reached; filled in from one of the two objects unless given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub control_plane_endpoint: Option<ApiEndpoint>,
    /// The networks of the cluster.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cluster_network: Option<ClusterNetwork>,
    /// Whether controllers leave the cluster and all that belongs to it alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub paused: Option<bool>,
    /// Conditions beside the built-in ones without which the cluster is not available.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(min = 1, max = 32), transform = list_map("conditionType"))]
    pub availability_gates: Vec<ClusterAvailabilityGate>,
    /// A cluster described by a class. It is kept, and acted upon only by a controller for classes, which is not part
    /// of this product.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub topology: Option<OpenObject>,
}

/// Where an API server is reached.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = properties(Some(1), None))]
pub struct ApiEndpoint {
    /// Name or address.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 512))]
    pub host: Option<String>,
    /// Port.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 65535))]
    pub port: Option<i32>,
}

/// The networks of a cluster.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = properties(Some(1), None))]
pub struct ClusterNetwork {
    /// Networks that pods get their addresses from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pods: Option<NetworkRanges>,
    /// Networks that services get their addresses from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub services: Option<NetworkRanges>,
    /// The domain under which services are named.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 253))]
    pub service_domain: Option<String>,
    /// Port that the API server listens on; unset means 6443.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 65535))]
    pub api_server_port: Option<i32>,
}

/// Ranges of addresses.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NetworkRanges {
    /// The ranges in CIDR notation.
    #[schemars(
        length(min = 1, max = 100),
        transform = atomic(),
        transform = text_items(Some(1), Some(43), vec![]),
    )]
    pub cidr_blocks: Vec<String>,
}

/// A condition that has to be good before a cluster is available.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ClusterAvailabilityGate {
    /// The type of the condition on the Cluster; a missing one counts as not good.
    pub condition_type: ConditionType,
    /// Which status is the good one; unset means Positive.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub polarity: Option<ConditionPolarity>,
}
