//! The part of the configuration that concerns the network, beside `spec.networking`, which says what the networks are.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::Toleration;
use serde::{Deserialize, Serialize};

use crate::{
    common::TolerationSchema,
    schema::{FeatureGate, JsonSchema, atomic, gated, pattern, rule},
    text::string_enum,
};

/// Settings of the network of the hosted cluster.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = rule(
    "!has(self.networkDiagnostics) || !has(self.networkDiagnostics.mode) || \
     self.networkDiagnostics.mode != 'Disabled' || \
     !has(self.networkDiagnostics.sourcePlacement) && !has(self.networkDiagnostics.targetPlacement)",
    "remove sourcePlacement and targetPlacement from networkDiagnostics, whose mode is Disabled, or choose mode All",
))]
pub struct NetworkConfiguration {
    /// Networks of pods. spec.networking.clusterNetwork counts, not this.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(transform = atomic())]
    pub cluster_network: Vec<PodNetwork>,
    /// Networks of services. spec.networking.serviceNetwork counts, not this.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(transform = atomic())]
    pub service_network: Vec<String>,
    /// The network plugin. spec.networking.networkType counts, not this.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub network_type: Option<String>,
    /// Which external addresses Services may have; unset means none that users set themselves.
    #[serde(rename = "externalIP", skip_serializing_if = "Option::is_none")]
    pub external_ip: Option<ExternalIp>,
    /// The ports that Services of type NodePort take, such as 30000-32767, which is the default.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(transform = pattern(PORT_RANGE_PATTERN))]
    pub service_node_port_range: Option<String>,
    /// Pods that try out connections all the time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub network_diagnostics: Option<NetworkDiagnostics>,
    /// Whether network observability is installed.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(transform = gated(FeatureGate::NetworkObservabilityInstall))]
    pub network_observability: Option<NetworkObservability>,
}

/// Two ports with a dash between them. Which of them is larger is not asked.
const PORT_RANGE_PATTERN: &str = "^([0-9]{1,4}|[1-5][0-9]{4}|6[0-4][0-9]{3}|65[0-4][0-9]{2}|655[0-2][0-9]|6553[0-5])-([0-9]{1,4}|[1-5][0-9]{4}|6[0-4][0-9]{3}|65[0-4][0-9]{2}|655[0-2][0-9]|6553[0-5])$";

/// One network of pods.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PodNetwork {
    /// The network.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cidr: Option<String>,
    /// Length of the prefix that each node gets out of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub host_prefix: Option<i32>,
}

/// Which external addresses Services may have.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ExternalIp {
    /// Which addresses users may set themselves; unset means none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub policy: Option<ExternalIpPolicy>,
    /// Networks from which Services of type LoadBalancer get an address by themselves; only without a cloud.
    #[serde(rename = "autoAssignCIDRs", default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(transform = atomic())]
    pub auto_assign_cidrs: Vec<String>,
}

/// Which external addresses users may give to their Services.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ExternalIpPolicy {
    /// Networks whose addresses are allowed.
    #[serde(rename = "allowedCIDRs", default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(transform = atomic())]
    pub allowed_cidrs: Vec<String>,
    /// Networks whose addresses are refused, even where they are allowed as well.
    #[serde(rename = "rejectedCIDRs", default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(transform = atomic())]
    pub rejected_cidrs: Vec<String>,
}

string_enum! {
    /// Whether connections are tried out.
    pub enum NetworkDiagnosticsMode {
        /// What suits the release, which is All today.
        Unset = "",
        /// Everything is tried out.
        All,
        /// Nothing is.
        Disabled,
    }
}

/// Pods that try out connections all the time, and pods that answer them.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NetworkDiagnostics {
    /// Whether connections are tried out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mode: Option<NetworkDiagnosticsMode>,
    /// Where the one pod runs that tries them out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source_placement: Option<NetworkDiagnosticsPlacement>,
    /// Where the pods run that answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target_placement: Option<NetworkDiagnosticsPlacement>,
}

/// On which nodes pods of the network diagnostics run.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NetworkDiagnosticsPlacement {
    /// Labels that the nodes must have; none means any Linux.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub node_selector: BTreeMap<String, String>,
    /// Taints that the pods put up with.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(with = "Vec<TolerationSchema>", transform = atomic())]
    pub tolerations: Vec<Toleration>,
}

string_enum! {
    /// Whether network observability is installed.
    pub enum NetworkObservabilityPolicy {
        /// It is, and it runs.
        InstallAndEnable,
        /// It is left as it is.
        NoAction,
    }
}

/// Network observability.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NetworkObservability {
    /// Whether it is installed.
    pub installation_policy: NetworkObservabilityPolicy,
}
