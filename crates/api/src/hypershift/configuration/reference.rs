//! References from the configuration to objects beside the hosted cluster. Those of OpenShift's older parts take any
//! name, also an empty one, which means that nothing is referenced; those of its newer parts are judged.

use serde::{Deserialize, Serialize};

use crate::{common::SecretName, schema::JsonSchema, text::string_type};

/// A ConfigMap, by name.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
pub struct ConfigMapNameReference {
    /// Name of the ConfigMap; empty means none.
    pub name: String,
}

/// A Secret, by name.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
pub struct SecretNameReference {
    /// Name of the Secret; empty means none.
    pub name: String,
}

string_type! {
    /// The name of a ConfigMap.
    pub struct ConfigMapName {
        length: 1..=253,
        matches: r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$"
            => "must be a DNS name in lower case: letters, digits and hyphens, in parts separated by dots",
    }
}

/// A ConfigMap that must be named.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
pub struct ConfigMapReference {
    /// Name of the ConfigMap.
    pub name: ConfigMapName,
}

/// A Secret that must be named.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
pub struct SecretReference {
    /// Name of the Secret.
    pub name: SecretName,
}
