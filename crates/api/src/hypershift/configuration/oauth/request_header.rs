//! Identity providers that are proxies: they log users in themselves and say who it is in a header.

use serde::{Deserialize, Serialize};

use crate::schema::JsonSchema;

use super::super::reference::ConfigMapNameReference;

/// A proxy in front of the OAuth server, known by its client certificate.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RequestHeaderIdentityProvider {
    /// Where browsers are sent to log in. ${url} in it stands for the present address, escaped; ${query} for its query.
    /// Needed where people log in with a browser.
    #[serde(rename = "loginURL", skip_serializing_if = "Option::is_none")]
    pub login_url: Option<String>,
    /// Where clients that answer WWW-Authenticate are sent, with the same stand-ins. Needed where command lines log in.
    #[serde(rename = "challengeURL", skip_serializing_if = "Option::is_none")]
    pub challenge_url: Option<String>,
    /// The ConfigMap with the authorities of the proxy's certificate under key ca.crt. Needed: without it anybody could
    /// send the headers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ca: Option<ConfigMapNameReference>,
    /// Common names of which the proxy's certificate must have one; none means any.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub client_common_names: Vec<String>,
    /// Headers with the identity; the first that is not empty counts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub headers: Vec<String>,
    /// Headers with the name of a new user; none means the identity.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub preferred_username_headers: Vec<String>,
    /// Headers with the name to show.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub name_headers: Vec<String>,
    /// Headers with the mail address.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub email_headers: Vec<String>,
}
