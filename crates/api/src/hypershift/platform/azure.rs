//! Microsoft Azure.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{schema::open, text::string_enum};

string_enum! {
    /// How the parts of a hosted cluster prove to Azure who they are.
    pub enum AzureAuthentication {
        /// By identities that Azure manages.
        ManagedIdentities,
        /// By tokens of the hosted cluster's own service accounts.
        WorkloadIdentities,
    }
}

/// Settings of the Azure platform.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = open())]
pub struct AzurePlatform {
    /// How the cluster authenticates; decides how services may be published.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub azure_authentication_config: Option<AzureAuthenticationConfig>,
    /// All other settings.
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}

/// How a hosted cluster authenticates to Azure.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = open())]
pub struct AzureAuthenticationConfig {
    /// The way that is used.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub azure_authentication_config_type: Option<AzureAuthentication>,
    /// All other settings.
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}
