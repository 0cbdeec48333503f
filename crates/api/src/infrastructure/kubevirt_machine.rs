//! KubevirtMachine and KubevirtMachineTemplate: one virtual machine on KubeVirt, and what such machines are made from.

use serde::{Deserialize, Serialize};

use super::common::{InfrastructureMachineStatus, NamespacedReference};
use crate::{
    cluster_api::common::TemplateMetadata,
    common::OpenObject,
    constants::labels::{CAPI_CONTRACT_V1BETA1, CAPI_CONTRACT_V1BETA2},
    resource::custom_resource,
    schema::JsonSchema,
};

custom_resource! {
    /// One virtual machine on KubeVirt.
    pub struct KubevirtMachine {
        group: "infrastructure.cluster.x-k8s.io",
        version: "v1alpha1",
        plural: "kubevirtmachines",
        scope: Namespaced,
        spec: optional KubevirtMachineSpec,
        status: InfrastructureMachineStatus,
        @categories: &["cluster-api"],
        @labels: &[(CAPI_CONTRACT_V1BETA1.as_str(), "v1alpha1"), (CAPI_CONTRACT_V1BETA2.as_str(), "v1alpha1")],
    }
}

custom_resource! {
    /// What virtual machines on KubeVirt are made from. It is never changed: another content is another object.
    pub struct KubevirtMachineTemplate {
        group: "infrastructure.cluster.x-k8s.io",
        version: "v1alpha1",
        plural: "kubevirtmachinetemplates",
        scope: Namespaced,
        spec: optional KubevirtMachineTemplateSpec,
        @categories: &["cluster-api"],
        @labels: &[(CAPI_CONTRACT_V1BETA1.as_str(), "v1alpha1"), (CAPI_CONTRACT_V1BETA2.as_str(), "v1alpha1")],
    }
}

/// A virtual machine, and what its provider has found out about it.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct KubevirtMachineSpec {
    /// The identity of the machine; the Node has the same. The provider decides it.
    #[serde(rename = "providerID", skip_serializing_if = "Option::is_none")]
    pub provider_id: Option<String>,
    /// The VirtualMachine to make, in the words of KubeVirt.
    #[serde(default)]
    pub virtual_machine_template: OpenObject,
    /// How the provider finds out that a machine has booted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub virtual_machine_bootstrap_check: Option<BootstrapCheck>,
    /// The Secret with the kubeconfig of the cluster that the machine runs on, where that is another one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub infra_cluster_secret_ref: Option<NamespacedReference>,
}

/// How a provider finds out that a machine has booted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct BootstrapCheck {
    /// By which means: ssh, or none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub check_strategy: Option<String>,
}

/// What machines are made from.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct KubevirtMachineTemplateSpec {
    /// The machine, once per machine that is made.
    pub template: KubevirtMachineTemplateResource,
}

/// The machine in a template.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct KubevirtMachineTemplateResource {
    /// Labels and annotations of machines that are made from it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metadata: Option<TemplateMetadata>,
    /// The machine.
    pub spec: KubevirtMachineSpec,
}
