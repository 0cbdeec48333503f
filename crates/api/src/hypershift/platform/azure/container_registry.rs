//! How nodes pull from Azure's registries without a pull secret.

use serde::{Deserialize, Serialize};

use crate::{
    schema::{JsonSchema, rule},
    text::{string_enum, string_type},
};

string_enum! {
    /// What nodes show to a registry.
    pub enum AzureRegistryCredentialsType {
        /// A managed identity that is attached to the machines.
        ManagedIdentity,
    }
}

string_type! {
    /// Resource id of a managed identity that a user has made, in either case.
    pub struct AzureManagedIdentityId {
        length: 131..=345,
        rule: "self.lowerAscii().matches('^/subscriptions/[^/]+/resourcegroups/[^/]+/providers/microsoft[.]managedidentity/userassignedidentities/[^/]+$')"
            => "must be /subscriptions/A/resourceGroups/B/providers/Microsoft.ManagedIdentity/userAssignedIdentities/C",
        check: is_identity,
    }
}

fn is_identity(text: &str) -> bool {
    let text = text.to_ascii_lowercase();
    let parts: Vec<&str> = text.split('/').collect();
    matches!(
        parts.as_slice(),
        [
            "",
            "subscriptions",
            subscription,
            "resourcegroups",
            group,
            "providers",
            "microsoft.managedidentity",
            "userassignedidentities",
            name,
        ] if ![subscription, group, name].iter().any(|part| part.is_empty())
    )
}

/// How nodes pull from Azure's registries.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct AzureContainerRegistry {
    /// What nodes show to a registry.
    pub credentials: AzureRegistryCredentials,
}

/// What nodes show to a registry.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = rule(
    "(self.type == 'ManagedIdentity') == has(self.managedIdentity)",
    "type ManagedIdentity needs managedIdentity, and no other type takes it",
))]
pub struct AzureRegistryCredentials {
    /// The kind of credentials.
    #[serde(rename = "type")]
    pub type_: AzureRegistryCredentialsType,
    /// The managed identity.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub managed_identity: Option<AzureUserAssignedIdentity>,
}

/// A managed identity that a user has made.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct AzureUserAssignedIdentity {
    /// Its resource id. It needs the role AcrPull on the registry, and must be in the tenant of the cluster.
    #[serde(rename = "resourceID")]
    pub resource_id: AzureManagedIdentityId,
}
