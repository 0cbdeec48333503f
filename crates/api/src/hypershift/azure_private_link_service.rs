//! AzurePrivateLinkService: the private way from worker nodes to a control plane on Azure.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use serde::{Deserialize, Serialize};

use super::ip_address::IpAddress;
use crate::{
    common::ConditionSchema,
    resource::{column, custom_resource},
    schema::{JsonSchema, immutable, list_map, list_set, properties},
    text::string_type,
};

custom_resource! {
    /// A Private Link Service before the load balancer of a control plane, and the Private Endpoint that worker
    /// nodes reach it by.
    pub struct AzurePrivateLinkService {
        group: "hypershift.openshift.io",
        version: "v1beta1",
        plural: "azureprivatelinkservices",
        scope: Namespaced,
        spec: required AzurePrivateLinkServiceSpec,
        status: AzurePrivateLinkServiceStatus,
        @short_names: &["azpls"],
        @columns: &[
            column("PLS Alias", "string", ".status.privateLinkServiceAlias", "Name that endpoints connect to"),
            column("Endpoint IP", "string", ".status.privateEndpointIP", "Address in the network of the workers"),
            column(
                "Available",
                "string",
                r#".status.conditions[?(@.type=="AzurePrivateLinkServiceAvailable")].status"#,
                "Whether all of it works",
            ),
            column("Age", "date", ".metadata.creationTimestamp", "Time since creation"),
        ],
    }
}

/// Which load balancer is made reachable, from which network, and where the Azure resources stand.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AzurePrivateLinkServiceSpec {
    /// Front-end address of the internal load balancer of the API server. Filled in by the operator.
    #[serde(rename = "loadBalancerIP", skip_serializing_if = "Option::is_none")]
    pub load_balancer_ip: Option<IpAddress>,
    /// Subscription that pays for and holds the Private Link Service.
    #[serde(rename = "subscriptionID")]
    #[schemars(transform = immutable("subscriptionID"))]
    pub subscription_id: AzureSubscriptionId,
    /// Resource group that holds the Private Link Service.
    #[schemars(transform = immutable("resourceGroupName"))]
    pub resource_group_name: AzureResourceGroupName,
    /// Azure region, such as westeurope; the same as that of the management cluster.
    #[schemars(transform = immutable("location"))]
    pub location: AzureLocation,
    /// Subnet from which the Private Link Service takes its source addresses, with network policies for private
    /// link services turned off. Unset means that one is created.
    #[serde(rename = "natSubnetID", skip_serializing_if = "Option::is_none")]
    #[schemars(transform = immutable("natSubnetID"))]
    pub nat_subnet_id: Option<AzureSubnetId>,
    /// Subnet of the workers in which the Private Endpoint is created.
    #[serde(rename = "guestSubnetID")]
    #[schemars(transform = immutable("guestSubnetID"))]
    pub guest_subnet_id: AzureSubnetId,
    /// Virtual network of the workers, to which the private DNS zones are linked.
    #[serde(rename = "guestVNetID")]
    #[schemars(transform = immutable("guestVNetID"))]
    pub guest_vnet_id: AzureVirtualNetworkId,
    /// Subscriptions that may connect besides that of the workers, which always may.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(min = 1, max = 50), transform = list_set())]
    pub additional_allowed_subscriptions: Vec<AzureSubscriptionId>,
    /// Base domain of the cluster. Kept here so that its private zone can be cleaned up after the cluster is gone.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(transform = immutable("baseDomain"))]
    pub base_domain: Option<AzureDomainName>,
}

/// What exists in Azure for a Private Link Service.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = properties(Some(1), None))]
pub struct AzurePrivateLinkServiceStatus {
    /// One condition per part (load balancer, service, endpoint, DNS) and AzurePrivateLinkServiceAvailable for the
    /// whole.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(with = "Vec<ConditionSchema>", length(min = 1, max = 10), transform = list_map("type"))]
    pub conditions: Vec<Condition>,
    /// The internal load balancer before the API server.
    #[serde(rename = "internalLoadBalancerID", skip_serializing_if = "Option::is_none")]
    pub internal_load_balancer_id: Option<AzureLoadBalancerId>,
    /// The Private Link Service.
    #[serde(rename = "privateLinkServiceID", skip_serializing_if = "Option::is_none")]
    pub private_link_service_id: Option<AzurePrivateLinkServiceId>,
    /// The name that Azure gave the service; unique in the whole of Azure.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub private_link_service_alias: Option<AzurePrivateLinkServiceAlias>,
    /// The Private Endpoint.
    #[serde(rename = "privateEndpointID", skip_serializing_if = "Option::is_none")]
    pub private_endpoint_id: Option<AzurePrivateEndpointId>,
    /// The address of the Private Endpoint in the network of the workers.
    #[serde(rename = "privateEndpointIP", skip_serializing_if = "Option::is_none")]
    pub private_endpoint_ip: Option<IpAddress>,
    /// The private DNS zone of the API server.
    #[serde(rename = "privateDNSZoneID", skip_serializing_if = "Option::is_none")]
    pub private_dns_zone_id: Option<AzurePrivateDnsZoneId>,
    /// The name of that zone, kept so that it can be deleted without the HostedControlPlane.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dns_zone_name: Option<AzureDomainName>,
    /// The private DNS zone of the base domain.
    #[serde(rename = "baseDomainDNSZoneID", skip_serializing_if = "Option::is_none")]
    pub base_domain_dns_zone_id: Option<AzurePrivateDnsZoneId>,
}

