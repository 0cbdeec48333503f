//! How API servers prove themselves to a server from which they fetch claims.

use serde::{Deserialize, Serialize};

use super::external_claims::ExternalClaimsTls;
use crate::{
    hypershift::configuration::reference::SecretReference,
    schema::{JsonSchema, list_set, rule},
    text::{string_enum, string_type},
};

string_enum! {
    /// A way to prove oneself to a server of claims.
    pub enum ExternalClaimsAuthenticationType {
        /// With the token of the user whose claims are fetched.
        RequestProvidedToken,
        /// With a token that is fetched for the API servers themselves.
        ClientCredential,
    }
}

/// How the API servers prove themselves.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = rule(
    "(self.type == 'ClientCredential') == has(self.clientCredential)",
    "set clientCredential when type is ClientCredential, and only then",
))]
pub struct ExternalClaimsAuthentication {
    /// Which way is used.
    #[serde(rename = "type")]
    pub authentication_type: ExternalClaimsAuthenticationType,
    /// Where the token is fetched, for type ClientCredential.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client_credential: Option<ClientCredential>,
}

string_type! {
    /// What the API servers are called where they fetch a token.
    pub struct ClientCredentialId {
        length: 1..=256,
        matches: r"^[ -~]+$" => "must be printable ASCII",
    }
}

string_type! {
    /// Something that a token is asked for.
    pub struct ClientCredentialScope {
        length: 1..=256,
        matches: r"^[!#-\[\]-~]+$" => "must be printable ASCII without spaces, double quotes and backslashes",
    }
}

/// Where a token is fetched, and with what.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ClientCredential {
    /// What the API servers are called there.
    #[serde(rename = "clientID")]
    pub client_id: ClientCredentialId,
    /// The Secret with what they prove themselves with, in its key client-secret.
    pub client_secret: SecretReference,
    /// URL at which the token is fetched.
    #[schemars(
        length(min = 1, max = 2048),
        transform = rule("isURL(self)", "must be a URL"),
        transform = rule("isURL(self) && url(self).getScheme() == 'https'", "must begin with https://"),
        transform = rule("isURL(self) && url(self).getHost() != ''", "must have a host"),
        transform = rule("isURL(self) && url(self).getEscapedPath() != ''", "must have a path"),
        transform = rule("isURL(self) && url(self).getQuery() == {}", "must not have a query"),
        transform = rule("isURL(self) && !self.matches('#.+$')", "must not have a fragment"),
        transform = rule("isURL(self) && !self.matches('^https://[^/]+@.+$')", "must not name a user"),
    )]
    pub token_endpoint: String,
    /// What the token is asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(min = 1, max = 16), transform = list_set())]
    pub scopes: Vec<ClientCredentialScope>,
    /// How the certificate of tokenEndpoint is judged; unset means by the authorities that the system trusts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tls: Option<ExternalClaimsTls>,
}
