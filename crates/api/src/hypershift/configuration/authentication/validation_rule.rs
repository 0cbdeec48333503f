//! What a token and the user that it becomes must fulfil.

use serde::{Deserialize, Serialize};

use crate::{
    schema::{JsonSchema, rule},
    text::string_enum,
};

string_enum! {
    /// How the claims of a token are judged.
    pub enum ClaimValidationRuleType {
        /// By the value of one claim.
        RequiredClaim,
        /// By a CEL expression.
        Cel = "CEL",
    }
}

/// What the claims of a token must fulfil.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(
    transform = rule("(self.type == 'CEL') == has(self.cel)", "set cel when type is CEL, and only then"),
    transform = rule(
        "(self.type == 'RequiredClaim') == has(self.requiredClaim)",
        "set requiredClaim when type is RequiredClaim, and only then",
    ),
)]
pub struct ClaimValidationRule {
    /// How the claims are judged.
    #[serde(rename = "type")]
    pub rule_type: ClaimValidationRuleType,
    /// The claim, for type RequiredClaim.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub required_claim: Option<RequiredClaim>,
    /// The expression, for type CEL.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cel: Option<ClaimValidationExpression>,
}

/// A claim that a token must have.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RequiredClaim {
    /// The name of the claim; its value must be a text.
    #[schemars(length(min = 1))]
    pub claim: String,
    /// The value that it must have.
    #[schemars(length(min = 1))]
    pub required_value: String,
}

/// An expression that must hold for the claims of a token.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ClaimValidationExpression {
    /// A CEL expression over claims that gives true or false.
    #[schemars(length(min = 1, max = 1024))]
    pub expression: String,
    /// What is logged when it gives false.
    #[schemars(length(min = 1, max = 256))]
    pub message: String,
}

/// An expression that must hold for a user.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct UserValidationRule {
    /// A CEL expression over user that gives true or false.
    #[schemars(length(min = 1, max = 1024))]
    pub expression: String,
    /// What is logged when it gives false.
    #[schemars(length(min = 1, max = 256))]
    pub message: String,
}
