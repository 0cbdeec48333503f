//! OpenStack.

pub mod reference;

use serde::{Deserialize, Serialize};

use self::reference::{OpenStackResource, OpenStackSubnet};
use crate::schema::{JsonSchema, atomic, list_set, rule, text_items};

/// Settings of the OpenStack platform.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct OpenStackPlatform {
    /// The credentials that everything is done with.
    pub identity_ref: OpenStackIdentity,
    /// The subnet that is made, with a network around it, where network and subnets are unset.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 1), transform = atomic())]
    pub managed_subnets: Vec<OpenStackManagedSubnet>,
    /// A router that exists; unset means that one is made.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub router: Option<OpenStackResource>,
    /// A network that exists; unset means that one is made.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub network: Option<OpenStackResource>,
    /// Subnets that exist, in one network: one, or one per IP version.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 2), transform = atomic())]
    pub subnets: Vec<OpenStackSubnet>,
    /// The longest packet of the network that is made; unset means what Neutron chooses.
    #[serde(rename = "networkMTU", skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1500, max = 9000))]
    pub network_mtu: Option<u32>,
    /// The network to the outside; unset means the only one that there is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub external_network: Option<OpenStackResource>,
    /// Leaves out a network to the outside; the router then leads nowhere.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub disable_external_network: Option<bool>,
    /// Tags for all that is made for the cluster.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 50), transform = list_set(), transform = text_items(None, Some(255), vec![]))]
    pub tags: Vec<String>,
    /// The floating IP of the default ingress controller, which must exist and be free. Unset means that the cloud
    /// chooses one.
    #[serde(rename = "ingressFloatingIP", skip_serializing_if = "Option::is_none")]
    #[schemars(
        length(max = 45),
        transform = rule("isIP(self)", "must be an address such as 203.0.113.7 or 2001:db8::7"),
    )]
    pub ingress_floating_ip: Option<String>,
}

/// Credentials of OpenStack.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct OpenStackIdentity {
    /// The Secret with a clouds.yaml under that key and, where the cloud's certificate needs it, an authority under
    /// cacert.
    #[schemars(length(max = 255))]
    pub name: String,
    /// The entry of clouds.yaml that is used.
    #[schemars(length(max = 255))]
    pub cloud_name: String,
}

/// A subnet that is made; its network is the machine network of the cluster.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct OpenStackManagedSubnet {
    /// Addresses of the name servers that machines are told of.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 10), transform = text_items(None, Some(45), vec![]))]
    pub dns_nameservers: Vec<String>,
    /// The ranges that machines get their addresses from; none means the whole subnet.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 10))]
    pub allocation_pools: Vec<OpenStackAllocationPool>,
}

/// A range of addresses.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct OpenStackAllocationPool {
    /// The lowest address.
    #[schemars(length(max = 255))]
    pub start: String,
    /// The highest address.
    #[schemars(length(max = 255))]
    pub end: String,
}
