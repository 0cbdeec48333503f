//! Where users of a hosted cluster come from.

pub mod claim_mapping;
pub mod external_claims;
pub mod external_claims_client;
pub mod issuer;
pub mod oidc_client;
pub mod oidc_provider;
pub mod status;
pub mod validation_rule;

use serde::{Deserialize, Serialize};

use self::oidc_provider::OidcProvider;
use super::reference::{ConfigMapNameReference, SecretNameReference};
use crate::{
    schema::{JsonSchema, atomic, list_map},
    text::string_enum,
};

string_enum! {
    /// Who tells the API servers which user a token is of.
    pub enum AuthenticationType {
        /// The same as IntegratedOAuth.
        Unset = "",
        /// Nobody but the API servers themselves, and a webhook where there is one.
        None,
        /// OpenShift's own OAuth server.
        IntegratedOAuth,
        /// An identity provider outside of the cluster, to which oidcProviders leads.
        Oidc = "OIDC",
    }
}

/// Where users come from, and how their tokens are judged.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AuthenticationConfiguration {
    /// Who tells which user a token is of; unset means OpenShift's own OAuth server.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub authentication_type: Option<AuthenticationType>,
    /// The ConfigMap, in its key oauthMetadata, with what clients that ask are told of an OAuth server outside of the
    /// cluster.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub oauth_metadata: Option<ConfigMapNameReference>,
    /// Superseded by webhookTokenAuthenticator, and not used.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(transform = atomic())]
    pub webhook_token_authenticators: Vec<DeprecatedWebhookTokenAuthenticator>,
    /// A webhook that is asked whom a token belongs to; not with type OIDC.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub webhook_token_authenticator: Option<WebhookTokenAuthenticator>,
    /// The issuer of tokens of service accounts. A hosted cluster has it in spec.issuerURL.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub service_account_issuer: Option<String>,
    /// The identity provider, for type OIDC.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 1), transform = list_map("name"))]
    pub oidc_providers: Vec<OidcProvider>,
}

/// A webhook that is asked whom a token belongs to.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WebhookTokenAuthenticator {
    /// The Secret with the kubeconfig that leads to the webhook, in its key kubeConfig.
    pub kube_config: SecretNameReference,
}

/// A webhook in a field that is not used any more.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DeprecatedWebhookTokenAuthenticator {
    /// The Secret with the kubeconfig that leads to the webhook.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kube_config: Option<SecretNameReference>,
}
