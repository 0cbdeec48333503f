//! The load balancer in front of the default ingress controller, apart from what is AWS's own.

use serde::{Deserialize, Serialize};

use super::{aws_load_balancer::AwsLoadBalancer, ingress::IngressProtocol};
use crate::{
    schema::{JsonSchema, atomic, nullable, pattern, rule},
    text::string_enum,
};

string_enum! {
    /// Who can reach a load balancer.
    pub enum LoadBalancerScope {
        /// Clients in the network of the cluster.
        Internal,
        /// Everyone.
        External,
    }
}

string_enum! {
    /// Who looks after the wildcard DNS record of a load balancer.
    #[derive(Default)]
    pub enum DnsManagementPolicy {
        /// The ingress operator.
        #[default]
        Managed,
        /// The user.
        Unmanaged,
    }
}

/// A load balancer in front of an ingress controller.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(
    transform = rule(
        "self.scope != 'Internal' || \
         !self.?providerParameters.?aws.?networkLoadBalancer.?eipAllocations.hasValue()",
        "remove eipAllocations: they are public addresses, which a load balancer with scope Internal does not have",
    ),
    transform = rule(
        "self.scope != 'Internal' || self.?providerParameters.?openstack.?floatingIP.orValue('') == ''",
        "remove floatingIP: it is a public address, which a load balancer with scope Internal does not have",
    ),
)]
pub struct LoadBalancerStrategy {
    /// Who can reach it.
    pub scope: LoadBalancerScope,
    /// Who looks after its wildcard DNS record.
    #[serde(default)]
    pub dns_management_policy: DnsManagementPolicy,
    /// Networks that may connect; none means all.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(transform = atomic(), transform = nullable())]
    pub allowed_source_ranges: Option<Vec<SourceRange>>,
    /// What is particular to the cloud.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provider_parameters: Option<LoadBalancerProvider>,
}

/// The published expression for a network, kept letter by letter: it has lost the backslashes of its `\d` and `\s`, so
/// that an IPv6 network with an IPv4 tail is refused, and what an API server refuses is part of the wire.
const SOURCE_RANGE_PATTERN: &str = r"(^(([0-9]|[0-9][0-9]|1[0-9][0-9]|2[0-4][0-9]|25[0-5])\.){3}([0-9]|[0-9][0-9]|1[0-9][0-9]|2[0-4][0-9]|25[0-5])/([0-9]|[12][0-9]|3[0-2])$)|(^s*((([0-9A-Fa-f]{1,4}:){7}([0-9A-Fa-f]{1,4}|:))|(([0-9A-Fa-f]{1,4}:){6}(:[0-9A-Fa-f]{1,4}|((25[0-5]|2[0-4]d|1dd|[1-9]?d)(.(25[0-5]|2[0-4]d|1dd|[1-9]?d)){3})|:))|(([0-9A-Fa-f]{1,4}:){5}(((:[0-9A-Fa-f]{1,4}){1,2})|:((25[0-5]|2[0-4]d|1dd|[1-9]?d)(.(25[0-5]|2[0-4]d|1dd|[1-9]?d)){3})|:))|(([0-9A-Fa-f]{1,4}:){4}(((:[0-9A-Fa-f]{1,4}){1,3})|((:[0-9A-Fa-f]{1,4})?:((25[0-5]|2[0-4]d|1dd|[1-9]?d)(.(25[0-5]|2[0-4]d|1dd|[1-9]?d)){3}))|:))|(([0-9A-Fa-f]{1,4}:){3}(((:[0-9A-Fa-f]{1,4}){1,4})|((:[0-9A-Fa-f]{1,4}){0,2}:((25[0-5]|2[0-4]d|1dd|[1-9]?d)(.(25[0-5]|2[0-4]d|1dd|[1-9]?d)){3}))|:))|(([0-9A-Fa-f]{1,4}:){2}(((:[0-9A-Fa-f]{1,4}){1,5})|((:[0-9A-Fa-f]{1,4}){0,3}:((25[0-5]|2[0-4]d|1dd|[1-9]?d)(.(25[0-5]|2[0-4]d|1dd|[1-9]?d)){3}))|:))|(([0-9A-Fa-f]{1,4}:){1}(((:[0-9A-Fa-f]{1,4}){1,6})|((:[0-9A-Fa-f]{1,4}){0,4}:((25[0-5]|2[0-4]d|1dd|[1-9]?d)(.(25[0-5]|2[0-4]d|1dd|[1-9]?d)){3}))|:))|(:(((:[0-9A-Fa-f]{1,4}){1,7})|((:[0-9A-Fa-f]{1,4}){0,5}:((25[0-5]|2[0-4]d|1dd|[1-9]?d)(.(25[0-5]|2[0-4]d|1dd|[1-9]?d)){3}))|:)))(%.+)?s*(\/(12[0-8]|1[0-1][0-9]|[1-9][0-9]|[0-9]))$)";

/// A network in CIDR notation that may connect.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(transparent)]
#[schemars(transform = pattern(SOURCE_RANGE_PATTERN))]
pub struct SourceRange(pub String);

string_enum! {
    /// Whose load balancer it is.
    pub enum LoadBalancerProviderType {
        /// AWS.
        Aws = "AWS",
        /// Azure.
        Azure,
        /// Machines without a cloud.
        BareMetal,
        /// GCP.
        Gcp = "GCP",
        /// Nutanix.
        Nutanix,
        /// OpenStack.
        OpenStack,
        /// vSphere.
        VSphere,
        /// IBM Cloud.
        Ibm = "IBM",
    }
}

/// What is particular to the cloud of a load balancer.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = rule(
    "!has(self.openstack) || self.type == 'OpenStack'",
    "openstack can be set only when type is OpenStack",
))]
pub struct LoadBalancerProvider {
    /// Which cloud it is.
    #[serde(rename = "type")]
    pub provider_type: LoadBalancerProviderType,
    /// Settings for AWS.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub aws: Option<AwsLoadBalancer>,
    /// Settings for GCP.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gcp: Option<GcpLoadBalancer>,
    /// Settings for IBM Cloud.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ibm: Option<IbmLoadBalancer>,
    /// Settings for OpenStack.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub openstack: Option<OpenStackLoadBalancer>,
}

string_enum! {
    /// From where an internal load balancer of GCP can be reached.
    pub enum GcpClientAccess {
        /// From every region of the network.
        Global,
        /// From its own region.
        Local,
    }
}

/// A load balancer of GCP.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct GcpLoadBalancer {
    /// From where it can be reached when its scope is Internal.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client_access: Option<GcpClientAccess>,
}

/// A load balancer of IBM Cloud.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct IbmLoadBalancer {
    /// What it begins connections with; unset means TCP.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub protocol: Option<IngressProtocol>,
}

/// A load balancer of OpenStack.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct OpenStackLoadBalancer {
    /// The floating IP that it takes, which must exist and be free. Unset means that the cloud chooses one.
    #[serde(rename = "floatingIP", skip_serializing_if = "Option::is_none")]
    #[schemars(transform = rule("isIP(self)", "must be an IP address, either version"))]
    pub floating_ip: Option<String>,
}
