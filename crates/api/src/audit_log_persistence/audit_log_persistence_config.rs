//! AuditLogPersistenceConfig: audit logs of hosted API servers on volumes, with snapshots after a crash.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use serde::{Deserialize, Serialize};

use crate::{
    common::{ConditionSchema, GoDuration, Quantity},
    resource::custom_resource,
    schema::{JsonSchema, list_map, pattern, rule},
};

custom_resource! {
    /// How the audit logs of all hosted API servers outlive their pods. There is one object, named cluster.
    pub struct AuditLogPersistenceConfig {
        group: "auditlogpersistence.hypershift.openshift.io",
        version: "v1alpha1",
        plural: "auditlogpersistenceconfigs",
        scope: Cluster,
        spec: optional AuditLogPersistenceConfigSpec,
        status: AuditLogPersistenceConfigStatus,
        @short_names: &["alpc", "alpcs"],
        @rules: || vec![rule("self.metadata.name == 'cluster'", "metadata.name must be cluster: there is one object")],
    }
}

/// Whether and how audit logs are kept.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AuditLogPersistenceConfigSpec {
    /// Whether audit logs go to volumes at all. Unset means no.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub enabled: Option<bool>,
    /// The volumes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub storage: Option<AuditLogStorage>,
    /// How the API servers rotate their audit logs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub audit_log: Option<AuditLogRotation>,
    /// When snapshots of the volumes are taken and how many are kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub snapshots: Option<AuditLogSnapshots>,
}

/// Volumes for audit logs, one per API server pod.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AuditLogStorage {
    /// Storage class of the volumes. Unset means the default class of the cluster.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub storage_class_name: Option<String>,
    /// Size of each volume. Unset means 5Gi.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size: Option<Quantity>,
}

/// Rotation of audit logs.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AuditLogRotation {
    /// Megabytes after which a new file is begun. Unset means 200.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub max_size: Option<i32>,
    /// Old files that are kept. Unset means 10.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub max_backup: Option<i32>,
}

/// Snapshots of the volumes after a crash.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AuditLogSnapshots {
    /// Whether a snapshot is taken when an API server pod has crashed. Unset means no.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub enabled: Option<bool>,
    /// The least time between two snapshots for one pod. Unset means 1h.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(transform = pattern(INTERVAL_PATTERN))]
    pub min_interval: Option<GoDuration>,
    /// Snapshots that are kept for one volume; the oldest goes first. Unset means 10.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub per_pod_retention_count: Option<i32>,
    /// Snapshots that are kept in one namespace; the oldest goes first. Unset means 50.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub namespace_retention_count: Option<i32>,
    /// Class of the snapshots. Unset means the one that fits the provisioner of the volume.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub volume_snapshot_class_name: Option<String>,
}

/// Whether the configuration is in force.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AuditLogPersistenceConfigStatus {
    /// What has been observed of the configuration.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(with = "Vec<ConditionSchema>", transform = list_map("type"))]
    pub conditions: Vec<Condition>,
}

/// A length of time in whole numbers of Go's units.
const INTERVAL_PATTERN: &str = "^([0-9]+(ns|us|µs|ms|s|m|h))+$";
