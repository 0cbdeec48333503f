//! What a hosted cluster reports of its users' identity providers.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use serde::{Deserialize, Serialize};

use crate::{
    common::ConditionSchema,
    hypershift::configuration::reference::ConfigMapNameReference,
    schema::{JsonSchema, list_map, list_set, pattern},
    text::string_type,
};

/// What the hosted cluster reports of its users' identity providers.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AuthenticationStatus {
    /// The ConfigMap, in its key oauthMetadata, with what clients that ask are told of OpenShift's own OAuth server.
    #[serde(rename = "integratedOAuthMetadata", skip_serializing_if = "Option::is_none")]
    pub integrated_oauth_metadata: Option<ConfigMapNameReference>,
    /// Programs that take part in OpenID Connect.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 20), transform = list_map("componentNamespace,componentName"))]
    pub oidc_clients: Vec<OidcClientStatus>,
}

string_type! {
    /// A user that is a service account.
    pub struct ServiceAccountUser {
        length: 1..=512,
        pattern: r"^system:serviceaccount:[a-z0-9]([-a-z0-9]*[a-z0-9])?:[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$"
            => "must be system:serviceaccount:NAMESPACE:NAME",
    }
}

/// A program that takes part in OpenID Connect.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct OidcClientStatus {
    /// The name of the program.
    #[schemars(length(min = 1, max = 256))]
    pub component_name: String,
    /// The namespace that the program is in.
    #[schemars(length(min = 1, max = 63))]
    pub component_namespace: String,
    /// What the program uses at this time.
    #[serde(rename = "currentOIDCClients", default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(transform = list_map("issuerURL,clientID"))]
    pub current_oidc_clients: Vec<OidcClientReference>,
    /// Service accounts that must be able to read the Secret of the program.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 5), transform = list_set())]
    pub consuming_users: Vec<ServiceAccountUser>,
    /// Everything that is observed of the program; each aspect once.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(with = "Vec<ConditionSchema>", transform = list_map("type"))]
    pub conditions: Vec<Condition>,
}

/// What a program uses at an identity provider.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct OidcClientReference {
    /// What the provider is called here.
    #[schemars(length(min = 1))]
    pub oidc_provider_name: String,
    /// URL of the issuer.
    #[serde(rename = "issuerURL")]
    #[schemars(transform = pattern(r"^https:\/\/[^\s]"))]
    pub issuer_url: String,
    /// What the program is called at the provider.
    #[serde(rename = "clientID")]
    #[schemars(length(min = 1))]
    pub client_id: String,
}
