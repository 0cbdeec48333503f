//! The part of the configuration that concerns images: which registries are used, and how.
//!
//! What stands here goes into the hash that rolls nodes, so that empty lists are kept apart from absent ones.

use serde::{Deserialize, Serialize};

use super::reference::ConfigMapNameReference;
use crate::{
    schema::{FeatureGate, JsonSchema, atomic, gated, list_set, rule},
    text::{string_enum, string_type},
};

/// Which registries the hosted cluster uses, and how.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ImageConfiguration {
    /// Registries from which users who are not administrators import images; none means all.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(transform = atomic())]
    pub allowed_registries_for_import: Option<Vec<RegistryLocation>>,
    /// Names under which the registry inside of the cluster is reached from outside; the first one is shown to users.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(transform = atomic())]
    pub external_registry_hostnames: Option<Vec<String>>,
    /// The ConfigMap with authorities of registries, by host. A port follows two dots: registry.example.com..5000.
    #[serde(rename = "additionalTrustedCA", skip_serializing_if = "Option::is_none")]
    pub additional_trusted_ca: Option<ConfigMapNameReference>,
    /// What nodes and builds may do with registries.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub registry_sources: Option<RegistrySources>,
    /// What an import takes of an image for several architectures.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(transform = gated(FeatureGate::ImageStreamImportMode))]
    pub image_stream_import_mode: Option<ImageStreamImportMode>,
}

string_enum! {
    /// What an import takes of an image for several architectures.
    pub enum ImageStreamImportMode {
        /// What suits the release.
        Unset = "",
        /// The image for one architecture.
        Legacy,
        /// The list of images, and every one of them.
        PreserveOriginal,
    }
}

/// A registry from which images are imported.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RegistryLocation {
    /// Its domain, with a port where it is not the usual one; a wildcard can be used.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub domain_name: Option<String>,
    /// Whether it is reached without TLS, or with a certificate that nobody checks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub insecure: Option<bool>,
}

string_type! {
    /// A registry, or a repository in it, or all registries under a domain.
    pub struct RegistryScope {
        length: 1..=256,
        matches: r"^\*(?:\.(?:[a-zA-Z0-9]|[a-zA-Z0-9][a-zA-Z0-9-]*[a-zA-Z0-9]))+$|^((?:[a-zA-Z0-9]|[a-zA-Z0-9][a-zA-Z0-9-]*[a-zA-Z0-9])(?:(?:\.(?:[a-zA-Z0-9]|[a-zA-Z0-9][a-zA-Z0-9-]*[a-zA-Z0-9]))+)?(?::[0-9]+)?)(?:(?:/[a-z0-9]+(?:(?:(?:[._]|__|[-]*)[a-z0-9]+)+)?)+)?$"
            => "must be a host with an optional port and path, or *. and a domain; neither a tag nor a digest",
    }
}

/// What nodes and builds may do with registries.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = rule(
    "!has(self.blockedRegistries) || !has(self.allowedRegistries)",
    "keep one of blockedRegistries and allowedRegistries and remove the other",
))]
pub struct RegistrySources {
    /// Registries that are reached without TLS, or with a certificate that nobody checks.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 1024), transform = atomic())]
    pub insecure_registries: Option<Vec<RegistryScope>>,
    /// Registries that are never used; all others are.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 1024), transform = atomic())]
    pub blocked_registries: Option<Vec<RegistryScope>>,
    /// The only registries that are used. Those of the release and of the platform have to be among them.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 1024), transform = atomic())]
    pub allowed_registries: Option<Vec<RegistryScope>>,
    /// Registries that are asked for an image whose name has none. They get their certificate checked, unless they are
    /// insecure as well.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1), transform = list_set())]
    pub container_runtime_search_registries: Option<Vec<String>>,
}
