//! AgentMachine and AgentMachineTemplate: one host that is claimed through an agent, and which hosts may be.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::LabelSelector;
use serde::{Deserialize, Serialize};

use super::common::InfrastructureMachineStatus;
use crate::{
    cluster_api::common::TemplateMetadata,
    common::LabelSelectorSchema,
    constants::labels::{CAPI_CONTRACT_V1BETA1, CAPI_CONTRACT_V1BETA2},
    resource::custom_resource,
    schema::JsonSchema,
};

custom_resource! {
    /// One host that is claimed through an agent.
    pub struct AgentMachine {
        group: "capi-provider.agent-install.openshift.io",
        version: "v1beta1",
        plural: "agentmachines",
        scope: Namespaced,
        spec: optional AgentMachineSpec,
        status: InfrastructureMachineStatus,
        @categories: &["cluster-api"],
        @labels: &[(CAPI_CONTRACT_V1BETA1.as_str(), "v1beta1"), (CAPI_CONTRACT_V1BETA2.as_str(), "v1beta1")],
    }
}

custom_resource! {
    /// Which hosts may be claimed. It is never changed: another choice is another object.
    pub struct AgentMachineTemplate {
        group: "capi-provider.agent-install.openshift.io",
        version: "v1beta1",
        plural: "agentmachinetemplates",
        scope: Namespaced,
        spec: optional AgentMachineTemplateSpec,
        @categories: &["cluster-api"],
        @labels: &[(CAPI_CONTRACT_V1BETA1.as_str(), "v1beta1"), (CAPI_CONTRACT_V1BETA2.as_str(), "v1beta1")],
    }
}

/// A host, and what its provider has found out about it.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AgentMachineSpec {
    /// The identity of the host; the Node has the same. The provider decides it.
    #[serde(rename = "providerID", skip_serializing_if = "Option::is_none")]
    pub provider_id: Option<String>,
    /// Which of the free Agents may become the machine; unset means any.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<LabelSelectorSchema>")]
    pub agent_label_selector: Option<LabelSelector>,
}

/// What machines are made from.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AgentMachineTemplateSpec {
    /// The machine, once per machine that is made.
    pub template: AgentMachineTemplateResource,
}

/// The machine in a template.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AgentMachineTemplateResource {
    /// Labels and annotations of machines that are made from it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metadata: Option<TemplateMetadata>,
    /// The machine.
    pub spec: AgentMachineSpec,
}
