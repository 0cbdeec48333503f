//! The load balancer of AWS in front of the default ingress controller.

use serde::{Deserialize, Serialize};

use crate::{
    common::GoDuration,
    schema::{JsonSchema, atomic, format, pattern, rule},
    text::{string_enum, string_type},
};

/// On a list: every entry stands in it once.
const ALL_DIFFERENT: &str = "self.all(one, self.exists_one(other, one == other))";

string_enum! {
    /// A kind of load balancer that AWS offers.
    pub enum AwsLoadBalancerType {
        /// The classic one.
        Classic,
        /// The network load balancer.
        Nlb = "NLB",
    }
}

/// A load balancer of AWS.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AwsLoadBalancer {
    /// Which kind it is.
    #[serde(rename = "type")]
    pub load_balancer_type: AwsLoadBalancerType,
    /// Settings for Classic.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub classic_load_balancer: Option<AwsClassicLoadBalancer>,
    /// Settings for NLB.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub network_load_balancer: Option<AwsNetworkLoadBalancer>,
}

/// A classic load balancer of AWS.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AwsClassicLoadBalancer {
    /// After how long a silent connection is closed; unset or zero leaves it to AWS.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(transform = format("duration"))]
    pub connection_idle_timeout: Option<GoDuration>,
    /// The subnets that it stands in; unset means that one is found in each availability zone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subnets: Option<AwsSubnets>,
}

string_enum! {
    /// How a network load balancer tells the source address of a connection.
    pub enum AwsNetworkLoadBalancerProtocol {
        /// By keeping it, as AWS does by itself; pods then cannot reach an internal one that leads back to their node.
        Tcp = "TCP",
        /// By a PROXY header.
        Proxy = "PROXY",
    }
}

/// A network load balancer of AWS.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(
    transform = rule(
        "!has(self.eipAllocations) || !has(self.subnets) || !has(self.subnets.ids) || !has(self.subnets.names) || \
         self.eipAllocations.size() == self.subnets.ids.size() + self.subnets.names.size()",
        "give one entry of eipAllocations for each of the subnets in ids and names",
    ),
    transform = rule(
        "!has(self.eipAllocations) || !has(self.subnets) || !has(self.subnets.ids) || has(self.subnets.names) || \
         self.eipAllocations.size() == self.subnets.ids.size()",
        "give one entry of eipAllocations for each of the subnets in ids",
    ),
    transform = rule(
        "!has(self.eipAllocations) || !has(self.subnets) || has(self.subnets.ids) || !has(self.subnets.names) || \
         self.eipAllocations.size() == self.subnets.names.size()",
        "give one entry of eipAllocations for each of the subnets in names",
    ),
)]
pub struct AwsNetworkLoadBalancer {
    /// How it tells the source address of a connection; unset leaves the choice to OpenShift, today PROXY.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub protocol: Option<AwsNetworkLoadBalancerProtocol>,
    /// The subnets that it stands in; unset means that one is found in each availability zone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subnets: Option<AwsSubnets>,
    /// Public addresses that it takes, one per subnet; not for scope Internal.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(
        length(max = 10),
        transform = atomic(),
        transform = rule(ALL_DIFFERENT, "name every allocation once"),
    )]
    pub eip_allocations: Vec<EipAllocation>,
}

string_type! {
    /// An allocated public address of AWS, by its id.
    pub struct EipAllocation {
        length: 26..=26,
        matches: r"^eipalloc-" => "must begin with eipalloc-",
        rule: "self.split('-', 2)[1].matches('[0-9a-fA-F]{17}$')"
            => "must end with 17 hexadecimal digits, such as eipalloc-0123456789abcdef0",
        check: |id| id.split_once('-').is_some_and(|(_, digits)| ends_with_digits(digits)),
    }
}

fn ends_with_digits(text: &str) -> bool {
    text.chars().rev().take_while(char::is_ascii_hexdigit).count() >= 17
}

/// Subnets of AWS, by id, by name or both; each lies in another availability zone.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(
    transform = rule(
        "!has(self.ids) || !has(self.names) || self.ids.size() + self.names.size() <= 10",
        "ids and names can hold ten entries together",
    ),
    transform = rule(
        "has(self.ids) && self.ids.size() > 0 || has(self.names) && self.names.size() > 0",
        "ids or names has to hold an entry",
    ),
)]
pub struct AwsSubnets {
    /// Subnets by id.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 10), transform = atomic(), transform = rule(ALL_DIFFERENT, "give every id once"))]
    pub ids: Vec<AwsSubnetId>,
    /// Subnets by name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 10), transform = atomic(), transform = rule(ALL_DIFFERENT, "give every name once"))]
    pub names: Vec<AwsSubnetName>,
}

/// The id of a subnet.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(transparent)]
#[schemars(transform = pattern("^subnet-[0-9A-Za-z]+$"))]
pub struct AwsSubnetId(#[schemars(length(min = 24, max = 24))] pub String);

string_type! {
    /// The name of a subnet.
    pub struct AwsSubnetName {
        length: 1..=256,
        matches: r"^[^,]*$" => "must have no comma in it",
        rule: "!self.startsWith('subnet-')" => "must be a name: subnet- begins an id, which belongs into ids",
        check: |name| !name.starts_with("subnet-"),
    }
}
