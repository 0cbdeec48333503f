//! The proxy through which a hosted cluster reaches the outside.

use serde::{Deserialize, Serialize};

use crate::schema::JsonSchema;

use super::reference::ConfigMapNameReference;

/// The proxy of all parts of the cluster.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ProxyConfiguration {
    /// URL of the proxy for HTTP; empty means none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub http_proxy: Option<String>,
    /// URL of the proxy for HTTPS; empty means none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub https_proxy: Option<String>,
    /// What is reached without a proxy: names, suffixes, addresses and networks, with commas between them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub no_proxy: Option<String>,
    /// Addresses that tell whether the proxy works.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub readiness_endpoints: Vec<String>,
    /// The ConfigMap with further authorities that the proxy signs with, in its key ca-bundle.crt.
    #[serde(rename = "trustedCA", skip_serializing_if = "Option::is_none")]
    pub trusted_ca: Option<ConfigMapNameReference>,
}
