//! The part of the configuration that concerns the OAuth server: who vouches for users, how long tokens last, how its
//! pages look. Identity providers have files of their own.

pub mod identity_provider;
pub mod ldap;
pub mod oauth2;
pub mod open_id;
pub mod password;
pub mod request_header;

use serde::{Deserialize, Serialize};

use self::identity_provider::IdentityProvider;
use super::reference::SecretNameReference;
use crate::{
    common::GoDuration,
    schema::{JsonSchema, atomic, rule},
};

/// How people log in to the hosted cluster.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = rule(
    "!has(self.tokenConfig) || !has(self.tokenConfig.accessTokenInactivityTimeout) || \
     duration(self.tokenConfig.accessTokenInactivityTimeout) >= duration('300s')",
    "tokenConfig.accessTokenInactivityTimeout must be a duration of at least 300s",
))]
pub struct OauthConfiguration {
    /// Who vouches for users; a user picks one when there are several. None means that nobody logs in this way.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(transform = atomic())]
    pub identity_providers: Vec<IdentityProvider>,
    /// How long access tokens last.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub token_config: Option<TokenConfiguration>,
    /// Pages of your own in place of the usual ones.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub templates: Option<OauthTemplates>,
}

/// How long access tokens last.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TokenConfiguration {
    /// After how many seconds a token ends, however much it is used.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub access_token_max_age_seconds: Option<i32>,
    /// An older way to say accessTokenInactivityTimeout, without effect.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub access_token_inactivity_timeout_seconds: Option<i32>,
    /// After how long without use a token ends, such as 10m; five minutes at least. Unset means that being unused does
    /// not end a token.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub access_token_inactivity_timeout: Option<GoDuration>,
}

/// Pages that stand in for the usual ones, each as a Go template in a Secret. A Secret or key that is missing leaves the
/// usual page.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct OauthTemplates {
    /// The page that asks for name and password; key login.html.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub login: Option<SecretNameReference>,
    /// The page that lets the user pick an identity provider; key providers.html.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provider_selection: Option<SecretNameReference>,
    /// The page for a login that went wrong; key errors.html.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<SecretNameReference>,
}
