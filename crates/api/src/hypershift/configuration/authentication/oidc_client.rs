//! Programs of a hosted cluster that let their users log in at an identity provider.

use serde::{Deserialize, Serialize};

use crate::{
    hypershift::configuration::reference::SecretNameReference,
    schema::{JsonSchema, list_set},
};

/// A program of the cluster that lets its users log in at the provider.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct OidcClient {
    /// The name of the program, such as console.
    #[schemars(length(min = 1, max = 256))]
    pub component_name: String,
    /// The namespace that the program is in, such as openshift-console.
    #[schemars(length(min = 1, max = 63))]
    pub component_namespace: String,
    /// What the program is called at the provider.
    #[serde(rename = "clientID")]
    #[schemars(length(min = 1))]
    pub client_id: String,
    /// The Secret with what the program proves itself with, in its key clientSecret.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client_secret: Option<SecretNameReference>,
    /// What the program asks for beside what it needs by itself.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(transform = list_set())]
    pub extra_scopes: Vec<String>,
}
