//! Machines of a node pool on AWS.

use serde::{Deserialize, Serialize};

use crate::{
    hypershift::aws_tag::AwsResourceTag,
    schema::{JsonSchema, pattern, rule, text_items},
    text::{string_enum, string_type},
};

string_type! {
    /// Id of a Capacity Reservation.
    pub struct CapacityReservationId {
        length: 0..=20,
        matches: "^cr-[a-f0-9]{17}$" => "must be cr- and 17 lower-case hexadecimal digits",
    }
}

string_enum! {
    /// The family of the operating system image.
    pub enum AwsImageType {
        /// Windows.
        Windows,
        /// Linux.
        Linux,
    }
}

string_enum! {
    /// Whose other instances share the hardware.
    pub enum AwsTenancy {
        /// Anybody's.
        Default = "default",
        /// The account's own.
        Dedicated = "dedicated",
        /// The account's own, on a host that it has reserved.
        Host = "host",
    }
}

string_enum! {
    /// How instances are paid for.
    pub enum AwsMarketType {
        /// Left to the platform.
        Unset = "",
        /// By the second, without interruption.
        OnDemand,
        /// Cheaper, and taken back at short notice.
        Spot,
        /// Reserved ahead as a block.
        CapacityBlocks,
    }
}

string_enum! {
    /// How a Capacity Reservation is paid for.
    pub enum CapacityReservationMarketType {
        /// By the second.
        OnDemand,
        /// Reserved ahead as a block.
        CapacityBlocks,
    }
}

string_enum! {
    /// Which Capacity Reservations instances may use.
    pub enum CapacityReservationPreference {
        /// Left to the platform.
        Unset = "",
        /// None at all.
        None,
        /// Nothing but reservations.
        CapacityReservationsOnly,
        /// Any open one that fits.
        Open,
    }
}

/// Machines on AWS.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AwsNodePoolPlatform {
    /// The size of the instances, such as m6i.xlarge.
    #[schemars(length(max = 255))]
    pub instance_type: String,
    /// The subnet that the instances are in, by an id that begins with subnet-, or by filters.
    #[schemars(transform = rule(
        "has(self.id) && self.id.startsWith('subnet-') ? !has(self.filters) : size(self.filters) > 0",
        "set either an id that begins with subnet-, or at least one filter",
    ))]
    pub subnet: AwsResourceReference,
    /// The instance profile, which gives the instances their role.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 255))]
    pub instance_profile: Option<String>,
    /// The boot image; unset means that of the release.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 255))]
    pub ami: Option<String>,
    /// Which boot image of the release is taken where ami is unset; Windows needs arch amd64.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub image_type: Option<AwsImageType>,
    /// The root disk.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub root_volume: Option<AwsVolume>,
    /// Security groups that the instances are in; none means the default one of the hosted cluster.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 50))]
    pub security_groups: Vec<AwsResourceReference>,
    /// On which hardware instances run and how they are paid for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub placement: Option<AwsPlacement>,
    /// Tags for all that is made for the pool, beside those of the hosted cluster; a change rolls nothing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 25))]
    pub resource_tags: Vec<AwsResourceTag>,
}

/// A resource of AWS, by id or by filters.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AwsResourceReference {
    /// Its id.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 255))]
    pub id: Option<String>,
    /// Conditions that it meets, in the words of the EC2 API.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 50))]
    pub filters: Vec<AwsFilter>,
}

/// A condition that a resource meets.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct AwsFilter {
    /// What is looked at, such as tag:Name.
    #[schemars(length(max = 255))]
    pub name: String,
    /// Any of these must be found there.
    #[schemars(length(max = 50), transform = text_items(None, Some(255), vec![]))]
    pub values: Vec<String>,
}

/// The root disk of an instance.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AwsVolume {
    /// How many GiB it holds; at least as many as the boot image.
    #[schemars(range(min = 8))]
    pub size: i64,
    /// Its type, such as gp3.
    #[serde(rename = "type")]
    #[schemars(length(max = 255))]
    pub type_: String,
    /// Operations per second that are paid for; only for types that sell them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub iops: Option<i64>,
    /// Whether it is encrypted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub encrypted: Option<bool>,
    /// The KMS key that it is encrypted with.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 2048))]
    pub encryption_key: Option<String>,
}

/// On which hardware instances run and how they are paid for.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(
    transform = rule(
        "!has(self.tenancy) || self.tenancy != 'host' || !has(self.capacityReservation)",
        "dedicated hosts have no Capacity Reservations: remove capacityReservation, or choose another tenancy",
    ),
    transform = rule(
        "!has(self.marketType) || self.marketType != 'Spot' || !has(self.capacityReservation)",
        "Spot instances use no Capacity Reservations: remove capacityReservation, or choose another marketType",
    ),
    transform = rule(
        "!has(self.marketType) || self.marketType != 'Spot' || !has(self.tenancy) || self.tenancy == 'default'",
        "Spot instances run on shared hardware: tenancy must be default or unset",
    ),
    transform = rule(
        "!has(self.marketType) || self.marketType != 'CapacityBlocks' || has(self.capacityReservation)",
        "marketType CapacityBlocks needs a capacityReservation",
    ),
    transform = rule(
        "!has(self.spot) || (has(self.marketType) && self.marketType == 'Spot')",
        "spot is for marketType Spot only",
    ),
)]
pub struct AwsPlacement {
    /// Whose other instances share the hardware; unset means anybody's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tenancy: Option<AwsTenancy>,
    /// How instances are paid for; unset means OnDemand.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub market_type: Option<AwsMarketType>,
    /// What holds for Spot instances.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spot: Option<AwsSpot>,
    /// Which reserved capacity instances use.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub capacity_reservation: Option<AwsCapacityReservation>,
}

/// What holds for Spot instances.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AwsSpot {
    /// The most that an hour may cost, in US dollars, such as 0.50; unset means the price of OnDemand.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 20), transform = pattern(r"^[0-9]+(\.[0-9]+)?$"))]
    pub max_price: Option<String>,
}

/// Which reserved capacity instances use.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(
    transform = rule(
        "!has(self.id) || !has(self.preference) || !(self.preference in ['Open', 'None'])",
        "an id and preference Open or None exclude each other",
    ),
    transform = rule(
        "!has(self.marketType) || self.marketType != 'CapacityBlocks' || has(self.id)",
        "CapacityBlocks needs the id of the reservation",
    ),
)]
pub struct AwsCapacityReservation {
    /// The one reservation that instances use.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<CapacityReservationId>,
    /// Which reservations instances may use, where none is named.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub preference: Option<CapacityReservationPreference>,
    /// The former place of the marketType of the placement, which goes first where both are set.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub market_type: Option<CapacityReservationMarketType>,
}
