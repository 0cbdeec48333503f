//! Claims of a user that are fetched from a server outside, because they are not in the token.

use serde::{Deserialize, Serialize};

use super::external_claims_client::ExternalClaimsAuthentication;
use crate::{
    hypershift::configuration::reference::ConfigMapReference,
    schema::{JsonSchema, list_map, rule},
    text::string_type,
};

/// A server from which claims are fetched.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ExternalClaimsSource {
    /// How the API servers prove themselves to it; unset means that they do not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub authentication: Option<ExternalClaimsAuthentication>,
    /// How its certificate is judged; unset means by the authorities that the system trusts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tls: Option<ExternalClaimsTls>,
    /// Where it is asked.
    pub url: ExternalClaimsUrl,
    /// Which claims are made from its answer.
    #[schemars(length(min = 1, max = 16), transform = list_map("name"))]
    pub mappings: Vec<ExternalClaimMapping>,
    /// What must hold for it to be asked; all of these.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(min = 1, max = 16), transform = list_map("expression"))]
    pub predicates: Vec<ExternalClaimsPredicate>,
}

/// How the certificate of a server is judged.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ExternalClaimsTls {
    /// The ConfigMap with the authorities that are trusted, in its key ca-bundle.crt.
    pub certificate_authority: ConfigMapReference,
}

/// Where a server is asked.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ExternalClaimsUrl {
    /// Its host name, with a port where that is not 443.
    #[schemars(
        length(min = 1, max = 259),
        transform = rule("isURL('https://' + self)", "must be a host name, with or without a port"),
        transform = rule(
            r"self.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*(:|$)')",
            "must begin with a DNS name in lower case, such as claims.example.com",
        ),
        transform = rule(
            "!self.contains(':') || int(self.split(':')[1]) <= 65535",
            "the port must be a number of at most 65535",
        ),
    )]
    pub hostname: String,
    /// A CEL expression over claims that gives the parts of the path as a list of texts.
    #[schemars(length(min = 1, max = 1024))]
    pub path_expression: String,
}

string_type! {
    /// The name of a claim that is made.
    pub struct ExternalClaimName {
        length: 1..=256,
        matches: r"^[a-z_]+$" => "must be lower-case letters and underscores",
    }
}

/// A claim that is made from the answer of a server.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ExternalClaimMapping {
    /// The name of the claim, which no other source may give.
    pub name: ExternalClaimName,
    /// A CEL expression over the answer that gives the value of the claim.
    #[schemars(length(min = 1, max = 1024))]
    pub expression: String,
}

/// What must hold for a server to be asked.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ExternalClaimsPredicate {
    /// A CEL expression over claims that gives true or false.
    #[schemars(length(min = 1, max = 1024))]
    pub expression: String,
}
