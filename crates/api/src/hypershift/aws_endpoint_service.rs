//! AWSEndpointService: the private way from worker nodes to a control plane on AWS.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use serde::{Deserialize, Serialize};

use super::aws_tag::AwsResourceTag;
use crate::{
    common::ConditionSchema,
    resource::custom_resource,
    schema::{JsonSchema, list_map, text_items},
};

custom_resource! {
    /// A VPC endpoint service on the side of the control plane and the VPC endpoint that worker nodes reach it by.
    pub struct AWSEndpointService {
        group: "hypershift.openshift.io",
        version: "v1beta1",
        plural: "awsendpointservices",
        scope: Namespaced,
        spec: expected AwsEndpointServiceSpec,
        status: AwsEndpointServiceStatus,
    }
}

/// Which load balancer is made reachable, and from where.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AwsEndpointServiceSpec {
    /// The network load balancer in the management VPC that the endpoint service leads to.
    #[schemars(length(max = 255))]
    pub network_load_balancer_name: String,
    /// Subnets of the worker nodes; the VPC endpoint gets an interface in each zone of them.
    #[serde(rename = "subnetIDs", default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 10), transform = text_items(None, Some(63), vec![]))]
    pub subnet_ids: Vec<String>,
    /// Tags for every AWS resource that is created on behalf of this object.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 25))]
    pub resource_tags: Vec<AwsResourceTag>,
}

/// What exists in AWS for an endpoint service.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AwsEndpointServiceStatus {
    /// AWSEndpointServiceAvailable for the management side, AWSEndpointAvailable for the side of the workers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(with = "Vec<ConditionSchema>", length(max = 10), transform = list_map("type"))]
    pub conditions: Vec<Condition>,
    /// The endpoint service in the management VPC, by the name that consumers connect to.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 255))]
    pub endpoint_service_name: Option<String>,
    /// The VPC endpoint in the VPC of the worker nodes.
    #[serde(rename = "endpointID", skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 255))]
    pub endpoint_id: Option<String>,
    /// The security group that guards the VPC endpoint.
    #[serde(rename = "securityGroupID", skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 255))]
    pub security_group_id: Option<String>,
    /// The private hosted zone that holds the records.
    #[serde(rename = "dnsZoneID", skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 255))]
    pub dns_zone_id: Option<String>,
    /// Host names that resolve to the VPC endpoint in that zone.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 10), transform = text_items(None, Some(253), vec![]))]
    pub dns_names: Vec<String>,
}
