//! How the API server is reached from the network of the nodes.

use serde::{Deserialize, Serialize};

use crate::{
    hypershift::azure_private_link_service::{AzureSubnetId, AzureSubscriptionId},
    schema::{JsonSchema, immutable, list_set, properties, rule},
    text::{string_enum, string_type},
};

string_enum! {
    /// What connects the network of the nodes with the API server.
    pub enum AzurePrivateType {
        /// A Private Link Service before the load balancer of the API server, and an endpoint among the nodes.
        PrivateLink,
        /// Swift, which gives the router's pods addresses in the network of the nodes.
        Swift,
    }
}

string_type! {
    /// Name of a PodNetworkInstance.
    pub struct PodNetworkInstanceName {
        length: 1..=63,
        matches: "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$"
            => "must be lower-case letters, digits and dashes, with no dash at either end",
    }
}

/// How the API server is reached from the network of the nodes.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(
    transform = rule(
        "!has(oldSelf.type) || self.type == oldSelf.type",
        "type cannot be changed after it has been set",
    ),
    transform = rule(
        "(self.type == 'PrivateLink') == has(self.privateLink)",
        "type PrivateLink needs privateLink, and no other type takes it",
    ),
    transform = rule(
        "(self.type == 'Swift') == has(self.swift)",
        "type Swift needs swift, and no other type takes it",
    ),
)]
pub struct AzurePrivate {
    /// What connects the two; the structure of the same name holds its settings.
    #[serde(rename = "type")]
    pub type_: AzurePrivateType,
    /// The Private Link Service.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub private_link: Option<AzurePrivateLink>,
    /// Swift, which the management cluster must have been prepared for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub swift: Option<AzureSwift>,
}

/// A Private Link Service before an API server.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = properties(Some(1), None))]
pub struct AzurePrivateLink {
    /// Subnet from which the Private Link Service takes its source addresses, with network policies for private
    /// link services turned off. Unset means that one is created.
    #[serde(rename = "natSubnetID", skip_serializing_if = "Option::is_none")]
    #[schemars(transform = immutable("natSubnetID"))]
    pub nat_subnet_id: Option<AzureSubnetId>,
    /// Subscriptions that may connect besides that of the cluster, which always may.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(min = 1, max = 50), transform = list_set())]
    pub additional_allowed_subscriptions: Vec<AzureSubscriptionId>,
}

/// Addresses in the network of the nodes for the router's pods.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = rule(
    "self.podNetworkInstance == oldSelf.podNetworkInstance",
    "podNetworkInstance cannot be changed after it has been set",
))]
pub struct AzureSwift {
    /// The PodNetworkInstance, in the namespace of the control plane, that describes them.
    pub pod_network_instance: PodNetworkInstanceName,
}
