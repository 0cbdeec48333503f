//! OpenshiftEC2NodeClass: what the nodes that Karpenter creates on AWS look like.

use std::collections::BTreeMap;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, Time};
use serde::{Deserialize, Serialize};

use super::{
    block_device::BlockDeviceMapping,
    instance_metadata::MetadataOptions,
    kubelet::KubeletSettings,
    selector::{CapacityReservationTerm, InstanceMatchCriteria, SecurityGroupTerm, SubnetTerm},
};
use crate::{
    common::{ConditionSchema, TimeSchema},
    resource::{column, custom_resource},
    schema::{JsonSchema, atomic, list_map, properties, rule},
    text::{string_enum, string_type},
};

custom_resource! {
    /// A class of AWS instances from which Karpenter makes nodes of a hosted cluster.
    pub struct OpenshiftEC2NodeClass {
        group: "karpenter.hypershift.openshift.io",
        version: "v1",
        plural: "openshiftec2nodeclasses",
        scope: Cluster,
        spec: required OpenshiftEc2NodeClassSpec,
        status: OpenshiftEc2NodeClassStatus,
        @short_names: &["oec2nc", "oec2ncs"],
        @columns: &[
            column("Ready", "string", r#".status.conditions[?(@.type=="Ready")].status"#, "Whether nodes can be made"),
        ],
    }
}

/// What the instances of the class look like.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = properties(Some(1), None))]
pub struct OpenshiftEc2NodeClassSpec {
    /// Release of the nodes, such as 4.20.1. Unset means that of the control plane.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<ReleaseVersion>,
    /// Subnets for the instances; a subnet that any term selects is used.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(
        length(min = 1, max = 30),
        transform = atomic(),
        transform = rule("self.size() > 0", "subnetSelectorTerms must have a term when it is set"),
        transform = rule("self.all(term, has(term.id) || has(term.tags))", "every term must set id or tags"),
        transform = rule(
            "self.exists(term, !has(term.id) || !has(term.tags))",
            "id and tags cannot both be set in every term",
        ),
    )]
    pub subnet_selector_terms: Vec<SubnetTerm>,
    /// Security groups of the instances; every group that any term selects is attached.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(
        length(min = 1, max = 30),
        transform = atomic(),
        transform = rule("self.size() > 0", "securityGroupSelectorTerms must have a term when it is set"),
        transform = rule(
            "self.all(term, has(term.id) || has(term.name) || has(term.tags))",
            "every term must set id, name or tags",
        ),
        transform = rule(
            "self.exists(term, !has(term.id) || !(has(term.name) || has(term.tags)))",
            "id and another field cannot both be set in every term",
        ),
        transform = rule(
            "self.exists(term, !has(term.name) || !(has(term.id) || has(term.tags)))",
            "name and another field cannot both be set in every term",
        ),
    )]
    pub security_group_selector_terms: Vec<SecurityGroupTerm>,
    /// Capacity reservations that instances may be launched into; one that any term selects is used.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(
        length(min = 1, max = 30),
        transform = atomic(),
        transform = rule(
            "self.all(term, has(term.id) || has(term.tags) || has(term.ownerID) || has(term.instanceMatchCriteria))",
            "every term must set id, tags, ownerID or instanceMatchCriteria",
        ),
        transform = rule(
            "self.exists(term, !has(term.id) || \
             !(has(term.tags) || has(term.ownerID) || has(term.instanceMatchCriteria)))",
            "id and another field cannot both be set in every term",
        ),
    )]
    pub capacity_reservation_selector_terms: Vec<CapacityReservationTerm>,
    /// Tags for instances and the other EC2 resources that come with them. Keys that belong to Karpenter or to the
    /// cluster itself are refused.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(
        transform = properties(Some(1), None),
        transform = rule("self.all(key, key.size() > 0)", "a tag must have a key"),
        transform = rule("!('eks:eks-cluster-name' in self)", "the key eks:eks-cluster-name is reserved"),
        transform = rule(
            "self.all(key, !key.startsWith('kubernetes.io/cluster'))",
            "keys that start with kubernetes.io/cluster are reserved",
        ),
        transform = rule("!('karpenter.sh/nodepool' in self)", "the key karpenter.sh/nodepool is reserved"),
        transform = rule("!('karpenter.sh/nodeclaim' in self)", "the key karpenter.sh/nodeclaim is reserved"),
        transform = rule(
            "!('karpenter.k8s.aws/ec2nodeclass' in self)",
            "the key karpenter.k8s.aws/ec2nodeclass is reserved",
        ),
    )]
    pub tags: BTreeMap<String, String>,
    /// Whether instances get public addresses. Unset leaves it to the cloud.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ip_address_association: Option<IpAddressAssociation>,
    /// Disks of the instances. Unset means one root volume of 120Gi of type gp3.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(
        length(min = 1, max = 50),
        transform = atomic(),
        transform = rule(
            "self.filter(device, has(device.rootVolume) && device.rootVolume == 'RootVolume').size() < 2",
            "only one device can be the RootVolume",
        ),
    )]
    pub block_device_mappings: Vec<BlockDeviceMapping>,
    /// What is done with disks that come with the instance type. Unset means nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instance_store_policy: Option<InstanceStorePolicy>,
    /// How often EC2 reports metrics of the instances. Unset leaves it to the cloud.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub monitoring: Option<Monitoring>,
    /// How processes on the instances reach the instance metadata service.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metadata_options: Option<MetadataOptions>,
    /// Settings of the kubelet. They become part of the ignition payload, so a change replaces nodes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kubelet: Option<KubeletSettings>,
}

