//! Conditions that a cluster has from its control plane, and what it says where the control plane says nothing.

use hyperplane_api::constants::{ConditionType, conditions::hosted_control_plane as types, ours, reasons};
use hyperplane_runtime::conditions::Observation;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;

use super::Report;

/// Conditions that every cluster has.
const ALWAYS: &[ConditionType] = &[
    types::INFRASTRUCTURE_READY,
    types::KUBE_API_SERVER_AVAILABLE,
    types::ETCD_AVAILABLE,
    types::EXTERNAL_DNS_REACHABLE,
    types::VALID_HOSTED_CONTROL_PLANE_CONFIGURATION,
    types::VALID_RELEASE_INFO,
    types::DATA_PLANE_CONNECTION_AVAILABLE,
    types::CONTROL_PLANE_CONNECTION_AVAILABLE,
    types::CONFIG_OPERATOR_RECONCILIATION_SUCCEEDED,
    types::CLUSTER_VERSION_UPGRADEABLE,
    types::CLUSTER_VERSION_FAILING,
    types::CLUSTER_VERSION_PROGRESSING,
    types::CLUSTER_VERSION_AVAILABLE,
    types::CLUSTER_VERSION_RELEASE_ACCEPTED,
    types::CLUSTER_VERSION_RETRIEVED_UPDATES,
];

/// Conditions that a cluster has where its control plane has them.
const WHERE_PRESENT: &[ConditionType] = &[
    types::VALID_IDP_CONFIGURATION,
    types::HOSTED_CLUSTER_RESTORED_FROM_BACKUP,
    types::ETCD_BACKUP_SUCCEEDED,
    types::ETCD_DATA_ENCRYPTION_UP_TO_DATE,
    types::IGNITION_SERVER_VALID_RELEASE_INFO,
    types::VALID_KUBEVIRT_INFRA_NETWORK_MTU,
    types::VALID_AWS_IDENTITY_PROVIDER,
    types::VALID_AWS_KMS_CONFIG,
    types::VALID_AZURE_KMS_CONFIG,
    types::AWS_DEFAULT_SECURITY_GROUP_CREATED,
    types::AWS_DEFAULT_SECURITY_GROUP_DELETED,
    types::CLOUD_RESOURCES_DESTROYED,
    ours::NETWORK_PLUGIN_AVAILABLE,
    ours::NODES_READY,
    ours::NODE_CERTIFICATES_APPROVED,
];

/// All of them.
pub(super) fn observe(report: &Report<'_>) -> Vec<Observation> {
    let always = ALWAYS.iter().map(|type_| match find(report, *type_) {
        Some(condition) => copy(condition),
        None => unknown(*type_),
    });
    let present = WHERE_PRESENT.iter().filter_map(|type_| find(report, *type_).map(copy));
    always.chain(present).collect()
}

/// A condition of the control plane.
pub(super) fn find<'a>(report: &Report<'a>, type_: ConditionType) -> Option<&'a Condition> {
    let status = report.seen.control_plane.as_ref()?.status.as_ref()?;
    status
        .conditions
        .iter()
        .find(|condition| condition.type_ == type_.as_str())
}

/// A condition as it is.
pub(super) fn copy(condition: &Condition) -> Observation {
    Observation {
        type_: condition.type_.clone(),
        status: status_of(condition),
        reason: condition.reason.clone(),
        message: condition.message.clone(),
    }
}

/// What the text of a status means.
pub(super) fn status_of(condition: &Condition) -> Option<bool> {
    match condition.status.as_str() {
        "True" => Some(true),
        "False" => Some(false),
        _ => None,
    }
}

/// A condition of which nobody has said anything.
pub(super) fn unknown(type_: ConditionType) -> Observation {
    Observation::unknown(
        type_.as_str(),
        reasons::STATUS_UNKNOWN.as_str(),
        "Nothing has been reported yet.",
    )
}
