//! Shapes that several kinds of Cluster API share: references to providers' objects, names with rules, the metadata of
//! templates and the polarity of conditions.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{
    schema::{JsonSchema, properties},
    text::{string_enum, string_type},
};

string_type! {
    /// The API group of a kind, a DNS name.
    pub struct ApiGroup {
        length: 1..=253,
        pattern: r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$"
            => "must be a DNS name in lower case",
    }
}

string_type! {
    /// A kind, such as `KubevirtMachineTemplate`.
    pub struct KindName {
        length: 1..=63,
        pattern: r"^[a-zA-Z]([-a-zA-Z0-9]*[a-zA-Z0-9])?$"
            => "must start with a letter and hold only letters, digits and dashes",
    }
}

string_type! {
    /// The name of an object, a DNS name.
    pub struct ObjectName {
        length: 1..=253,
        pattern: r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$"
            => "must be a DNS name in lower case",
    }
}

string_type! {
    /// The type of a condition: a word, or a word behind a DNS name and a slash.
    pub struct ConditionType {
        length: 1..=316,
        pattern: r"^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])$"
            => "must be a word such as Ready, or one such as example.com/Ready",
    }
}

string_enum! {
    /// Which status of a condition is the good one.
    pub enum ConditionPolarity {
        /// True is good.
        Positive,
        /// False is good.
        Negative,
    }
}

/// An object of a provider in the same namespace. Its version is not written here: it follows from the contract labels
/// on the definition of its kind.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ContractVersionedObjectReference {
    /// The group that the kind belongs to, without a version.
    pub api_group: ApiGroup,
    /// Which kind is meant.
    pub kind: KindName,
    /// Which object of the kind is meant.
    pub name: ObjectName,
}

/// Labels and annotations that objects made from a template get.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = properties(Some(1), None))]
pub struct TemplateMetadata {
    /// Labels to set.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub labels: BTreeMap<String, String>,
    /// Annotations to set.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub annotations: BTreeMap<String, String>,
}
