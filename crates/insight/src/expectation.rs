//! How conditions should be. Most are good when they are True; these tables hold the others.

use hyperplane_api::constants::{
    ConditionType,
    conditions::{hosted_cluster, hosted_control_plane, node_pool},
    ours, reasons,
};

use crate::object::{Condition, Truth};

/// What a condition comes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Standing {
    /// It is as it should be, or says nothing about that.
    Good,
    /// It is not as it should be.
    Bad,
    /// It says that something is under way.
    Moving,
    /// It is not known, and should be.
    Unknown,
}

/// Conditions that are good when they are False.
const GOOD_WHEN_FALSE: &[ConditionType] = &[
    hosted_cluster::DEGRADED,
    hosted_control_plane::CLUSTER_VERSION_FAILING,
    hosted_control_plane::TARGET_CONFIG_CONTROLLER_DEGRADED,
    node_pool::CLUSTER_NETWORK_CIDR_CONFLICT,
    node_pool::AWS_RESOURCE_TAG_CONFLICT,
    node_pool::PERFORMANCE_PROFILE_DEGRADED,
];

/// Conditions that are True while something is under way. False with another reason than that all is well, they say why it
/// is not.
const MOVING_WHEN_TRUE: &[ConditionType] = &[
    hosted_cluster::PROGRESSING,
    hosted_cluster::ETCD_RECOVERY_ACTIVE,
    node_pool::UPDATING_VERSION,
    node_pool::UPDATING_CONFIG,
    node_pool::UPDATING_PLATFORM_MACHINE_TEMPLATE,
];

/// The same, whose reasons are those of somebody else.
const MOVING_IN_OTHER_WORDS: &[ConditionType] = &[
    hosted_control_plane::CLUSTER_VERSION_PROGRESSING,
    node_pool::PERFORMANCE_PROFILE_PROGRESSING,
];

/// Conditions that tell a choice or a step, and are good either way.
const EITHER: &[ConditionType] = &[
    hosted_cluster::CLUSTER_SIZE_COMPUTED,
    hosted_cluster::CLUSTER_SIZE_TRANSITION_PENDING,
    hosted_cluster::CLUSTER_SIZE_TRANSITION_REQUIRED,
    hosted_cluster::AUTO_NODE_ENABLED,
    hosted_cluster::PUBLIC_ENDPOINT_EXPOSED,
    hosted_cluster::HOSTED_CLUSTER_DESTROYED,
    hosted_control_plane::AWS_DEFAULT_SECURITY_GROUP_DELETED,
    hosted_control_plane::CLOUD_RESOURCES_DESTROYED,
    hosted_control_plane::CVO_SCALED_DOWN,
    ours::UNUSED_FIELDS,
];

/// Conditions that are Unknown where there is nothing to be known.
const MAY_BE_UNKNOWN: &[ConditionType] = &[
    hosted_control_plane::EXTERNAL_DNS_REACHABLE,
    hosted_control_plane::DATA_PLANE_CONNECTION_AVAILABLE,
    hosted_control_plane::CONTROL_PLANE_CONNECTION_AVAILABLE,
    hosted_control_plane::VALID_AWS_KMS_CONFIG,
    hosted_control_plane::VALID_AZURE_KMS_CONFIG,
];

/// What the name of a condition of a signer begins and ends with.
const ROTATION: (&str, &str) = ("CertRotation_", "_Degraded");

/// What a condition comes to.
pub(crate) fn standing(condition: &Condition<'_>) -> Standing {
    let is_in = |table: &[ConditionType]| table.iter().any(|type_| type_.as_str() == condition.type_);
    let is_of_signer = condition.type_.starts_with(ROTATION.0) && condition.type_.ends_with(ROTATION.1);
    let is_expected = condition.reason == reasons::AS_EXPECTED.as_str();
    match condition.status {
        _ if is_in(EITHER) => Standing::Good,
        Truth::Unknown if is_in(MAY_BE_UNKNOWN) => Standing::Good,
        Truth::Unknown => Standing::Unknown,
        Truth::True if is_in(MOVING_WHEN_TRUE) || is_in(MOVING_IN_OTHER_WORDS) => Standing::Moving,
        Truth::False if is_in(MOVING_WHEN_TRUE) && !is_expected => Standing::Bad,
        Truth::True if is_in(GOOD_WHEN_FALSE) || is_of_signer => Standing::Bad,
        Truth::True => Standing::Good,
        // A choice that somebody made, such as a pool without repair, is told in these words.
        Truth::False if is_expected || is_in(GOOD_WHEN_FALSE) || is_in(MOVING_IN_OTHER_WORDS) || is_of_signer => {
            Standing::Good
        }
        Truth::False if is_in(MOVING_WHEN_TRUE) => Standing::Good,
        Truth::False => Standing::Bad,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(type_: &str, status: Truth, reason: &str, expected: Standing) {
        let condition = Condition {
            type_,
            status,
            reason,
            message: "",
            since: None,
        };
        assert_eq!(standing(&condition), expected, "{type_} {status} {reason}");
    }

    #[test]
    fn conditions_are_judged_by_what_they_mean() {
        for (type_, status, reason, expected) in [
            ("Available", Truth::True, "AsExpected", Standing::Good),
            ("Available", Truth::False, "WaitingForAvailable", Standing::Bad),
            ("Degraded", Truth::True, "UnavailableReplicas", Standing::Bad),
            ("Degraded", Truth::False, "AsExpected", Standing::Good),
            ("Progressing", Truth::True, "Progressing", Standing::Moving),
            ("Progressing", Truth::False, "AsExpected", Standing::Good),
            ("Progressing", Truth::False, "Blocked", Standing::Bad),
            ("UpdatingVersion", Truth::True, "AsExpected", Standing::Moving),
            ("UpdatingVersion", Truth::False, "UnsupportedSkew", Standing::Bad),
            ("UpdatingVersion", Truth::False, "AsExpected", Standing::Good),
            (
                "ClusterVersionProgressing",
                Truth::False,
                "FromClusterVersion",
                Standing::Good,
            ),
            ("ClusterVersionFailing", Truth::True, "ReconcileError", Standing::Bad),
            ("AutorepairEnabled", Truth::False, "AsExpected", Standing::Good),
            ("AutorepairEnabled", Truth::False, "ignitionNotReached", Standing::Bad),
            ("ExternalDNSReachable", Truth::Unknown, "StatusUnknown", Standing::Good),
            ("EtcdAvailable", Truth::Unknown, "StatusUnknown", Standing::Unknown),
            (
                "CertRotation_root_Degraded",
                Truth::True,
                "RotationError",
                Standing::Bad,
            ),
            ("CertRotation_root_Degraded", Truth::False, "", Standing::Good),
            ("ClusterSizeTransitionPending", Truth::True, "x", Standing::Good),
            ("UnusedFields", Truth::True, "NotActedOn", Standing::Good),
        ] {
            check(type_, status, reason, expected);
        }
    }
}
