//! Conditions of a cluster that are not as they should be.

use hyperplane_api::constants::conditions::hosted_cluster;
use jiff::Timestamp;
use serde::Serialize;

use crate::{
    expectation::{Standing, standing},
    object::Object,
};

/// A condition that is not as it should be.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ConditionRow {
    /// Its type.
    #[serde(rename = "type")]
    pub type_: String,
    /// True, False or Unknown.
    pub status: String,
    /// Why, in one word.
    pub reason: String,
    /// Why, in a sentence.
    pub message: String,
    /// Since when.
    pub since: Option<Timestamp>,
    /// Whether it is not known rather than bad.
    pub is_unknown: bool,
}

/// Conditions that a picture tells in its head.
const TOLD: &str = hosted_cluster::PROGRESSING.as_str();

/// Bad conditions first, in the order of their types, then those that are not known.
pub(super) fn of(cluster: &Object) -> Vec<ConditionRow> {
    let mut rows: Vec<ConditionRow> = cluster
        .conditions()
        .filter_map(|condition| {
            let is_unknown = match standing(&condition) {
                Standing::Bad => false,
                Standing::Moving if condition.type_ != TOLD => false,
                Standing::Unknown => true,
                Standing::Good | Standing::Moving => return None,
            };
            Some(ConditionRow {
                type_: condition.type_.to_owned(),
                status: condition.status.to_string(),
                reason: condition.reason.to_owned(),
                message: condition.message.to_owned(),
                since: condition.since,
                is_unknown,
            })
        })
        .collect();
    rows.sort_by(|one, other| (one.is_unknown, &one.type_).cmp(&(other.is_unknown, &other.type_)));
    rows
}
