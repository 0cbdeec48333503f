//! Networks, routers and subnets of OpenStack that exist, by id or by what is known of them.

use serde::{Deserialize, Serialize};

use crate::schema::{JsonSchema, format, list_set, pattern, properties};

/// A tag of a Neutron resource.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize, JsonSchema)]
#[serde(transparent)]
pub struct NeutronTag(#[schemars(length(min = 1, max = 255), transform = pattern("^[^,]+$"))] pub String);

/// A network or router, by id or by filter.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = properties(Some(1), Some(1)))]
pub struct OpenStackResource {
    /// Its id.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 36), transform = format("uuid"))]
    pub id: Option<String>,
    /// What is known of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub filter: Option<OpenStackResourceFilter>,
}

/// What is known of a network or router; all parts must hold.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = properties(Some(1), None))]
pub struct OpenStackResourceFilter {
    /// Its name.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 255))]
    pub name: Option<String>,
    /// Its description.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 255))]
    pub description: Option<String>,
    /// Id of the project that owns it.
    #[serde(rename = "projectID", skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 255))]
    pub project_id: Option<String>,
    /// Its tags.
    #[serde(flatten)]
    pub tags: NeutronTagFilter,
}

/// A subnet, by id or by filter.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = properties(Some(1), Some(1)))]
pub struct OpenStackSubnet {
    /// Its id.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 36), transform = format("uuid"))]
    pub id: Option<String>,
    /// What is known of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub filter: Option<OpenStackSubnetFilter>,
}

/// What is known of a subnet; all parts must hold.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = properties(Some(1), None))]
pub struct OpenStackSubnetFilter {
    /// What is known of every resource.
    #[serde(flatten)]
    pub resource: OpenStackResourceFilter,
    /// Its IP version, 4 or 6.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 2_147_483_647))]
    pub ip_version: Option<u32>,
    /// Address of its gateway.
    #[serde(rename = "gatewayIP", skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 45))]
    pub gateway_ip: Option<String>,
    /// Its network in CIDR notation.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 45))]
    pub cidr: Option<String>,
    /// How machines in it get their IPv6 addresses.
    #[serde(rename = "ipv6AddressMode", skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 255))]
    pub ipv6_address_mode: Option<String>,
    /// How its router announces itself over IPv6.
    #[serde(rename = "ipv6RAMode", skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 255))]
    pub ipv6_ra_mode: Option<String>,
}

/// What is known of the tags of a resource; all parts must hold.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NeutronTagFilter {
    /// It has all of these tags.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 50), transform = list_set())]
    pub tags: Vec<NeutronTag>,
    /// It has at least one of these tags.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 50), transform = list_set())]
    pub tags_any: Vec<NeutronTag>,
    /// It lacks at least one of these tags.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 50), transform = list_set())]
    pub not_tags: Vec<NeutronTag>,
    /// It has none of these tags.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 50), transform = list_set())]
    pub not_tags_any: Vec<NeutronTag>,
}
