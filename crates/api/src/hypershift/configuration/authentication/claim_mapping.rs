//! How the claims of a token become a user of a hosted cluster.

use serde::{Deserialize, Serialize};

use crate::{
    schema::{JsonSchema, list_map, rule},
    text::string_enum,
};

/// On a mapping: it is by a claim or by an expression, and not by both.
const CLAIM_OR_EXPRESSION: &str = "has(self.claim) != has(self.expression)";

/// How the claims of a token become a user.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ClaimMappings {
    /// What the user is called.
    pub username: UsernameClaimMapping,
    /// Which groups the user is in; unset means none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub groups: Option<GroupsClaimMapping>,
    /// By what the user is told apart from one of the same name; unset means the claim sub.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub uid: Option<UidClaimMapping>,
    /// What else is known of the user.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 32), transform = list_map("key"))]
    pub extra: Vec<ExtraClaimMapping>,
}

string_enum! {
    /// What stands in front of the name of a user.
    pub enum UsernamePrefixPolicy {
        /// URL of the issuer and a #; nothing where the claim is email.
        Unset = "",
        /// Nothing.
        NoPrefix,
        /// What prefix says.
        Prefix,
    }
}

/// What a user is called.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(
    transform = rule(CLAIM_OR_EXPRESSION, "give claim or expression, and not both"),
    transform = rule(
        "!has(self.expression) || self.expression == '' || !has(self.prefixPolicy) || self.prefixPolicy != 'Prefix'",
        "an expression says the whole name: prefixPolicy cannot be Prefix beside it",
    ),
    transform = rule(
        "has(self.prefixPolicy) && self.prefixPolicy == 'Prefix' ? \
         has(self.prefix) && self.prefix.prefixString != '' : !has(self.prefix)",
        "set prefix when prefixPolicy is Prefix, and only then",
    ),
)]
pub struct UsernameClaimMapping {
    /// The claim that is the name.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 256))]
    pub claim: Option<String>,
    /// A CEL expression over claims that gives the name.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 1024))]
    pub expression: Option<String>,
    /// What stands in front of the name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prefix_policy: Option<UsernamePrefixPolicy>,
    /// What stands in front of the name, for prefixPolicy Prefix.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prefix: Option<UsernamePrefix>,
}

/// What stands in front of the name of a user.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct UsernamePrefix {
    /// The text itself.
    #[schemars(length(min = 1))]
    pub prefix_string: String,
}

/// Which groups a user is in.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(
    transform = rule(
        "!has(self.expression) || !has(self.prefix) || self.prefix == ''",
        "an expression says the whole names: prefix cannot be set beside it",
    ),
    transform = rule(
        "!has(self.expression) || !has(self.claim) || self.claim == ''",
        "give claim or expression, and not both",
    ),
)]
pub struct GroupsClaimMapping {
    /// The claim with the names of the groups.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 256))]
    pub claim: Option<String>,
    /// A CEL expression over claims that gives the names of the groups.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 1024))]
    pub expression: Option<String>,
    /// What stands in front of the name of each group.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prefix: Option<String>,
}

/// By what a user is told apart from one of the same name.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = rule(CLAIM_OR_EXPRESSION, "give claim or expression, and not both"))]
pub struct UidClaimMapping {
    /// The claim.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 256))]
    pub claim: Option<String>,
    /// A CEL expression over claims.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 1024))]
    pub expression: Option<String>,
}

/// One more thing that is known of a user.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ExtraClaimMapping {
    /// What it is called: a domain, a slash and a path, such as example.com/team.
    #[schemars(
        length(min = 1, max = 510),
        transform = rule("self.contains('/')", "must have a slash between its domain and its path"),
        transform = rule(
            r"self.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*(/|$)')",
            "must begin with a domain in lower case, such as example.com",
        ),
        transform = rule("self.split('/', 2)[0].size() <= 253", "the domain must have at most 253 characters"),
        transform = rule("self.split('/', 2)[0] != 'kubernetes.io'", "kubernetes.io is Kubernetes' own domain"),
        transform = rule(
            "!self.split('/', 2)[0].endsWith('.kubernetes.io')",
            "domains below kubernetes.io are Kubernetes' own",
        ),
        transform = rule("self.split('/', 2)[0] != 'k8s.io'", "k8s.io is Kubernetes' own domain"),
        transform = rule("!self.split('/', 2)[0].endsWith('.k8s.io')", "domains below k8s.io are Kubernetes' own"),
        transform = rule("self.split('/', 2)[0] != 'openshift.io'", "openshift.io is OpenShift's own domain"),
        transform = rule(
            "!self.split('/', 2)[0].endsWith('.openshift.io')",
            "domains below openshift.io are OpenShift's own",
        ),
        // As published, one such character anywhere in the path is enough.
        transform = rule(
            r"self.split('/', 2)[1].matches('[A-Za-z0-9/._~%!$&\'()*+;=:-]')",
            "the path must have letters, digits or / - . _ ~ % ! $ & ' ( ) * + ; = :",
        ),
        transform = rule("self.split('/', 2)[1].size() <= 256", "the path must have at most 256 characters"),
    )]
    pub key: String,
    /// A CEL expression over claims that gives a text or a list of texts.
    #[schemars(length(min = 1, max = 1024))]
    pub value_expression: String,
}
