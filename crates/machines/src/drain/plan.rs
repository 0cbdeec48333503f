//! What is to happen to each pod of a node that is emptied. Pure; the rules are those of `kubectl drain --force
//! --ignore-daemonsets --delete-emptydir-data` as Cluster API applies them.

use std::{collections::BTreeMap, time::Duration};

use hyperplane_api::constants::labels;
use hyperplane_runtime::ObjectKey;
use jiff::Timestamp;
use k8s_openapi::api::core::v1::Pod;
use kube::ResourceExt as _;

use super::blockers::{Left, LeftReason};
use crate::nodes::age;

/// A pod on a silent node that should have ended longer ago is taken for gone: its kubelet will never say so, and the
/// instance ends next (cluster-api, internal/controllers/machine/drain: SkipWaitForDeleteTimeoutSeconds).
const LOST_AFTER: Duration = Duration::from_secs(1);
/// How many pods are told to go in one look; more than a node usually has.
const EVICTIONS: usize = 250;
/// Pods from this priority on keep the cluster running (scheduling.SystemCriticalPriority).
const CRITICAL: i32 = 2_000_000_000;
/// On a pod that a kubelet runs from a file: the API server only mirrors it.
const MIRROR: &str = "kubernetes.io/config.mirror";
/// The value of the drain label for pods that stay.
const SKIP: &str = "skip";
/// The value of the drain label for pods that are to finish by themselves.
const WAIT_COMPLETED: &str = "wait-completed";

/// A pod that is to be evicted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Victim {
    /// Which.
    pub(crate) pod: ObjectKey,
    /// Its identity, so that a successor of the same name is left alone.
    pub(crate) uid: String,
    /// Its labels, by which budgets select it.
    pub(crate) labels: BTreeMap<String, String>,
}

/// What is to be done in this look.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Plan {
    /// These are told to go, in this order.
    pub(crate) evict: Vec<Victim>,
    /// These are waited for.
    pub(crate) left: Vec<Left>,
}

/// What a pod means for a drain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    Stays,
    Waits(LeftReason),
    Goes,
    GoesLast,
}

/// What is to be done about the pods of a node.
pub(crate) fn plan(pods: &[Pod], is_silent: bool, now: Timestamp) -> Plan {
    let mut plan = Plan::default();
    let mut last = Vec::new();
    for pod in pods {
        match part(pod, is_silent, now) {
            Part::Stays => {}
            Part::Waits(reason) => plan.left.push(Left { reason, pod: key(pod) }),
            Part::Goes => plan.evict.push(victim(pod)),
            Part::GoesLast => last.push(victim(pod)),
        }
    }
    // What others need to end in good order, such as names and networks, ends after them.
    let is_turn_of_last = plan.evict.is_empty() && plan.left.is_empty();
    if is_turn_of_last {
        plan.evict = last;
    } else {
        plan.left.extend(last.iter().map(|victim| Left::queued(&victim.pod)));
    }
    plan.evict.sort_by(|one, other| one.pod.cmp(&other.pod));
    let later = plan.evict.split_off(plan.evict.len().min(EVICTIONS));
    plan.left.extend(later.iter().map(|victim| Left::queued(&victim.pod)));
    plan
}

/// Whether a pod runs until the instance ends.
pub(crate) fn stays(pod: &Pod, now: Timestamp) -> bool {
    part(pod, false, now) == Part::Stays
}

fn part(pod: &Pod, is_silent: bool, now: Timestamp) -> Part {
    let label = pod.labels().get(labels::CAPI_DRAIN.as_str()).map(String::as_str);
    let is_lost = || {
        let due = pod.metadata.deletion_timestamp.as_ref();
        is_silent && due.and_then(|due| age(due.0, now)).is_some_and(|age| age > LOST_AFTER)
    };
    if is_mirror(pod) || is_of_daemon_set(pod) || is_finished(pod) || label == Some(SKIP) || is_lost() {
        Part::Stays
    } else if pod.metadata.deletion_timestamp.is_some() {
        Part::Waits(LeftReason::Ending)
    } else if label == Some(WAIT_COMPLETED) {
        Part::Waits(LeftReason::Completing)
    } else if is_critical(pod) {
        Part::GoesLast
    } else {
        Part::Goes
    }
}

fn is_mirror(pod: &Pod) -> bool {
    pod.annotations().contains_key(MIRROR)
}

/// Its controller would put it back at once, cordon or not.
fn is_of_daemon_set(pod: &Pod) -> bool {
    let mut owners = pod.owner_references().iter();
    owners.any(|owner| owner.controller == Some(true) && owner.kind == "DaemonSet")
}

fn is_finished(pod: &Pod) -> bool {
    let phase = pod.status.as_ref().and_then(|status| status.phase.as_deref());
    matches!(phase, Some("Succeeded" | "Failed"))
}

fn is_critical(pod: &Pod) -> bool {
    let priority = pod.spec.as_ref().and_then(|spec| spec.priority);
    priority.is_some_and(|priority| priority >= CRITICAL)
}

fn victim(pod: &Pod) -> Victim {
    Victim {
        pod: key(pod),
        uid: pod.metadata.uid.clone().unwrap_or_default(),
        labels: pod.labels().clone(),
    }
}

