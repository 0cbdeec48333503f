//! An identity provider outside of the hosted cluster.

use serde::{Deserialize, Serialize};

use super::{
    claim_mapping::ClaimMappings,
    external_claims::ExternalClaimsSource,
    issuer::TokenIssuer,
    oidc_client::OidcClient,
    validation_rule::{ClaimValidationRule, UserValidationRule},
};
use crate::schema::{FeatureGate, JsonSchema, atomic, gated, list_map, rule};

/// An identity provider that speaks OpenID Connect.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct OidcProvider {
    /// What the provider is called here.
    #[schemars(length(min = 1))]
    pub name: String,
    /// Who issues tokens, and to whom.
    pub issuer: TokenIssuer,
    /// Programs of the cluster that let their users log in at the provider.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 20), transform = list_map("componentNamespace,componentName"))]
    pub oidc_clients: Vec<OidcClient>,
    /// How the claims of a token become a user.
    pub claim_mappings: ClaimMappings,
    /// What the claims of a token must fulfil; all of these.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(transform = atomic())]
    pub claim_validation_rules: Vec<ClaimValidationRule>,
    /// What a user must fulfil after the claims have been mapped; all of these.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(min = 1, max = 64), transform = list_map("expression"))]
    pub user_validation_rules: Vec<UserValidationRule>,
    /// Where further claims are fetched that are not in the token.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(
        length(min = 1, max = 5),
        transform = atomic(),
        transform = gated(FeatureGate::ExternalClaimsSources),
        transform = rule(
            "self.all(source, source.mappings.all(mapping, \
             self.exists_one(other, other.mappings.exists(one, one.name == mapping.name))))",
            "give each claim in one source only",
        ),
    )]
    pub external_claims_sources: Vec<ExternalClaimsSource>,
}
