//! The part of the configuration that concerns the API servers.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::schema::{atomic, open};

/// What all API servers of the hosted cluster share.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = open())]
pub struct ApiServerConfiguration {
    /// Certificates that the API servers show beside their own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub serving_certs: Option<ApiServerServingCertificates>,
    /// All other settings, kept as they are.
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}

/// Certificates that the API servers show beside their own.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = open())]
pub struct ApiServerServingCertificates {
    /// Certificates by the name that a client asks for; a client that asks for none of them gets the default one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 32), transform = atomic())]
    pub named_certificates: Vec<NamedCertificate>,
    /// All other settings, kept as they are.
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}

/// A certificate and the names that it is shown for.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = open())]
pub struct NamedCertificate {
    /// Host names, the first part of which may be a wildcard; none means those that the certificate itself names.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 64), transform = atomic())]
    pub names: Vec<String>,
    /// The certificate itself, kept as it is.
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}
