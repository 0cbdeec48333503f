//! Access to the instance metadata service of EC2.

use serde::{Deserialize, Serialize};

use crate::{
    schema::{JsonSchema, properties},
    text::string_enum,
};

/// How processes on an instance reach its metadata. What is unset is chosen by the platform and may change: now
/// HTTPEndpoint, IPv4, a hop limit of 1 and Required tokens.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = properties(Some(1), None))]
pub struct MetadataOptions {
    /// Whether the service answers at all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub access: Option<MetadataAccess>,
    /// Address family on which the service answers.
    #[serde(rename = "httpIPProtocol", skip_serializing_if = "Option::is_none")]
    pub http_ip_protocol: Option<MetadataIpProtocol>,
    /// Network hops that an answer survives: 1 keeps it from pods, 2 lets it through to them.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 64))]
    pub http_put_response_hop_limit: Option<i64>,
    /// Whether a request must carry a session token.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub http_tokens: Option<MetadataTokens>,
}

string_enum! {
    /// Whether the metadata service answers.
    pub enum MetadataAccess {
        /// Over HTTP.
        HttpEndpoint = "HTTPEndpoint",
        /// Not at all.
        None,
    }
}

string_enum! {
    /// Address family of the metadata service.
    pub enum MetadataIpProtocol {
        /// IPv4.
        Ipv4 = "IPv4",
        /// IPv6.
        Ipv6 = "IPv6",
    }
}

string_enum! {
    /// Whether a request for metadata must carry a session token.
    pub enum MetadataTokens {
        /// It must; only version 2 of the service is spoken.
        Required,
        /// It need not; version 1 is spoken too.
        Optional,
    }
}
