//! AgentCluster: what all hosts of a cluster share that are claimed through agents.

use serde::{Deserialize, Serialize};

use super::common::{InfrastructureStatus, NamespacedReference};
use crate::{
    constants::labels::CAPI_CONTRACT_V1BETA1, hypershift::endpoint::ApiEndpoint, resource::custom_resource,
    schema::JsonSchema,
};

custom_resource! {
    /// What all hosts of a cluster share that are claimed through agents.
    pub struct AgentCluster {
        group: "capi-provider.agent-install.openshift.io",
        version: "v1beta1",
        plural: "agentclusters",
        scope: Namespaced,
        spec: optional AgentClusterSpec,
        status: InfrastructureStatus,
        @categories: &["cluster-api"],
        @labels: &[(CAPI_CONTRACT_V1BETA1.as_str(), "v1beta1")],
    }
}

/// Where hosts find the cluster that claims them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AgentClusterSpec {
    /// Where clients reach the API server.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub control_plane_endpoint: Option<ApiEndpoint>,
    /// Where hosts fetch their configuration.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ignition_endpoint: Option<AgentIgnitionEndpoint>,
}

/// Where hosts fetch their configuration.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AgentIgnitionEndpoint {
    /// The address, with its scheme.
    pub url: String,
    /// The Secret with the certificate of who signs for that address.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ca_certificate_reference: Option<NamespacedReference>,
}