fn key(pod: &Pod) -> ObjectKey {
    ObjectKey::of(pod)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::*;

    const NOW: i64 = 10_000;

    fn pod(name: &str, change: &Value) -> Pod {
        let mut pod = json!({
            "metadata": {"namespace": "shop", "name": name, "uid": format!("uid-{name}")},
            "spec": {"containers": []}, "status": {"phase": "Running"},
        });
        for part in ["metadata", "spec", "status"] {
            if let Some(fields) = change.get(part).and_then(Value::as_object) {
                for (field, value) in fields {
                    pod[part][field] = value.clone();
                }
            }
        }
        hyperplane_objects::read(&pod).unwrap()
    }

    fn deleted(second: i64) -> Value {
        json!({"metadata": {"deletionTimestamp": Timestamp::constant(second, 0).to_string()}})
    }

    fn owned_by(kind: &str, is_controller: bool) -> Value {
        let owner = json!({
            "apiVersion": "apps/v1", "kind": kind, "name": "x", "uid": "x", "controller": is_controller,
        });
        json!({"metadata": {"ownerReferences": [owner]}})
    }

    fn labelled(value: &str) -> Value {
        json!({"metadata": {"labels": {labels::CAPI_DRAIN.as_str(): value}}})
    }

    #[test]
    fn each_pod_has_its_part() {
        let ending = Part::Waits(LeftReason::Ending);
        for (change, is_silent, expected) in [
            (json!({}), false, Part::Goes),
            (json!({}), true, Part::Goes),
            (owned_by("ReplicaSet", true), false, Part::Goes),
            (owned_by("DaemonSet", true), false, Part::Stays),
            (owned_by("DaemonSet", false), false, Part::Goes),
            (
                json!({"metadata": {"annotations": {MIRROR: "hash"}}}),
                false,
                Part::Stays,
            ),
            (json!({"status": {"phase": "Succeeded"}}), false, Part::Stays),
            (json!({"status": {"phase": "Failed"}}), false, Part::Stays),
            (json!({"status": {"phase": "Pending"}}), false, Part::Goes),
            (labelled("skip"), false, Part::Stays),
            (labelled("wait-completed"), false, Part::Waits(LeftReason::Completing)),
            (labelled("anything"), false, Part::Goes),
            (deleted(NOW), false, ending),
            (deleted(NOW - 1_000), false, ending),
            (deleted(NOW - 1), true, ending),
            (deleted(NOW - 2), true, Part::Stays),
            (deleted(NOW + 30), true, ending),
            (json!({"spec": {"priority": 2_000_001_000}}), false, Part::GoesLast),
            (json!({"spec": {"priority": 1_000_000_000}}), false, Part::Goes),
        ] {
            let found = part(&pod("a", &change), is_silent, Timestamp::constant(NOW, 0));
            assert_eq!(found, expected, "{change} {is_silent}");
        }
    }

    #[test]
    fn critical_pods_go_when_the_others_are_gone() {
        let now = Timestamp::constant(NOW, 0);
        let critical = pod("dns", &json!({"spec": {"priority": 2_000_000_000}}));
        let ordinary = pod("web", &json!({}));
        let both = plan(&[critical.clone(), ordinary], false, now);
        assert_eq!(both.evict.len(), 1);
        assert_eq!(both.left.len(), 1);
        assert_eq!(both.left[0].reason, LeftReason::Queued);
        let ending = pod("web", &deleted(NOW));
        assert!(plan(&[critical.clone(), ending], false, now).evict.is_empty());
        assert_eq!(plan(&[critical], false, now).evict[0].uid, "uid-dns");
    }

    fn pods(changes: &[Value]) -> Vec<Pod> {
        let numbered = changes.iter().enumerate();
        numbered
            .map(|(number, change)| pod(&format!("pod-{number}"), change))
            .collect()
    }

    fn any_change() -> impl Strategy<Value = Value> {
        prop_oneof![
            Just(json!({})),
            Just(owned_by("DaemonSet", true)),
            Just(json!({"status": {"phase": "Succeeded"}})),
            Just(labelled("wait-completed")),
            Just(json!({"spec": {"priority": 2_000_000_000}})),
            (0_i64..20_000).prop_map(deleted),
        ]
    }

    proptest! {
        #[test]
        fn every_pod_that_has_to_go_is_in_exactly_one_list(
            changes in proptest::collection::vec(any_change(), 0..300), is_silent: bool
        ) {
            let now = Timestamp::constant(NOW, 0);
            let pods = pods(&changes);
            let planned = plan(&pods, is_silent, now);
            let mut listed: Vec<ObjectKey> = planned.evict.iter().map(|victim| victim.pod.clone()).collect();
            prop_assert!(listed.is_sorted() && listed.len() <= EVICTIONS);
            listed.extend(planned.left.iter().map(|left| left.pod.clone()));
            listed.sort();
            let mut expected: Vec<ObjectKey> = pods
                .iter()
                .filter(|pod| part(pod, is_silent, now) != Part::Stays)
                .map(key)
                .collect();
            expected.sort();
            prop_assert_eq!(listed, expected);
        }

        #[test]
        fn a_drain_in_which_everything_goes_ends(
            changes in proptest::collection::vec(any_change(), 0..300)
        ) {
            let now = Timestamp::constant(NOW, 0);
            let mut pods = pods(&changes);
            // Each look ends what it told to go; what ends or completes by itself is gone by the next.
            for _ in 0..4 {
                let planned = plan(&pods, false, now);
                pods.retain(|pod| {
                    let is_told = planned.evict.iter().any(|victim| victim.pod == key(pod));
                    let is_ending = planned
                        .left
                        .iter()
                        .any(|left| left.pod == key(pod) && left.reason != LeftReason::Queued);
                    !is_told && !is_ending
                });
            }
            prop_assert_eq!(plan(&pods, false, now), Plan::default());
        }
    }
}
