//! Machines of a node pool on OpenStack.

use serde::{Deserialize, Serialize};

use crate::{
    hypershift::platform::openstack::reference::OpenStackResource,
    schema::{JsonSchema, pattern},
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
    pub network: Option<OpenStackResource>,
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
