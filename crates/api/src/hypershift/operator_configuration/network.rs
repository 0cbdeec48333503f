//! Settings of OpenShift's network operator: Multus, and the inner networks of OVN-Kubernetes.

use std::net::Ipv6Addr;

use serde::{Deserialize, Serialize};

use crate::{
    schema::{JsonSchema, immutable, properties, rule},
    text::string_type,
};

/// Settings of the operator that runs the network plugin.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = rule(
    "!has(oldSelf.ovnKubernetesConfig) || has(self.ovnKubernetesConfig)",
    "ovnKubernetesConfig has to stay once it is there",
))]
pub struct ClusterNetworkOperator {
    /// Leaves Multus out, so that pods have one network only. Needs networkType Other, and cannot be changed.
    #[serde(default)]
    #[schemars(transform = immutable("disableMultiNetwork"))]
    pub disable_multi_network: bool,
    /// Settings of OVN-Kubernetes; only for networkType OVNKubernetes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ovn_kubernetes_config: Option<OvnKubernetesConfig>,
}

/// Settings of OVN-Kubernetes. None of the networks may overlap one that pods, services or machines use, and each
/// must have room for every node.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(
    transform = properties(Some(1), None),
    transform = rule(
        "!has(self.ipv4) || !has(self.ipv4.internalJoinSubnet) || !has(self.ipv4.internalTransitSwitchSubnet) || \
         self.ipv4.internalJoinSubnet != self.ipv4.internalTransitSwitchSubnet",
        "ipv4: choose two different networks for join and transit switch",
    ),
    transform = rule(
        "!has(self.ipv6) || !has(self.ipv6.internalJoinSubnet) || !has(self.ipv6.internalTransitSwitchSubnet) || \
         self.ipv6.internalJoinSubnet != self.ipv6.internalTransitSwitchSubnet",
        "ipv6: choose two different networks for join and transit switch",
    ),
    transform = rule("!has(oldSelf.mtu) || has(self.mtu)", "mtu has to stay once it is there"),
    transform = rule("!has(oldSelf.ipv6) || has(self.ipv6)", "ipv6 has to stay once it is there"),
    transform = rule(
        "!has(oldSelf.ipv6) || !has(oldSelf.ipv6.internalJoinSubnet) || \
         has(self.ipv6) && has(self.ipv6.internalJoinSubnet)",
        "ipv6.internalJoinSubnet has to stay once it is there",
    ),
    transform = rule(
        "!has(oldSelf.ipv6) || !has(oldSelf.ipv6.internalTransitSwitchSubnet) || \
         has(self.ipv6) && has(self.ipv6.internalTransitSwitchSubnet)",
        "ipv6.internalTransitSwitchSubnet has to stay once it is there",
    ),
    transform = rule(
        "!has(oldSelf.v4InternalSubnet) || has(self.v4InternalSubnet)",
        "v4InternalSubnet has to stay once it is there",
    ),
    transform = rule(
        "!has(oldSelf.v6InternalSubnet) || has(self.v6InternalSubnet)",
        "v6InternalSubnet has to stay once it is there",
    ),
)]
pub struct OvnKubernetesConfig {
    /// Inner IPv4 networks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ipv4: Option<OvnIpv4Config>,
    /// Inner IPv6 networks. On KubeVirt, choose a join network that the management cluster does not use itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ipv6: Option<OvnIpv6Config>,
    /// The packet size in the tunnel between nodes, 100 bytes below that of the network under it. Unset means that
    /// it is found out.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 576, max = 9216), transform = immutable("mtu"))]
    pub mtu: Option<i32>,
    /// The IPv4 network of gateway routers and masquerading; unset means 100.64.0.0/16.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(transform = immutable("v4InternalSubnet"))]
    pub v4_internal_subnet: Option<OvnIpv4InternalSubnet>,
    /// The IPv6 network of gateway routers and masquerading; unset means fd98::/64.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 4), transform = immutable("v6InternalSubnet"))]
    pub v6_internal_subnet: Option<OvnIpv6Subnet>,
}

/// Inner IPv4 networks of OVN-Kubernetes.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = properties(Some(1), None))]
pub struct OvnIpv4Config {
    /// The network of the switch that joins gateway routers; unset means 100.64.0.0/16.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub internal_join_subnet: Option<OvnIpv4Subnet>,
    /// The network between the routers of the nodes; unset means 100.88.0.0/16.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub internal_transit_switch_subnet: Option<OvnIpv4Subnet>,
}

/// Inner IPv6 networks of OVN-Kubernetes.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = properties(Some(1), None))]
pub struct OvnIpv6Config {
    /// The network of the switch that joins gateway routers; unset means fd98::/64.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(transform = immutable("internalJoinSubnet"))]
    pub internal_join_subnet: Option<OvnIpv6Subnet>,
    /// The network between the routers of the nodes; unset means fd97::/64.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(transform = immutable("internalTransitSwitchSubnet"))]
    pub internal_transit_switch_subnet: Option<OvnIpv6Subnet>,
}

string_type! {
    /// An IPv4 network between /0 and /30. Leading zeros are taken, as they always were.
    pub struct OvnIpv4Subnet {
        length: 9..=18,
        matches: r"^((25[0-5]|2[0-4][0-9]|[01]?[0-9]{1,2})\.){3}(25[0-5]|2[0-4][0-9]|[01]?[0-9]{1,2})/([0-9]|[12][0-9]|3[0-2])$"
            => "must be an IPv4 network such as 100.64.0.0/16",
        matches: r"/([0-9]|[12][0-9]|30)$" => "must have a prefix of at most 30 bits, to leave room for addresses",
        matches: r"^0{0,2}[1-9]" => "must not begin with 0, which is no address of a host",
    }
}

string_type! {
    /// An IPv4 network between /0 and /30, without leading zeros.
    pub struct OvnIpv4InternalSubnet {
        length: 9..=18,
        matches: r"^((25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])\.){3}(25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])/([0-9]|[12][0-9]|3[0-2])$"
            => "must be an IPv4 network such as 100.64.0.0/16, without leading zeros",
        matches: r"/([0-9]|[12][0-9]|30)$" => "must have a prefix of at most 30 bits, to leave room for addresses",
        matches: r"^[1-9]" => "must not begin with 0, which is no address of a host",
    }
}

string_type! {
    /// An IPv6 network between /0 and /125.
    pub struct OvnIpv6Subnet {
        length: 3..=48,
        rule: "isCIDR(self) && cidr(self).ip().family() == 6" => "must be an IPv6 network such as fd98::/64",
        check: |text| ipv6_prefix_length(text).is_some(),
        rule: "isCIDR(self) && cidr(self).prefixLength() <= 125"
            => "must have a prefix of at most 125 bits, to leave room for addresses",
        check: |text| ipv6_prefix_length(text).is_some_and(|length| length <= 125),
    }
}

/// The length of the prefix of an IPv6 network, if the text is one. Addresses that stand for IPv4 ones are none here,
/// as in CEL's own library.
fn ipv6_prefix_length(text: &str) -> Option<u8> {
    let (address, length) = text.split_once('/')?;
    let address: Ipv6Addr = address.parse().ok()?;
    let is_plain = length == "0" || !length.starts_with(['0', '+']);
    let length: u8 = length.parse().ok()?;
    (address.to_ipv4_mapped().is_none() && is_plain && length <= 128).then_some(length)
}
