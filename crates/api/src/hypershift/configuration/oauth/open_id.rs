//! Identity providers that speak OpenID Connect.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::super::reference::{ConfigMapNameReference, SecretNameReference};
use crate::schema::{JsonSchema, atomic, text_items};

/// A service that speaks OpenID Connect.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct OpenIdIdentityProvider {
    /// The id under which the OAuth server is registered there.
    #[serde(rename = "clientID", skip_serializing_if = "Option::is_none")]
    pub client_id: Option<String>,
    /// The Secret with the registered password under key clientSecret.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client_secret: Option<SecretNameReference>,
    /// The issuer, as an https address without query and fragment, from which the service is discovered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub issuer: Option<String>,
    /// The ConfigMap with the authorities of the service under key ca.crt; unset means those of the system.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ca: Option<ConfigMapNameReference>,
    /// Scopes to ask for beside openid.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub extra_scopes: Vec<String>,
    /// Parameters that are added to the request for authorisation.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub extra_authorize_parameters: BTreeMap<String, String>,
    /// Which claims say what of the user.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub claims: Option<OpenIdClaims>,
}

/// Which claims say what of a user. Of each list the first claim that is not empty counts; groups take all of them.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct OpenIdClaims {
    /// Claims for the name of a new user; none means the subject.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(transform = atomic())]
    pub preferred_username: Vec<String>,
    /// Claims for the name to show.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(transform = atomic())]
    pub name: Vec<String>,
    /// Claims for the mail address.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(transform = atomic())]
    pub email: Vec<String>,
    /// Claims for the groups of the user, which are kept in step at every login.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(transform = atomic(), transform = text_items(Some(1), None, Vec::new()))]
    pub groups: Vec<String>,
}
