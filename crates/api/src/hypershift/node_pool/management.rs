//! How the nodes of a pool are upgraded and repaired.

use serde::{Deserialize, Serialize};

use crate::{
    common::IntOrString,
    schema::{JsonSchema, immutable, rule},
    text::string_enum,
};

string_enum! {
    /// How a new release or configuration reaches the nodes of a pool.
    pub enum UpgradeType {
        /// By new machines that take the place of the old ones.
        Replace,
        /// By changing the machines that are there.
        InPlace,
    }
}

string_enum! {
    /// Who decides when an old machine goes.
    pub enum UpgradeStrategy {
        /// The controller, within maxSurge and maxUnavailable.
        RollingUpdate,
        /// The user, by deleting machines; each one is replaced.
        OnDelete,
    }
}

/// How the nodes of a pool are upgraded and repaired.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = rule(
    "!has(self.inPlace) || self.upgradeType == 'InPlace'",
    "inPlace can be set only when upgradeType is InPlace",
))]
pub struct NodePoolManagement {
    /// Whether an upgrade brings new machines or changes those that are there.
    #[schemars(transform = immutable("upgradeType"))]
    pub upgrade_type: UpgradeType,
    /// How machines are replaced, when upgradeType is Replace. Unset means one by one, with one more than wanted.
    #[serde(default)]
    pub replace: ReplaceUpgrade,
    /// How machines are changed; only when upgradeType is InPlace.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub in_place: Option<InPlaceUpgrade>,
    /// Whether a machine that stays unhealthy is replaced by a new one.
    #[serde(default)]
    pub auto_repair: bool,
}

/// How machines are replaced in an upgrade.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = rule(
    "!has(self.rollingUpdate) || self.strategy == 'RollingUpdate'",
    "rollingUpdate needs strategy RollingUpdate",
))]
pub struct ReplaceUpgrade {
    /// Who decides when an old machine goes: the controller with RollingUpdate, the user with OnDelete.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub strategy: Option<UpgradeStrategy>,
    /// The pace of a RollingUpdate.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rolling_update: Option<RollingUpdate>,
}

impl Default for ReplaceUpgrade {
    fn default() -> Self {
        Self {
            strategy: Some(UpgradeStrategy::RollingUpdate),
            rolling_update: Some(RollingUpdate {
                max_surge: Some(1.into()),
                max_unavailable: Some(0.into()),
            }),
        }
    }
}

/// The pace of a rolling replacement.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RollingUpdate {
    /// How many machines there may be beyond those wanted: a number, or a percentage rounded up. Unset means 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_surge: Option<IntOrString>,
    /// How many machines may be missing meanwhile: a number, or a percentage rounded down. Unset means 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_unavailable: Option<IntOrString>,
}

/// The pace of an upgrade in place.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct InPlaceUpgrade {
    /// How many nodes may be down at once: a number, or a percentage rounded down. Unset means 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_unavailable: Option<IntOrString>,
}
