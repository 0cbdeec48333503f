//! One identity in Microsoft Entra: by credentials in a vault, or by trust in tokens.

use serde::{Deserialize, Serialize};

use crate::{
    schema::{JsonSchema, pattern},
    text::{string_enum, string_type},
};

/// A client id as the plain keyword that stands beside the rule of [`AzureClientId`]. A tool that reads a schema
/// without CEL sees the form, too.
const CLIENT_ID_PATTERN: &str = "^[0-9a-fA-F]{8}-([0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}$";

string_type! {
    /// The id of an application or managed identity in Microsoft Entra.
    pub struct AzureClientId {
        length: 36..=36,
        matches: r"^[0-9a-fA-F]{8}-([0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}$"
            => "must be a UUID: five groups of 8, 4, 4, 4 and 12 hexadecimal digits with hyphens between them",
    }
}

string_enum! {
    /// How the certificate of a managed identity is written in its vault.
    pub enum ObjectEncoding {
        /// As text.
        Utf8 = "utf-8",
        /// As hexadecimal digits.
        Hex = "hex",
        /// As base64.
        Base64 = "base64",
    }
}

/// A managed identity whose credentials lie in a vault.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AzureManagedIdentity {
    /// The secret in Azure's vault that holds the credentials as JSON.
    #[schemars(length(min = 1, max = 127), transform = pattern("^[a-zA-Z0-9-]+$"))]
    pub credentials_secret_name: String,
    /// How the certificate in that secret is written; another encoding than the stored one cannot be read.
    pub object_encoding: ObjectEncoding,
    /// The id of the identity that the credentials belong to; for tests.
    #[serde(rename = "clientID", skip_serializing_if = "Option::is_none")]
    #[schemars(transform = pattern(CLIENT_ID_PATTERN))]
    pub client_id: Option<AzureClientId>,
}

/// A managed identity that trusts tokens of the hosted cluster.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AzureWorkloadIdentity {
    /// The id of the identity that tokens are exchanged for.
    #[serde(rename = "clientID")]
    #[schemars(transform = pattern(CLIENT_ID_PATTERN))]
    pub client_id: AzureClientId,
}