string_type! {
    /// An Azure subscription, by its UUID.
    pub struct AzureSubscriptionId {
        length: 36..=36,
        matches: "^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$"
            => "must be the UUID of a subscription: groups of 8, 4, 4, 4 and 12 hexadecimal digits",
    }
}

string_type! {
    /// The name of an Azure resource group.
    pub struct AzureResourceGroupName {
        length: 1..=90,
        matches: "^[-a-zA-Z0-9_.()]*[-a-zA-Z0-9_()]$"
            => "must be made of letters, digits, hyphens, underscores, periods and parentheses, without a period at the end",
    }
}

string_type! {
    /// The name of an Azure region.
    pub struct AzureLocation {
        length: 1..=50,
        matches: "^[a-z0-9]+$" => "must be an Azure region in lower case without spaces, such as westeurope",
    }
}

string_type! {
    /// The resource id of a virtual network.
    pub struct AzureVirtualNetworkId {
        length: 1..=355,
        matches: r"^/subscriptions/[^/]+/resourceGroups/[^/]+/providers/Microsoft\.Network/virtualNetworks/[^/]+$"
            => "must be the full resource id of a virtual network",
    }
}

string_type! {
    /// The resource id of a subnet.
    pub struct AzureSubnetId {
        length: 1..=355,
        matches: r"^/subscriptions/[^/]+/resourceGroups/[^/]+/providers/Microsoft\.Network/virtualNetworks/[^/]+/subnets/[^/]+$"
            => "must be the full resource id of a subnet",
    }
}

string_type! {
    /// A DNS domain, in either case.
    pub struct AzureDomainName {
        length: 1..=253,
        matches: r"^[a-zA-Z0-9]([a-zA-Z0-9-]*[a-zA-Z0-9])?(\.[a-zA-Z0-9]([a-zA-Z0-9-]*[a-zA-Z0-9])?)*$"
            => "must be a domain such as clusters.example.com",
    }
}

string_type! {
    /// The resource id of a load balancer.
    pub struct AzureLoadBalancerId {
        length: 1..=284,
        matches: r"^/subscriptions/[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}/resourceGroups/[^/]+/providers/Microsoft\.Network/loadBalancers/[^/]+$"
            => "must be the full resource id of a load balancer, with the subscription as a UUID",
    }
}

string_type! {
    /// The resource id of a Private Link Service.
    pub struct AzurePrivateLinkServiceId {
        length: 1..=270,
        matches: r"^/subscriptions/[^/]+/resourceGroups/[^/]+/providers/Microsoft\.Network/privateLinkServices/[^/]+$"
            => "must be the full resource id of a Private Link Service",
    }
}

string_type! {
    /// The alias of a Private Link Service: its name, a UUID and the region.
    pub struct AzurePrivateLinkServiceAlias {
        length: 1..=170,
        matches: r"^[^.]+\.[0-9a-fA-F-]+\.[a-z0-9]+\.azure\.privatelinkservice$"
            => "must read name.uuid.region.azure.privatelinkservice",
    }
}

string_type! {
    /// The resource id of a Private Endpoint.
    pub struct AzurePrivateEndpointId {
        length: 1..=267,
        matches: r"^/subscriptions/[^/]+/resourceGroups/[^/]+/providers/Microsoft\.Network/privateEndpoints/[^/]+$"
            => "must be the full resource id of a Private Endpoint",
    }
}

string_type! {
    /// The resource id of a private DNS zone.
    pub struct AzurePrivateDnsZoneId {
        length: 1..=265,
        matches: r"^/subscriptions/[^/]+/resourceGroups/[^/]+/providers/Microsoft\.Network/privateDnsZones/[^/]+$"
            => "must be the full resource id of a private DNS zone",
    }
}
