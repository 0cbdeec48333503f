//! Who issues tokens that a hosted cluster takes.

use serde::{Deserialize, Serialize};

use crate::{
    hypershift::configuration::reference::ConfigMapNameReference,
    schema::{JsonSchema, list_set, rule, text_items},
};

/// Who issues tokens, and to whom.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = rule(
    "!has(self.discoveryURL) || self.discoveryURL.find('^.+[^/]') != self.issuerURL.find('^.+[^/]')",
    "discoveryURL must be another one than issuerURL; leave it out where they are the same",
))]
pub struct TokenIssuer {
    /// URL of the issuer: the claim iss of a token must be this very text.
    #[serde(rename = "issuerURL")]
    #[schemars(
        length(min = 1, max = 512),
        transform = rule("isURL(self)", "must be a URL"),
        transform = rule("isURL(self) && url(self).getScheme() == 'https'", "must begin with https://"),
        transform = rule("isURL(self) && url(self).getQuery() == {}", "must not have a query"),
        transform = rule("!self.matches('#.+$')", "must not have a fragment"),
        transform = rule("!self.contains('@')", "must not name a user"),
    )]
    pub issuer_url: String,
    /// Names of the cluster at the provider: a token is taken that is for at least one of them.
    #[schemars(length(min = 1, max = 10), transform = list_set(), transform = text_items(Some(1), None, Vec::new()))]
    pub audiences: Vec<String>,
    /// The ConfigMap with the authorities that the issuer is trusted by, in its key ca-bundle.crt; unset means those that
    /// the system trusts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub issuer_certificate_authority: Option<ConfigMapNameReference>,
    /// URL of the provider's own description, where it is not below issuerURL.
    #[serde(rename = "discoveryURL", skip_serializing_if = "Option::is_none")]
    #[schemars(
        length(min = 1, max = 2048),
        transform = rule("isURL(self)", "must be a URL"),
        transform = rule("isURL(self) && url(self).getScheme() == 'https'", "must begin with https://"),
        transform = rule("isURL(self) && url(self).getQuery() == {}", "must not have a query"),
        transform = rule("!self.contains('#')", "must not have a fragment"),
        transform = rule("!self.matches('^https://.+:.+@.+/.*$')", "must not name a user"),
    )]
    pub discovery_url: Option<String>,
}
