//! GCPPrivateServiceConnect: the private way from worker nodes to a control plane on GCP.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use serde::{Deserialize, Serialize};

use super::{ip_address::IpAddress, node_pool::platform::gcp::GcpResourceName};
use crate::{
    common::ConditionSchema,
    resource::{column, custom_resource},
    schema::{FeatureGate, JsonSchema, atomic, list_map, list_set, text_items},
    text::string_type,
};

custom_resource! {
    /// A service attachment before the load balancer of a control plane, and the endpoint that worker nodes reach it
    /// by.
    pub struct GCPPrivateServiceConnect {
        group: "hypershift.openshift.io",
        version: "v1beta1",
        plural: "gcpprivateserviceconnects",
        scope: Namespaced,
        spec: expected GcpPrivateServiceConnectSpec,
        status: GcpPrivateServiceConnectStatus,
        @gate: Some(FeatureGate::GcpPlatform),
        @short_names: &["gcppsc"],
        @columns: &[
            column("Service Attachment", "string", ".status.serviceAttachmentName", "Service that endpoints connect to"),
            column("Endpoint IP", "string", ".status.endpointIP", "Address in the network of the workers"),
            column(
                "Available",
                "string",
                r#".status.conditions[?(@.type=="GCPEndpointAvailable")].status"#,
                "Whether workers can connect",
            ),
            column("Age", "date", ".metadata.creationTimestamp", "Time since creation"),
        ],
    }
}

/// Which load balancer is made reachable, and for whom.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct GcpPrivateServiceConnectSpec {
    /// Address of the internal load balancer of the API server. Filled in from the Service.
    #[serde(rename = "loadBalancerIP")]
    pub load_balancer_ip: IpAddress,
    /// Projects that may connect, each by its id or its number.
    #[schemars(length(min = 1, max = 50), transform = list_set())]
    pub consumer_accept_list: Vec<GcpProject>,
    /// Forwarding rule of the internal load balancer. Filled in by the operator, which looks it up in GCP.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub forwarding_rule_name: Option<GcpResourceName>,
    /// Subnet from which the service attachment takes its source addresses. Filled in by the operator.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nat_subnet: Option<GcpResourceName>,
}

/// What exists in GCP for a Private Service Connect.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct GcpPrivateServiceConnectStatus {
    /// One condition per part (service attachment, endpoint, DNS) and GCPPrivateServiceConnectAvailable for the whole.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(with = "Vec<ConditionSchema>", length(min = 1, max = 10), transform = list_map("type"))]
    pub conditions: Vec<Condition>,
    /// The service attachment, by name.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 63))]
    pub service_attachment_name: Option<String>,
    /// The service attachment, by the path that an endpoint connects to.
    #[serde(rename = "serviceAttachmentURI", skip_serializing_if = "Option::is_none")]
    pub service_attachment_uri: Option<GcpServiceAttachmentUri>,
    /// The address that is reserved for the endpoint in the network of the workers.
    #[serde(rename = "endpointIP", skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 3, max = 39))]
    pub endpoint_ip: Option<IpAddress>,
    /// The DNS zones of this cluster, each with what it resolves.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(min = 1, max = 5), transform = atomic())]
    pub dns_zones: Vec<GcpDnsZone>,
}

/// A DNS zone and its records.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct GcpDnsZone {
    /// Name of the zone.
    #[schemars(length(min = 1, max = 253))]
    pub name: String,
    /// Host names that the zone resolves.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(min = 1, max = 10), transform = atomic(), transform = text_items(None, Some(253), vec![]))]
    pub records: Vec<String>,
}

string_type! {
    /// A GCP project, by id or by number.
    pub struct GcpProject {
        length: 1..=30,
        matches: "^([a-z][a-z0-9-]{4,28}[a-z0-9]|[0-9]{1,30})$"
            => "must be a project id such as my-project-123 or a project number",
    }
}

string_type! {
    /// The path of a service attachment.
    pub struct GcpServiceAttachmentUri {
        length: 0..=2048,
        matches: "^projects/[a-z][a-z0-9-]{4,28}[a-z0-9]/regions/[a-z]+-[a-z]+[0-9]+/serviceAttachments/[a-z]([-a-z0-9]*[a-z0-9])?$"
            => "must read projects/PROJECT/regions/REGION/serviceAttachments/NAME",
    }
}
