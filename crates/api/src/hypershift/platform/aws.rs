//! Amazon Web Services.

use serde::{Deserialize, Serialize};

use crate::{
    hypershift::{
        aws_tag::{AwsTagKey, AwsTagValue},
        node_pool::platform::aws::AwsResourceReference,
    },
    schema::{JsonSchema, pattern, text_items},
    text::string_enum,
};

string_enum! {
    /// From where the endpoints of a control plane are reached.
    #[derive(Default)]
    pub enum AwsEndpointAccess {
        /// From the internet, also by nodes.
        #[default]
        Public,
        /// From the internet, and by nodes over their own network.
        PublicAndPrivate,
        /// From the network of the nodes only.
        Private,
    }
}

string_enum! {
    /// Whether a tag of a node pool may take the place of one of the cluster.
    pub enum AwsTagOverridePolicy {
        /// It may.
        Allow,
        /// It may not.
        Deny,
    }
}

/// Settings of the AWS platform.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AwsPlatform {
    /// The region of the cluster, which also decides the boot images of its node pools.
    #[schemars(length(max = 255))]
    pub region: String,
    /// The network that the control plane makes cloud resources in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cloud_provider_config: Option<AwsCloudProviderConfig>,
    /// Addresses of AWS services that differ from the usual ones; each service once.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 50))]
    pub service_endpoints: Vec<AwsServiceEndpoint>,
    /// The roles that the parts of the cluster act in.
    pub roles_ref: AwsRoles,
    /// Tags for all that is made for the cluster; a change reaches what exists, and rolls nothing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 25))]
    pub resource_tags: Vec<AwsClusterTag>,
    /// From where the endpoints of the control plane are reached.
    #[serde(default)]
    pub endpoint_access: AwsEndpointAccess,
    /// Principals, by ARN, whose connections to the endpoint service are accepted beside those of the cluster.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 25), transform = text_items(None, Some(255), vec![]))]
    pub additional_allowed_principals: Vec<String>,
    /// Without effect: the release itself says which architectures it serves.
    #[serde(default)]
    pub multi_arch: bool,
    /// What is needed where the network belongs to another account.
    #[serde(rename = "sharedVPC", skip_serializing_if = "Option::is_none")]
    pub shared_vpc: Option<AwsSharedVpc>,
    /// The SQS queue that tells of Spot instances which are about to be taken back, so that their nodes are drained.
    #[serde(rename = "terminationHandlerQueueURL", skip_serializing_if = "Option::is_none")]
    #[schemars(
        length(max = 512),
        transform = pattern(r"^https://sqs\.[a-z0-9-]+\.amazonaws\.com/[0-9]{12}/[a-zA-Z0-9_-]+(\.fifo)?$"),
    )]
    pub termination_handler_queue_url: Option<String>,
}

/// The network that a control plane makes cloud resources in.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct AwsCloudProviderConfig {
    /// The VPC, by id.
    #[schemars(length(max = 255))]
    pub vpc: String,
    /// The availability zone.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 255))]
    pub zone: Option<String>,
    /// The subnet.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subnet: Option<AwsResourceReference>,
}

/// The address of one AWS service.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct AwsServiceEndpoint {
    /// Name of the service.
    #[schemars(length(max = 255))]
    pub name: String,
    /// Where it is reached, beginning with https.
    #[schemars(length(max = 2048), transform = pattern("^https://"))]
    pub url: String,
}

/// The roles, by ARN, that the parts of a cluster act in.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct AwsRoles {
    /// For the ingress operator: finds load balancers and writes DNS records.
    #[serde(rename = "ingressARN")]
    #[schemars(length(max = 2048))]
    pub ingress_arn: String,
    /// For the image registry operator: keeps a bucket of S3.
    #[serde(rename = "imageRegistryARN")]
    #[schemars(length(max = 2048))]
    pub image_registry_arn: String,
    /// For the storage operator: makes, attaches and deletes volumes and snapshots.
    #[serde(rename = "storageARN")]
    #[schemars(length(max = 2048))]
    pub storage_arn: String,
    /// For the network operator: assigns addresses to instances.
    #[serde(rename = "networkARN")]
    #[schemars(length(max = 2048))]
    pub network_arn: String,
    /// For the cloud controller manager: looks after nodes and load balancers.
    #[serde(rename = "kubeCloudControllerARN")]
    #[schemars(length(max = 2048))]
    pub kube_cloud_controller_arn: String,
    /// For what makes the machines of node pools: runs and ends instances.
    #[serde(rename = "nodePoolManagementARN")]
    #[schemars(length(max = 2048))]
    pub node_pool_management_arn: String,
    /// For the control-plane operator: makes VPC endpoints, their security groups and DNS records.
    #[serde(rename = "controlPlaneOperatorARN")]
    #[schemars(length(max = 2048))]
    pub control_plane_operator_arn: String,
}

/// A tag for what is made for a cluster.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AwsClusterTag {
    /// Name of the tag: letters, digits and any of _ . : / = + - @, at most 128 of them.
    pub key: AwsTagKey,
    /// Content of the tag, from the same characters, at most 256 of them. Never empty, because some AWS services
    /// refuse empty values.
    pub value: AwsTagValue,
    /// Whether a tag of a node pool with the same key goes before this one; unset means Deny.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub override_policy: Option<AwsTagOverridePolicy>,
}

/// What is needed where the network belongs to another account.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AwsSharedVpc {
    /// Roles in the account that owns the network.
    pub roles_ref: AwsSharedVpcRoles,
    /// Id of the Route 53 zone CLUSTER.hypershift.local, which is in that account and tied to the network.
    #[serde(rename = "localZoneID")]
    #[schemars(length(max = 32))]
    pub local_zone_id: String,
}

/// The published expression for the ARN of a role.
const ROLE_ARN_PATTERN: &str = r"^arn:(aws|aws-cn|aws-us-gov):iam::[0-9]{12}:role\/.*$";

/// Roles, by ARN, in the account that owns a shared network.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct AwsSharedVpcRoles {
    /// For the ingress operator: writes records into the public zone.
    #[serde(rename = "ingressARN")]
    #[schemars(length(max = 2048), transform = pattern(ROLE_ARN_PATTERN))]
    pub ingress_arn: String,
    /// For the control-plane operator: makes VPC endpoints and writes records into the local zone.
    #[serde(rename = "controlPlaneARN")]
    #[schemars(length(max = 2048), transform = pattern(ROLE_ARN_PATTERN))]
    pub control_plane_arn: String,
}

/// What was made on AWS for a hosted cluster.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AwsPlatformStatus {
    /// The security group that workers get when their pool names none.
    #[serde(rename = "defaultWorkerSecurityGroupID", skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 255))]
    pub default_worker_security_group_id: Option<String>,
}
