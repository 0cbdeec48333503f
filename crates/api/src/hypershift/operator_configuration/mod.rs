//! Settings of single OpenShift operators in a hosted cluster, one file per operator that has many.

pub mod aws_load_balancer;
pub mod ingress;
pub mod load_balancer;
pub mod network;

use serde::{Deserialize, Serialize};

use self::{ingress::IngressOperator, network::ClusterNetworkOperator};
use crate::{
    schema::{FeatureGate, JsonSchema, gated},
    text::string_enum,
};

/// Settings of single OpenShift operators.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct OperatorConfiguration {
    /// The operator that runs the network plugin.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cluster_network_operator: Option<ClusterNetworkOperator>,
    /// The operator that applies releases.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(transform = gated(FeatureGate::ClusterVersionOperatorConfiguration))]
    pub cluster_version_operator: Option<ClusterVersionOperator>,
    /// The operator that runs the default ingress controller.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ingress_operator: Option<IngressOperator>,
}

string_enum! {
    /// How much an operator logs.
    #[derive(Default)]
    pub enum OperatorLogLevel {
        /// The same as Normal.
        Unset = "",
        /// What a running system needs.
        #[default]
        Normal,
        /// What helps to find a mistake.
        Debug,
        /// What helps to find a hidden mistake.
        Trace,
        /// Everything; expensive.
        TraceAll,
    }
}

/// Settings of the operator that applies releases.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ClusterVersionOperator {
    /// How much it logs.
    #[serde(default)]
    pub operator_log_level: OperatorLogLevel,
}
