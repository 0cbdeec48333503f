//! The domain of a hosted cluster.

use serde::{Deserialize, Serialize};

use crate::{
    schema::{JsonSchema, immutable, rule},
    text::string_type,
};

string_type! {
    /// A domain, a single label, or nothing.
    pub struct DomainName {
        length: 0..=253,
        matches: r"^$|^(?:(?:[a-zA-Z0-9-]+\.)+[a-zA-Z]{2,}|[a-zA-Z0-9-]+)$"
            => "must be a domain such as example.com, a single label, or empty",
    }
}

/// The domain under which applications of a hosted cluster are found.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Dns {
    /// The domain below which the cluster gets its own: applications are served under
    /// baseDomainPrefix.baseDomain. May be set later when it starts out empty.
    #[schemars(transform = rule(
        "oldSelf == '' || self == oldSelf",
        "baseDomain cannot be changed after it has been set",
    ))]
    pub base_domain: DomainName,
    /// The label in front of the base domain. Unset means the name of the cluster; empty means none.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(transform = immutable("baseDomainPrefix"))]
    pub base_domain_prefix: Option<DomainName>,
    /// Identifier of the DNS zone whose records the whole internet sees; only where a cloud manages them.
    #[serde(rename = "publicZoneID", skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 258), transform = rule(
        "oldSelf == '' || self == oldSelf",
        "publicZoneID cannot be changed after it has been set",
    ))]
    pub public_zone_id: Option<String>,
    /// Identifier of the DNS zone whose records only the cluster sees; only where a cloud manages them.
    #[serde(rename = "privateZoneID", skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 265), transform = rule(
        "oldSelf == '' || self == oldSelf",
        "privateZoneID cannot be changed after it has been set",
    ))]
    pub private_zone_id: Option<String>,
}
