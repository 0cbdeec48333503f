//! What is reported of a hosted cluster.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use serde::{Deserialize, Serialize};

use super::{
    auto_node::AutoNodeStatus,
    configuration::status::ConfigurationStatus,
    endpoint::ApiEndpoint,
    platform::PlatformStatus,
    secret_encryption::status::SecretEncryptionStatus,
    version_status::{ClusterVersionStatus, ControlPlaneVersionStatus},
};
use crate::{
    common::{ConditionSchema, LocalObjectReference},
    schema::{FeatureGate, JsonSchema, gated, list_map},
    text::{string_enum, string_type},
};

string_enum! {
    /// For which processors a release has images.
    pub enum PayloadArchitecture {
        /// For several.
        Multi,
        /// For 64-bit ARM.
        Arm64 = "ARM64",
        /// For 64-bit x86.
        Amd64 = "AMD64",
        /// For POWER, little-endian.
        Ppc64le = "PPC64LE",
        /// For IBM Z.
        S390x = "S390X",
    }
}

string_type! {
    /// Where a backup lies in an object store.
    pub struct BackupUrl {
        length: 1..=2048,
        matches: r"^(https|s3)://.*" => "must begin with https:// or s3://",
    }
}

/// What is reported of a hosted cluster.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct HostedClusterStatus {
    /// Versions of the cluster as a whole: the newest first, with what came before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<ClusterVersionStatus>,
    /// Versions of the control plane alone, as its components report them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub control_plane_version: Option<ControlPlaneVersionStatus>,
    /// The Secret with an administrator's kubeconfig.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kubeconfig: Option<LocalObjectReference>,
    /// The Secret with an administrator's kubeconfig for the name in spec.kubeAPIServerDNSName.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub custom_kubeconfig: Option<LocalObjectReference>,
    /// The Secret with the first password of the user kubeadmin; absent when users log in elsewhere.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kubeadmin_password: Option<LocalObjectReference>,
    /// Where new machines fetch their configuration.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 1024))]
    pub ignition_endpoint: Option<String>,
    /// Where clients reach the API server.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub control_plane_endpoint: Option<ApiEndpoint>,
    /// The address that identity providers send users back to, with a place for the provider's name.
    #[serde(rename = "oauthCallbackURLTemplate", skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 1024))]
    pub oauth_callback_url_template: Option<String>,
    /// Everything that is observed; each aspect once.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(with = "Vec<ConditionSchema>", length(max = 100), transform = list_map("type"))]
    pub conditions: Vec<Condition>,
    /// For which processors the release has images.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub payload_arch: Option<PayloadArchitecture>,
    /// What the platform reports.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub platform: Option<PlatformStatus>,
    /// What the provisioner of automatic nodes reports.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub auto_node: Option<AutoNodeStatus>,
    /// What the hosted cluster reports of its configuration.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub configuration: Option<ConfigurationStatus>,
    /// Where the newest good backup of etcd lies.
    #[serde(rename = "lastSuccessfulEtcdBackupURL", skip_serializing_if = "Option::is_none")]
    #[schemars(transform = gated(FeatureGate::EtcdBackup))]
    pub last_successful_etcd_backup_url: Option<BackupUrl>,
    /// Which key encrypts Secrets, and the change to another when one is under way.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub secret_encryption: Option<SecretEncryptionStatus>,
}
