//! What a hosted cluster reports of its configuration.

use serde::{Deserialize, Serialize};

use crate::schema::JsonSchema;

use super::authentication::status::AuthenticationStatus;

/// What the hosted cluster reports of its configuration.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ConfigurationStatus {
    /// What it reports of its users' identity providers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub authentication: Option<AuthenticationStatus>,
}