string_type! {
    /// A semantic version.
    pub struct ReleaseVersion {
        length: 5..=64,
        matches: r"^(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)(-(0|[1-9][0-9]*|[0-9]*[a-zA-Z-][0-9a-zA-Z-]*)(\.(0|[1-9][0-9]*|[0-9]*[a-zA-Z-][0-9a-zA-Z-]*))*)?(\+[0-9a-zA-Z-]+(\.[0-9a-zA-Z-]+)*)?$"
            => "must have three numbers with dots between them, such as 4.20.1, and may have a pre-release or build part",
    }
}

string_enum! {
    /// Where the addresses of an instance come from.
    pub enum IpAddressAssociation {
        /// Every instance gets a public address.
        Public,
        /// The subnet decides.
        SubnetDefault,
    }
}

string_enum! {
    /// What is done with disks that come with an instance type.
    pub enum InstanceStorePolicy {
        /// They become one striped volume for the kubelet and containers.
        Raid0 = "RAID0",
    }
}

string_enum! {
    /// How often EC2 reports metrics of an instance.
    pub enum Monitoring {
        /// Every minute, at extra cost.
        Detailed,
        /// Every five minutes.
        Basic,
    }
}

/// What the class resolves to in AWS.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = properties(Some(1), None))]
pub struct OpenshiftEc2NodeClassStatus {
    /// Ready for the whole, VersionResolved and SupportedVersionSkew for the release, and those of Karpenter.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(with = "Vec<ConditionSchema>", length(min = 1, max = 100), transform = list_map("type"))]
    pub conditions: Vec<Condition>,
    /// The release image of new nodes, by digest.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 512))]
    pub release_image: Option<String>,
    /// The version of that release.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 64))]
    pub version: Option<String>,
    /// Subnets that the terms select now.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(min = 1, max = 100), transform = atomic())]
    pub subnets: Vec<SelectedSubnet>,
    /// Security groups that the terms select now.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(min = 1, max = 100), transform = atomic())]
    pub security_groups: Vec<SelectedSecurityGroup>,
    /// Capacity reservations that the terms select now.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(min = 1, max = 100), transform = atomic())]
    pub capacity_reservations: Vec<SelectedCapacityReservation>,
}

/// A subnet that the terms select.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SelectedSubnet {
    /// Id of the subnet.
    #[schemars(length(min = 1, max = 256))]
    pub id: String,
    /// Its availability zone, by name.
    #[schemars(length(min = 1, max = 256))]
    pub zone: String,
    /// Its availability zone, by the id that is the same in every account.
    #[serde(rename = "zoneID", skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 256))]
    pub zone_id: Option<String>,
}

/// A security group that the terms select.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SelectedSecurityGroup {
    /// Id of the group.
    #[schemars(length(min = 1, max = 256))]
    pub id: String,
    /// Name of the group.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 256))]
    pub name: Option<String>,
}

/// A capacity reservation that the terms select.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SelectedCapacityReservation {
    /// Id of the reservation.
    #[schemars(length(min = 1, max = 256))]
    pub id: String,
    /// Instance type that is reserved.
    #[schemars(length(min = 1, max = 256))]
    pub instance_type: String,
    /// Availability zone in which it is reserved.
    #[schemars(length(min = 1, max = 64))]
    pub availability_zone: String,
    /// AWS account that owns the reservation.
    #[serde(rename = "ownerID")]
    #[schemars(length(min = 1, max = 12))]
    pub owner_id: String,
    /// Which launches the reservation takes.
    pub instance_match_criteria: InstanceMatchCriteria,
    /// Whether it is an ordinary reservation or a block.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reservation_type: Option<CapacityReservationType>,
    /// Whether it can still be used.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state: Option<CapacityReservationState>,
    /// When it ends; afterwards nothing is launched into it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<TimeSchema>")]
    pub end_time: Option<Time>,
}

string_enum! {
    /// A kind of capacity reservation.
    pub enum CapacityReservationType {
        /// An ordinary reservation, for as long as it is kept.
        Default,
        /// A block for a fixed time.
        CapacityBlock,
    }
}

string_enum! {
    /// Whether a capacity reservation can be used.
    pub enum CapacityReservationState {
        /// It can.
        Active,
        /// It ends soon.
        Expiring,
    }
}
