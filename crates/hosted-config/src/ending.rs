//! What a hosted cluster made outside of itself, through those who run in it, and what is told of its removal. Pure.

use std::time::Duration;

use hyperplane_api::constants::{conditions::hosted_control_plane::CLOUD_RESOURCES_DESTROYED, reasons};
use hyperplane_component_driver::CLEANUP_PATIENCE;
use hyperplane_runtime::conditions::Observation;
use k8s_openapi::api::core::v1::{PersistentVolume, PersistentVolumeClaim, Pod, Service};
use kube::ResourceExt as _;

/// On a volume that somebody made because a claim asked for one.
const PROVISIONED_BY: &str = "pv.kubernetes.io/provisioned-by";

/// How many of what remains are named.
const MOST_NAMED: usize = 10;

/// How far the removal has come.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Removal {
    /// There is no API server, so that nothing can be asked for.
    Impossible,
    /// It could not be looked at.
    Failed(String),
    /// What is still there.
    Remaining(Vec<String>),
}

/// What is told of it after some time.
pub(crate) fn observe(removal: &Removal, elapsed: Duration) -> Observation {
    let condition = CLOUD_RESOURCES_DESTROYED.as_str();
    let is_late = elapsed >= CLEANUP_PATIENCE;
    let fails = |reason: hyperplane_api::constants::Reason, message: String| {
        let reason = if is_late {
            reasons::CLOUD_RESOURCES_DELETION_TIMED_OUT
        } else {
            reason
        };
        Observation::fails(condition, reason.as_str(), message)
    };
    match removal {
        Removal::Impossible => Observation::fails(
            condition,
            reasons::CLOUD_RESOURCES_CLEANUP_SKIPPED.as_str(),
            "No API server answers that could be asked to remove anything",
        ),
        Removal::Failed(problem) => fails(reasons::ERROR_OCCURRED, problem.clone()),
        Removal::Remaining(remaining) if remaining.is_empty() => Observation::holds(
            condition,
            reasons::CLOUD_RESOURCES_DESTROYED.as_str(),
            "No load balancer and no volume is left",
        ),
        Removal::Remaining(remaining) => fails(reasons::REMAINING_CLOUD_RESOURCES, told(remaining)),
    }
}

fn told(remaining: &[String]) -> String {
    let named = remaining.iter().take(MOST_NAMED);
    let named: Vec<&str> = named.map(String::as_str).collect();
    let more = remaining.len().saturating_sub(named.len());
    let more = if more > 0 {
        format!(" and {more} more")
    } else {
        String::new()
    };
    format!("Still there: {}{more}", named.join(", "))
}

/// Whether a Service has a load balancer.
pub(crate) fn is_balanced(service: &Service) -> bool {
    let type_ = service.spec.as_ref().and_then(|spec| spec.type_.as_deref());
    type_ == Some("LoadBalancer")
}

/// Whether what is behind a volume goes with it: somebody made it for a claim, and it is not to be kept.
pub(crate) fn is_made_for_a_claim(volume: &PersistentVolume) -> bool {
    let policy = volume.spec.as_ref();
    let policy = policy.and_then(|spec| spec.persistent_volume_reclaim_policy.as_deref());
    volume.annotations().contains_key(PROVISIONED_BY) && policy == Some("Delete")
}

/// Whether a pod keeps one of the claims from going.
pub(crate) fn uses_any(pod: &Pod, claims: &[PersistentVolumeClaim]) -> bool {
    let volumes = pod.spec.iter().flat_map(|spec| spec.volumes.iter().flatten());
    let mut used = volumes.filter_map(|volume| Some(&volume.persistent_volume_claim.as_ref()?.claim_name));
    used.any(|name| {
        let mut claims = claims.iter();
        claims.any(|claim| claim.name_any() == *name && claim.namespace() == pod.namespace())
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_told_follows_what_is_left_and_the_time() {
        let left = || Removal::Remaining(vec!["Service a/b".to_owned()]);
        let failed = || Removal::Failed("refused".to_owned());
        let none = || Removal::Remaining(Vec::new());
        let (early, late) = (Duration::from_mins(9), Duration::from_mins(10));
        let cases = [
            (left(), early, Some(false), "RemainingCloudResources", "Service a/b"),
            (
                left(),
                late,
                Some(false),
                "CloudResourcesDeletionTimedOut",
                "Service a/b",
            ),
            (failed(), early, Some(false), "ErrorOccurred", "refused"),
            (failed(), late, Some(false), "CloudResourcesDeletionTimedOut", "refused"),
            (none(), early, Some(true), "CloudResourcesDestroyed", ""),
            (none(), late, Some(true), "CloudResourcesDestroyed", ""),
            (
                Removal::Impossible,
                early,
                Some(false),
                "CloudResourcesCleanupSkipped",
                "",
            ),
        ];
        for (removal, elapsed, status, reason, part) in cases {
            let found = observe(&removal, elapsed);
            assert_eq!((found.status, found.reason.as_str()), (status, reason), "{removal:?}");
            assert!(found.message.contains(part), "{found:?}");
        }
        let many = Removal::Remaining((0..25).map(|number| format!("Service a/{number}")).collect());
        let message = observe(&many, early).message;
        assert!(message.ends_with("Service a/9 and 15 more"), "{message}");
    }

    #[test]
    fn only_what_stands_for_something_outside_is_meant() {
        let service = |type_: &str| -> Service { hyperplane_objects::read(json!({"spec": {"type": type_}})).unwrap() };
        assert!(is_balanced(&service("LoadBalancer")) && !is_balanced(&service("ClusterIP")));
        let volume = |made: bool, policy: &str| -> PersistentVolume {
            let annotations = if made {
                json!({PROVISIONED_BY: "csi"})
            } else {
                json!({})
            };
            let spec = json!({"persistentVolumeReclaimPolicy": policy});
            hyperplane_objects::read(json!({"metadata": {"annotations": annotations}, "spec": spec})).unwrap()
        };
        assert!(is_made_for_a_claim(&volume(true, "Delete")));
        assert!(!is_made_for_a_claim(&volume(true, "Retain")) && !is_made_for_a_claim(&volume(false, "Delete")));
    }

    #[test]
    fn pods_that_hold_a_claim_are_known() {
        let claim: PersistentVolumeClaim =
            hyperplane_objects::read(json!({"metadata": {"name": "data", "namespace": "a"}})).unwrap();
        let pod = |namespace: &str, claim: &str| -> Pod {
            let volumes =
                json!([{"name": "v", "persistentVolumeClaim": {"claimName": claim}}, {"name": "w", "emptyDir": {}}]);
            let spec = json!({"containers": [], "volumes": volumes});
            hyperplane_objects::read(json!({"metadata": {"name": "p", "namespace": namespace}, "spec": spec})).unwrap()
        };
        let claims = [claim];
        assert!(uses_any(&pod("a", "data"), &claims));
        assert!(!uses_any(&pod("b", "data"), &claims) && !uses_any(&pod("a", "other"), &claims));
    }
}
