//! Which metrics of a hosted control plane are collected and who sees them.

use serde::{Deserialize, Serialize};

use crate::{
    schema::{JsonSchema, properties},
    text::string_enum,
};

string_enum! {
    /// A selection of metrics.
    pub enum MetricsSet {
        /// The few that describe the health of a cluster.
        Telemetry,
        /// Those that the people who run the service alert on.
        Sre = "SRE",
        /// Every metric.
        All,
    }
}

string_enum! {
    /// Whether metrics of the control plane reach the hosted cluster.
    pub enum MetricsForwardingMode {
        /// They are forwarded into the monitoring of the hosted cluster.
        Forward,
        /// They stay on the management side.
        None,
    }
}

/// Monitoring of a hosted control plane.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = properties(Some(1), None))]
pub struct Monitoring {
    /// The selection that is collected. Unset means the manager's own choice.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metrics_set: Option<MetricsSet>,
    /// Whether, and which, metrics are handed on to the hosted cluster.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metrics_forwarding: Option<MetricsForwarding>,
}

/// Forwarding of control-plane metrics.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MetricsForwarding {
    /// Whether metrics are handed on.
    pub mode: MetricsForwardingMode,
    /// The selection that is handed on. Unset means the one that is collected.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metrics_set: Option<MetricsSet>,
}
