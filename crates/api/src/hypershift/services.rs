//! How the endpoints of a hosted control plane are published to nodes and users.
//!
//! Which services must be listed depends on the platform, and is a rule of the spec that holds the list.

use serde::{Deserialize, Serialize};

use crate::{
    schema::{JsonSchema, rule},
    text::{string_enum, string_type},
};

string_enum! {
    /// An endpoint of a hosted control plane.
    pub enum PublishedService {
        /// The Kubernetes API.
        ApiServer = "APIServer",
        /// OpenShift's login server.
        OAuthServer,
        /// Without effect; accepted from older manifests.
        Oidc = "OIDC",
        /// The tunnel from the control plane to the nodes.
        Konnectivity,
        /// Where a new node fetches its configuration.
        Ignition,
        /// Without effect; accepted from older manifests.
        OvnSbDb = "OVNSbDb",
    }
}

/// How one endpoint is published.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ServicePublishing {
    /// Which endpoint it is. OIDC and OVNSbDb have no effect.
    pub service: PublishedService,
    /// How clients get to it.
    pub service_publishing_strategy: ServicePublishingStrategy,
}

string_enum! {
    /// A way to publish an endpoint.
    pub enum PublishingStrategyType {
        /// By a load balancer of its own.
        LoadBalancer,
        /// By a port on the nodes of the management cluster.
        NodePort,
        /// By host name, through a router that it shares with others.
        Route,
        /// Not at all.
        None,
        /// By documents in an S3 bucket; for OIDC only.
        S3,
    }
}

/// A way to publish an endpoint, and its settings.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(
    transform = rule(
        "has(self.nodePort) == (self.type == 'NodePort')",
        "set nodePort when type is NodePort, and only then",
    ),
    transform = rule(
        "!has(self.route) || self.type == 'Route'",
        "route can be set only when type is Route",
    ),
    transform = rule(
        "!has(self.loadBalancer) || self.type == 'LoadBalancer'",
        "loadBalancer can be set only when type is LoadBalancer",
    ),
    transform = rule(
        "self.type != 'None' || !(has(self.nodePort) || has(self.route) || has(self.loadBalancer))",
        "an endpoint of type None takes no settings: remove nodePort, route and loadBalancer",
    ),
    transform = rule(
        "self.type != 'S3' || !(has(self.nodePort) || has(self.route) || has(self.loadBalancer))",
        "an endpoint of type S3 takes no settings: remove nodePort, route and loadBalancer",
    ),
)]
pub struct ServicePublishingStrategy {
    /// Which way is used.
    #[serde(rename = "type")]
    pub strategy_type: PublishingStrategyType,
    /// Address and port, for NodePort.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub node_port: Option<NodePortPublishing>,
    /// The host name, for LoadBalancer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub load_balancer: Option<LoadBalancerPublishing>,
    /// The host name, for Route.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub route: Option<RoutePublishing>,
}

string_type! {
    /// A host name with a domain, under which an endpoint is found.
    pub struct PublishedHostname {
        length: 1..=253,
        matches: r"^([a-zA-Z0-9-]+\.)+[a-zA-Z]{2,}$" => "must be a host name with a domain, such as api.example.com",
    }
}

string_type! {
    /// A host name with a domain, localhost, or an IPv4 or IPv6 address.
    pub struct NodePortAddress {
        length: 1..=253,
        matches: r"^(([a-zA-Z0-9][-a-zA-Z0-9]*\.)+[a-zA-Z]{2,}|localhost|([0-9]{1,3}\.){3}[0-9]{1,3}|([0-9a-fA-F]{1,4}:){7}([0-9a-fA-F]{1,4}|:)|([0-9a-fA-F]{1,4}:){6}(:|:[0-9a-fA-F]{1,4})|([0-9a-fA-F]{1,4}:){5}(:|(:[0-9a-fA-F]{1,4}){1,2})|([0-9a-fA-F]{1,4}:){4}(:|(:[0-9a-fA-F]{1,4}){1,3})|([0-9a-fA-F]{1,4}:){3}(:|(:[0-9a-fA-F]{1,4}){1,4})|([0-9a-fA-F]{1,4}:){2}(:|(:[0-9a-fA-F]{1,4}){1,5})|[0-9a-fA-F]{1,4}:(:|(:[0-9a-fA-F]{1,4}){1,6})|:(:|(:[0-9a-fA-F]{1,4}){1,7}))$"
            => "must be a host name with a domain, localhost, or an IP address",
    }
}

/// Publication by a port on the nodes of the management cluster.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NodePortPublishing {
    /// The host or address under which clients reach those nodes.
    pub address: NodePortAddress,
    /// The port on those nodes; unset, zero or less means that a free one is taken.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub port: Option<i32>,
}

/// Publication by a load balancer.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LoadBalancerPublishing {
    /// The name that clients use; unset means the address that the load balancer gets.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hostname: Option<PublishedHostname>,
}

/// Publication by host name, through a shared router.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RoutePublishing {
    /// The name that clients use; unset means one in the ingress domain of the management cluster.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hostname: Option<PublishedHostname>,
}
