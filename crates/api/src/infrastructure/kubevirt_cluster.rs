//! KubevirtCluster: what all virtual machines of a cluster on KubeVirt share.

use serde::{Deserialize, Serialize};

use super::common::{InfrastructureStatus, NamespacedReference};
use crate::{
    constants::labels::CAPI_CONTRACT_V1BETA1, hypershift::endpoint::ApiEndpoint, resource::custom_resource,
    schema::JsonSchema,
};

custom_resource! {
    /// What all virtual machines of a cluster on KubeVirt share.
    pub struct KubevirtCluster {
        group: "infrastructure.cluster.x-k8s.io",
        version: "v1alpha1",
        plural: "kubevirtclusters",
        scope: Namespaced,
        spec: optional KubevirtClusterSpec,
        status: InfrastructureStatus,
        @categories: &["cluster-api"],
        @labels: &[(CAPI_CONTRACT_V1BETA1.as_str(), "v1alpha1")],
    }
}

/// Where a cluster on KubeVirt is reached, and where its machines run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct KubevirtClusterSpec {
    /// Where clients reach the API server.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub control_plane_endpoint: Option<ApiEndpoint>,
    /// The Secret with the kubeconfig of the cluster that the machines run on, where that is another one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub infra_cluster_secret_ref: Option<NamespacedReference>,
}
