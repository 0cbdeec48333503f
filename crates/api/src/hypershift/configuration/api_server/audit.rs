//! What the API servers write to the audit log.

use serde::{Deserialize, Serialize};

use crate::{
    schema::{JsonSchema, list_map},
    text::string_enum,
};

string_enum! {
    /// How much of each request is written.
    #[derive(Default)]
    pub enum AuditProfile {
        /// Who did what and when, without the content of requests.
        #[default]
        Default,
        /// Also the content of requests that write; never that of Secrets.
        WriteRequestBodies,
        /// Also the content of requests that read; never that of Secrets.
        AllRequestBodies,
        /// Nothing.
        None,
    }
}

/// What is written to the audit log.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ApiServerAudit {
    /// How much is written of requests that no entry of customRules is for.
    #[serde(default)]
    pub profile: AuditProfile,
    /// How much is written for members of certain groups; the first entry that fits counts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(transform = list_map("group"))]
    pub custom_rules: Vec<AuditCustomRule>,
}

/// How much is written for members of one group.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AuditCustomRule {
    /// The group, such as system:authenticated:oauth.
    #[schemars(length(min = 1))]
    pub group: String,
    /// How much is written.
    pub profile: AuditProfile,
}
