//! How the parts of a hosted cluster prove to Azure who they are.

use serde::{Deserialize, Serialize};

use super::{managed_identities::AzureManagedIdentities, workload_identities::AzureWorkloadIdentities};
use crate::{
    schema::{JsonSchema, rule},
    text::string_enum,
};

string_enum! {
    /// How the parts of a hosted cluster prove to Azure who they are.
    pub enum AzureAuthentication {
        /// By identities that Azure manages, where Azure runs the service.
        ManagedIdentities,
        /// By tokens of the hosted cluster's own service accounts.
        WorkloadIdentities,
    }
}

/// How the parts of a hosted cluster authenticate to Azure.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(
    transform = rule(
        "(self.azureAuthenticationConfigType == 'ManagedIdentities') == has(self.managedIdentities)",
        "azureAuthenticationConfigType ManagedIdentities needs managedIdentities, and no other type takes it",
    ),
    transform = rule(
        "(self.azureAuthenticationConfigType == 'WorkloadIdentities') == has(self.workloadIdentities)",
        "azureAuthenticationConfigType WorkloadIdentities needs workloadIdentities, and no other type takes it",
    ),
)]
pub struct AzureAuthenticationConfig {
    /// The way that is used; the structure of the same name holds its settings.
    pub azure_authentication_config_type: AzureAuthentication,
    /// The identities that Azure manages.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub managed_identities: Option<AzureManagedIdentities>,
    /// The identities that trust tokens of the hosted cluster.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub workload_identities: Option<AzureWorkloadIdentities>,
}
