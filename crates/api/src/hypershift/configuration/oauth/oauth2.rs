//! Identity providers that are OAuth services with ways of their own: GitHub, GitLab, Google.

use serde::{Deserialize, Serialize};

use crate::schema::JsonSchema;

use super::super::reference::{ConfigMapNameReference, SecretNameReference};

/// GitHub, public or Enterprise.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct GithubIdentityProvider {
    /// The id under which the OAuth server is registered there.
    #[serde(rename = "clientID", skip_serializing_if = "Option::is_none")]
    pub client_id: Option<String>,
    /// The Secret with the registered password under key clientSecret.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client_secret: Option<SecretNameReference>,
    /// Only members of these organisations log in. Not together with teams.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub organizations: Vec<String>,
    /// Only members of these teams log in, each as organisation/team. Not together with organizations.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub teams: Vec<String>,
    /// The host of a GitHub Enterprise; unset means the public GitHub.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hostname: Option<String>,
    /// The ConfigMap with the authorities of a GitHub Enterprise under key ca.crt; unset means those of the system.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ca: Option<ConfigMapNameReference>,
}

/// GitLab.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct GitlabIdentityProvider {
    /// The id under which the OAuth server is registered there.
    #[serde(rename = "clientID", skip_serializing_if = "Option::is_none")]
    pub client_id: Option<String>,
    /// The Secret with the registered password under key clientSecret.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client_secret: Option<SecretNameReference>,
    /// The address of the server.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// The ConfigMap with the authorities of the server under key ca.crt; unset means those of the system.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ca: Option<ConfigMapNameReference>,
}

/// Google.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct GoogleIdentityProvider {
    /// The id under which the OAuth server is registered there.
    #[serde(rename = "clientID", skip_serializing_if = "Option::is_none")]
    pub client_id: Option<String>,
    /// The Secret with the registered password under key clientSecret.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client_secret: Option<SecretNameReference>,
    /// Only accounts of this Google Apps domain log in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hosted_domain: Option<String>,
}
