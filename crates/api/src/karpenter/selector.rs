//! Terms that select AWS resources by id, name or tags. Within a term all fields must match.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{
    schema::{JsonSchema, Rule, properties, rule},
    text::{string_enum, string_type},
};

/// Selects subnets.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = properties(Some(1), None))]
pub struct SubnetTerm {
    /// The subnet with this id, such as subnet-0a1b2c3d4e5f.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<SubnetId>,
    /// Subnets with all of these tags; the value * stands for any.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(transform = properties(Some(1), Some(20)), transform = no_empty_tags())]
    pub tags: BTreeMap<String, String>,
}

/// Selects security groups.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = properties(Some(1), None))]
pub struct SecurityGroupTerm {
    /// The security group with this id, such as sg-0a1b2c3d4e5f.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<SecurityGroupId>,
    /// The security group with this name; a tag called Name is something else.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 256))]
    pub name: Option<String>,
    /// Security groups with all of these tags; the value * stands for any.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(transform = properties(Some(1), Some(20)), transform = no_empty_tags())]
    pub tags: BTreeMap<String, String>,
}

/// Selects capacity reservations.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = properties(Some(1), None))]
pub struct CapacityReservationTerm {
    /// The capacity reservation with this id, such as cr-0a1b2c3d4e5f.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<CapacityReservationId>,
    /// Capacity reservations of this AWS account.
    #[serde(rename = "ownerID", skip_serializing_if = "Option::is_none")]
    pub owner_id: Option<AwsAccountId>,
    /// Capacity reservations that take such launches.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instance_match_criteria: Option<InstanceMatchCriteria>,
    /// Capacity reservations with all of these tags; the value * stands for any.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(transform = properties(Some(1), Some(20)), transform = no_empty_tags())]
    pub tags: BTreeMap<String, String>,
}

fn no_empty_tags() -> Rule {
    rule(
        "self.all(key, key.size() > 0 && self[key].size() > 0)",
        "a tag must have a key and a value",
    )
}

string_enum! {
    /// Which launches a capacity reservation takes.
    pub enum InstanceMatchCriteria {
        /// Any instance whose type, platform and zone fit.
        Open,
        /// Only instances that name the reservation.
        Targeted,
    }
}

string_type! {
    /// The id of a subnet.
    pub struct SubnetId {
        length: 1..=256,
        matches: "^subnet-[0-9a-z]+$" => "must be subnet- and lower-case letters or digits",
    }
}

string_type! {
    /// The id of a security group.
    pub struct SecurityGroupId {
        length: 1..=256,
        matches: "^sg-[0-9a-z]+$" => "must be sg- and lower-case letters or digits",
    }
}

string_type! {
    /// The id of a capacity reservation.
    pub struct CapacityReservationId {
        length: 1..=256,
        matches: "^cr-[0-9a-z]+$" => "must be cr- and lower-case letters or digits",
    }
}

string_type! {
    /// An AWS account, by its number.
    pub struct AwsAccountId {
        length: 1..=12,
        matches: "^[0-9]{12}$" => "must have twelve digits, as AWS accounts do",
    }
}
