//! How the default ingress controller of a hosted cluster is reached.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::load_balancer::LoadBalancerStrategy;
use crate::{
    schema::{JsonSchema, open},
    text::string_enum,
};

/// Settings of the operator that runs the default ingress controller.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct IngressOperator {
    /// How the default ingress controller is reached. Unset means what suits the platform.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub endpoint_publishing_strategy: Option<EndpointPublishingStrategy>,
}

string_enum! {
    /// A way to reach an ingress controller.
    pub enum EndpointPublishingStrategyType {
        /// By a Service of type LoadBalancer.
        LoadBalancerService,
        /// On ports of the nodes that it runs on.
        HostNetwork,
        /// From inside the cluster only.
        Private,
        /// By a Service of type NodePort.
        NodePortService,
    }
}

/// A way to reach an ingress controller, and its settings. Fields of newer OpenShift releases are kept.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = open())]
pub struct EndpointPublishingStrategy {
    /// Which way is used.
    #[serde(rename = "type")]
    pub strategy_type: EndpointPublishingStrategyType,
    /// Settings for LoadBalancerService.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub load_balancer: Option<LoadBalancerStrategy>,
    /// Settings for HostNetwork.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host_network: Option<HostNetworkStrategy>,
    /// Settings for Private.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub private: Option<PrivateStrategy>,
    /// Settings for NodePortService.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub node_port: Option<NodePortStrategy>,
    /// Fields that are not known here, kept as they are.
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}

string_enum! {
    /// What connections to an ingress controller begin with.
    pub enum IngressProtocol {
        /// The same as TCP.
        Unset = "",
        /// The request itself; the source address is that of the connection.
        Tcp = "TCP",
        /// A PROXY header that names the source address. The load balancer in front must send it.
        Proxy = "PROXY",
    }
}

/// An ingress controller on ports of its nodes. The ports must lie outside of the node port range.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct HostNetworkStrategy {
    /// What connections begin with; unset means TCP.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub protocol: Option<IngressProtocol>,
    /// The port for HTTP; 0 means 80.
    #[serde(default = "default_http_port")]
    #[schemars(range(min = 0, max = 65535))]
    pub http_port: i32,
    /// The port for HTTPS; 0 means 443.
    #[serde(default = "default_https_port")]
    #[schemars(range(min = 0, max = 65535))]
    pub https_port: i32,
    /// The port for statistics and health checks; 0 means 1936.
    #[serde(default = "default_stats_port")]
    #[schemars(range(min = 0, max = 65535))]
    pub stats_port: i32,
}

impl Default for HostNetworkStrategy {
    fn default() -> Self {
        Self {
            protocol: None,
            http_port: default_http_port(),
            https_port: default_https_port(),
            stats_port: default_stats_port(),
        }
    }
}

fn default_http_port() -> i32 {
    80
}

fn default_https_port() -> i32 {
    443
}

fn default_stats_port() -> i32 {
    1936
}

/// An ingress controller inside of the cluster.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PrivateStrategy {
    /// What connections begin with; unset means TCP.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub protocol: Option<IngressProtocol>,
}

/// An ingress controller behind a Service of type NodePort.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NodePortStrategy {
    /// What connections begin with; unset means TCP.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub protocol: Option<IngressProtocol>,
}
