//! One identity provider: what all kinds have in common, and a field for each kind.

use serde::{Deserialize, Serialize};

use crate::schema::JsonSchema;

use super::{
    ldap::LdapIdentityProvider,
    oauth2::{GithubIdentityProvider, GitlabIdentityProvider, GoogleIdentityProvider},
    open_id::OpenIdIdentityProvider,
    password::{BasicAuthIdentityProvider, HtpasswdIdentityProvider, KeystoneIdentityProvider},
    request_header::RequestHeaderIdentityProvider,
};

/// Somebody who vouches for users. The field that goes with the type holds its settings.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct IdentityProvider {
    /// Tells this provider from others and qualifies the identities that come from it. Without a slash, a percent sign or
    /// a colon, and neither a single nor a double dot.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// How an identity becomes a user: claim, which is the default, lookup or add.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mapping_method: Option<String>,
    /// Which kind it is: BasicAuth, GitHub, GitLab, Google, HTPasswd, Keystone, LDAP, OpenID or RequestHeader.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub provider_type: Option<String>,
    /// Settings for BasicAuth.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub basic_auth: Option<BasicAuthIdentityProvider>,
    /// Settings for GitHub.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub github: Option<GithubIdentityProvider>,
    /// Settings for GitLab.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gitlab: Option<GitlabIdentityProvider>,
    /// Settings for Google.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub google: Option<GoogleIdentityProvider>,
    /// Settings for HTPasswd.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub htpasswd: Option<HtpasswdIdentityProvider>,
    /// Settings for Keystone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub keystone: Option<KeystoneIdentityProvider>,
    /// Settings for LDAP.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ldap: Option<LdapIdentityProvider>,
    /// Settings for OpenID.
    #[serde(rename = "openID", skip_serializing_if = "Option::is_none")]
    pub open_id: Option<OpenIdIdentityProvider>,
    /// Settings for RequestHeader.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub request_header: Option<RequestHeaderIdentityProvider>,
}
