//! Where pods, services and machines of a hosted cluster get their addresses.

use serde::{Deserialize, Serialize};

use crate::{
    schema::{JsonSchema, immutable, list_set, rule},
    text::{string_enum, string_type},
};

string_type! {
    /// A network in CIDR notation, IPv4 or IPv6. Whether it parses, and whether it overlaps another, is judged
    /// by the controller: a schema cannot.
    pub struct Cidr {
        length: 0..=43,
        matches: r"^((\d{1,3}\.){3}\d{1,3}/\d{1,2}|([0-9a-fA-F]{0,4}:){2,7}([0-9a-fA-F]{0,4})?/[0-9]{1,3})$"
            => "must be a network such as 10.0.0.0/16 or fd00::/48",
    }
}

string_enum! {
    /// The network plugin of the hosted cluster.
    #[derive(Default)]
    pub enum NetworkType {
        /// OpenShift's first network plugin, no longer offered for new clusters.
        OpenShiftSDN,
        /// Calico, brought by the user.
        Calico,
        /// OVN-Kubernetes, run by OpenShift's network operator.
        #[default]
        OVNKubernetes,
        /// Any plugin that the user or an extension brings.
        Other,
    }
}

string_enum! {
    /// Whether the controller manager hands out node networks.
    pub enum AllocateNodeCidrs {
        /// The controller manager does.
        Enabled,
        /// The network plugin does.
        Disabled,
    }
}

/// The networks of a hosted cluster.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(
    transform = rule(
        "self.clusterNetwork.all(c, self.serviceNetwork.all(s, s.cidr != c.cidr)) && \
         (!has(self.machineNetwork) || self.machineNetwork.all(m, \
         self.clusterNetwork.all(c, c.cidr != m.cidr) && self.serviceNetwork.all(s, s.cidr != m.cidr)))",
        "machineNetwork, clusterNetwork and serviceNetwork must not share a CIDR",
    ),
    transform = rule(
        "!has(self.allocateNodeCIDRs) || self.allocateNodeCIDRs != 'Enabled' || self.networkType == 'Other'",
        "only networkType Other lets allocateNodeCIDRs be Enabled",
    ),
)]
pub struct ClusterNetworking {
    /// Networks that machines get their addresses from; informs which sources are trusted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(min = 1, max = 2), transform = immutable("machineNetwork"))]
    pub machine_network: Vec<MachineNetworkEntry>,
    /// Networks that pods get their addresses from; one per address family.
    #[serde(default = "default_cluster_network")]
    #[schemars(length(min = 1, max = 2), transform = immutable("clusterNetwork"))]
    pub cluster_network: Vec<ClusterNetworkEntry>,
    /// Networks that services get their addresses from; one per address family.
    #[serde(default = "default_service_network")]
    #[schemars(length(min = 1, max = 2), transform = immutable("serviceNetwork"))]
    pub service_network: Vec<ServiceNetworkEntry>,
    /// The network plugin.
    #[serde(default)]
    pub network_type: NetworkType,
    /// How nodes reach the hosted API server.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub api_server: Option<ApiServerNetworking>,
    /// Whether the controller manager hands out node networks; only for networkType Other.
    #[serde(rename = "allocateNodeCIDRs", skip_serializing_if = "Option::is_none")]
    #[schemars(transform = immutable("allocateNodeCIDRs"))]
    pub allocate_node_cidrs: Option<AllocateNodeCidrs>,
}

impl Default for ClusterNetworking {
    fn default() -> Self {
        Self {
            machine_network: Vec::new(),
            cluster_network: default_cluster_network(),
            service_network: default_service_network(),
            network_type: NetworkType::default(),
            api_server: None,
            allocate_node_cidrs: None,
        }
    }
}

/// Where nodes find the API server when nothing else is said, by address family.
const ADVERTISED: &str = "172.20.0.1";
const ADVERTISED_V6: &str = "fd00::1";

impl ClusterNetworking {
    /// The address on every node that leads to the API server, as it is written or chosen.
    pub fn advertised_address(&self) -> &str {
        let server = self.api_server.as_ref();
        let written = server.and_then(|server| server.advertise_address.as_deref());
        let first = self.service_network.first();
        let is_v6 = first.is_some_and(|network| network.cidr.as_str().contains(':'));
        let otherwise = if is_v6 { ADVERTISED_V6 } else { ADVERTISED };
        written.filter(|written| !written.is_empty()).unwrap_or(otherwise)
    }
}

fn default_cluster_network() -> Vec<ClusterNetworkEntry> {
    vec![ClusterNetworkEntry {
        cidr: Cidr::stored("10.132.0.0/14"),
        host_prefix: None,
    }]
}

fn default_service_network() -> Vec<ServiceNetworkEntry> {
    vec![ServiceNetworkEntry {
        cidr: Cidr::stored("172.31.0.0/16"),
    }]
}

/// One network of machines.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MachineNetworkEntry {
    /// The network.
    pub cidr: Cidr,
}

/// One network of pods.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ClusterNetworkEntry {
    /// The network.
    pub cidr: Cidr,
    /// Length of the prefix that each node gets out of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host_prefix: Option<i32>,
}

/// One network of services.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ServiceNetworkEntry {
    /// The network.
    pub cidr: Cidr,
}

/// How nodes and clients reach the hosted API server.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ApiServerNetworking {
    /// Address on every node that leads to the API server. Unset means 172.20.0.1, or fd00::1 for IPv6.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 255), transform = immutable("advertiseAddress"))]
    pub advertise_address: Option<String>,
    /// Port on every node that leads to the API server. Unset means 6443.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(transform = immutable("port"))]
    pub port: Option<i32>,
    /// Networks from which the API server may be reached from outside; none means from everywhere.
    #[serde(rename = "allowedCIDRBlocks", default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 500), transform = list_set())]
    pub allowed_cidr_blocks: Vec<Cidr>,
}
