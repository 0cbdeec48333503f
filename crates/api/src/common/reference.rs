//! References to other objects.

use serde::{Deserialize, Serialize};

use crate::{
    schema::{JsonSchema, atomic_map},
    text::string_type,
};

string_type! {
    /// The name of a Secret.
    pub struct SecretName {
        length: 1..=253,
        matches: r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$"
            => "must be a DNS name in lower case: letters, digits and hyphens, in parts separated by dots",
    }
}

/// An object in the same namespace, by name. An empty name means that nothing is referenced.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize, JsonSchema)]
#[schemars(transform = atomic_map())]
pub struct LocalObjectReference {
    /// Name of the referenced object.
    #[serde(default)]
    pub name: String,
}

/// A key of a Secret in the same namespace.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize, JsonSchema)]
pub struct SecretKeyReference {
    /// Name of the Secret.
    #[schemars(length(max = 255))]
    pub name: String,
    /// Key within the Secret.
    #[schemars(length(max = 255))]
    pub key: String,
}
