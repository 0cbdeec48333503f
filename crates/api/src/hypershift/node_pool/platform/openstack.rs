//! Machines of a node pool on OpenStack.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    schema::{format, list_set, pattern, properties},
    text::string_enum,
};

string_enum! {
    /// Whether a port lets through only what its addresses and security groups allow.
    pub enum PortSecurityPolicy {
        /// It does.
        Enabled,
        /// It lets through everything.
        Disabled,
        /// As its network has it.
        Unset = "",
    }
}

/// A tag of a Neutron resource.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize, JsonSchema)]
#[serde(transparent)]
pub struct NeutronTag(#[schemars(length(min = 1, max = 255), transform = pattern("^[^,]+$"))] pub String);

/// Machines on OpenStack.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct OpenStackNodePoolPlatform {
    /// The flavor, which is the size of the machines.
    #[schemars(length(max = 255))]
    pub flavor: String,
    /// Name of the boot image in Glance; unset means that of the release.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 255))]
    pub image_name: Option<String>,
    /// Availability zone of the machines; unset means what Nova chooses.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 63), transform = pattern("^[^: ]*$"))]
    pub availability_zone: Option<String>,
    /// Ports that a machine has beside its first one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 10))]
    pub additional_ports: Vec<OpenStackPort>,
}

/// A port of a machine.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct OpenStackPort {
    /// The network that the port is on; it must be found, and be the only one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub network: Option<OpenStackNetwork>,
    /// A note for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 255))]
    pub description: Option<String>,
    /// Addresses from which the port may send, beside its own.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 10))]
    pub allowed_address_pairs: Vec<OpenStackAddressPair>,
    /// Kind of the virtual interface, such as normal or direct; unset means what Neutron chooses.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 255))]
    pub vnic_type: Option<String>,
    /// Whether traffic is filtered at the port; unset means as its network has it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub port_security_policy: Option<PortSecurityPolicy>,
}

/// An address from which a port may send.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct OpenStackAddressPair {
    /// An address, or, where Neutron takes it, a network.
    #[schemars(length(max = 255))]
    pub ip_address: String,
}

/// A network, by id or by filter.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = properties(Some(1), Some(1)))]
pub struct OpenStackNetwork {
    /// Its id.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 36), transform = format("uuid"))]
    pub id: Option<String>,
    /// What is known of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub filter: Option<OpenStackNetworkFilter>,
}

/// What is known of a network; all parts must hold.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = properties(Some(1), None))]
pub struct OpenStackNetworkFilter {
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
