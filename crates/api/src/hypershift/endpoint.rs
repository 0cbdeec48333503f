//! Where something is reached.

use serde::{Deserialize, Serialize};

use crate::schema::JsonSchema;

/// A host and a port.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ApiEndpoint {
    /// Host name or address.
    #[schemars(length(max = 255))]
    pub host: String,
    /// Port.
    pub port: i32,
}
