//! The way out under every circumstance, and a model of the whole way.

use std::sync::Arc;

use jiff::SignedDuration;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::{
    machine::facts::testing::{NOW, cluster, facts, instance, merge, node},
    nodes::NoAnswer,
};

fn ago(seconds: i64) -> String {
    (NOW - SignedDuration::from_secs(seconds)).to_string()
}

fn deleted(change: &Value) -> Facts {
    let mut known = facts(change);
    let since = hyperplane_objects::read(json!(ago(100))).unwrap();
    Arc::make_mut(&mut known.machine).metadata.deletion_timestamp = Some(since);
    known
}

fn annotated(key: &str) -> Value {
    json!({"metadata": {"annotations": {key: ""}}})
}

fn drain_limit(limit: i32, begun: i64) -> Value {
    json!({"spec": {"deletion": {"nodeDrainTimeoutSeconds": limit}},
        "status": {"deletion": {"nodeDrainStartTime": ago(begun)}}})
}

fn with_volumes() -> NodeFacts {
    node(&json!({"status": {"volumesAttached": [{"name": "v-1", "devicePath": ""}]}}))
}

fn drain() -> Stage {
    Stage::Drain("m-1".to_owned())
}

fn unseen() -> NodeFacts {
    NodeFacts::Unseen(NoAnswer::new("x"))
}

#[test]
fn pods_go_first_and_the_instance_after_them() {
    let known = deleted(&json!({}));
    assert_eq!(stage(&known, false), drain());
    assert_eq!(stage(&known, true), Stage::Instance);
}

#[test]
fn hooks_hold_the_step_that_they_name() {
    let pre_drain = annotated("pre-drain.delete.hook.machine.cluster.x-k8s.io/backup");
    let pre_terminate = annotated("pre-terminate.delete.hook.machine.cluster.x-k8s.io/etcd");
    let known = deleted(&pre_drain);
    assert_eq!(stage(&known, false), Stage::PreDrainHooks(vec!["backup".to_owned()]));
    let known = deleted(&pre_terminate);
    assert_eq!(stage(&known, false), drain());
    assert_eq!(stage(&known, true), Stage::PreTerminateHooks(vec!["etcd".to_owned()]));
    let told = ending(&known, &stage(&known, true), None);
    assert_eq!(told.reason, reasons::WAITING_FOR_PRE_TERMINATE_HOOK);
    assert!(told.message().contains("etcd"));
    assert_eq!(
        told.times.wait_for_pre_terminate_hook_start_time.map(|time| time.0),
        Some(NOW)
    );
}

#[test]
fn a_node_is_not_emptied_again_once_the_last_hook_is_waited_for() {
    let begun = json!({"status": {"deletion": {"waitForPreTerminateHookStartTime": ago(10)}}});
    let mut change = annotated("pre-terminate.delete.hook.machine.cluster.x-k8s.io/etcd");
    merge(&mut change, &begun);
    let mut known = deleted(&change);
    known.node = with_volumes();
    assert_eq!(stage(&known, false), Stage::PreTerminateHooks(vec!["etcd".to_owned()]));
    let mut known = deleted(&begun);
    known.node = with_volumes();
    assert_eq!(stage(&known, false), Stage::Instance);
}

#[test]
fn hooks_hold_a_machine_whose_instance_is_gone() {
    let hooks = [
        "pre-drain.delete.hook.machine.cluster.x-k8s.io/a",
        "pre-terminate.delete.hook.machine.cluster.x-k8s.io/a",
    ];
    for hook in hooks {
        let mut known = deleted(&annotated(hook));
        known.infrastructure = Infrastructure::Missing;
        let found = stage(&known, false);
        assert!(
            matches!(&found, Stage::PreDrainHooks(names) | Stage::PreTerminateHooks(names) if names == &["a"]),
            "{found:?}"
        );
    }
}

#[test]
fn a_drain_ends_by_its_limit_or_because_nobody_wants_it() {
    for (change, is_over) in [
        (annotated("machine.cluster.x-k8s.io/exclude-node-draining"), true),
        (drain_limit(60, 59), false),
        (drain_limit(60, 60), true),
        (drain_limit(0, 100_000), false),
        (drain_limit(60, -100), false),
        (
            json!({"status": {"deletion": {"nodeDrainStartTime": ago(100_000)}}}),
            false,
        ),
    ] {
        let found = stage(&deleted(&change), false);
        assert_eq!(found, if is_over { Stage::Instance } else { drain() }, "{change}");
    }
    let over = deleted(&drain_limit(60, 90));
    assert_eq!(drain_given_up(&over), Some(Duration::from_mins(1)));
    assert_eq!(drain_given_up(&deleted(&drain_limit(60, 59))), None);
}

#[test]
fn volumes_are_waited_for_unless_nobody_can_take_them_off() {
    let limit = json!({"spec": {"deletion": {"nodeVolumeDetachTimeoutSeconds": 30}},
        "status": {"deletion": {"waitForNodeVolumeDetachStartTime": ago(30)}}});
    let excluded = annotated("machine.cluster.x-k8s.io/exclude-wait-for-node-volume-detach");
    let waits = Stage::Volumes(Some(vec!["v-1".to_owned()]));
    let silent = node(
        &json!({"status": {"volumesAttached": [{"name": "v-1", "devicePath": ""}],
        "conditions": [{"type": "Ready", "status": "Unknown"}]}}),
    );
    for (change, found, expected) in [
        (json!({}), with_volumes(), waits),
        (limit, with_volumes(), Stage::Instance),
        (excluded, with_volumes(), Stage::Instance),
        (json!({}), silent, Stage::Instance),
        (json!({}), unseen(), Stage::Volumes(None)),
    ] {
        let mut known = deleted(&change);
        known.node = found;
        assert_eq!(stage(&known, true), expected, "{change}");
    }
}

#[test]
fn what_is_attached_is_asked_for_only_when_it_is_its_turn() {
    let mut known = deleted(&json!({}));
    assert!(!is_turn_of_volumes(&known, false), "pods go first");
    assert!(is_turn_of_volumes(&known, true), "although the Node lists nothing");
    known.infrastructure = instance(&json!({"metadata": {"deletionTimestamp": ago(1)}}));
    assert!(!is_turn_of_volumes(&known, true));
    let known = deleted(&annotated(
        "machine.cluster.x-k8s.io/exclude-wait-for-node-volume-detach",
    ));
    assert!(!is_turn_of_volumes(&known, true));
}

#[test]
fn a_cluster_that_goes_or_never_answered_has_no_nodes_to_care_for() {
    let going = json!({"metadata": {"deletionTimestamp": ago(10)}});
    let mut known = deleted(&annotated("pre-drain.delete.hook.machine.cluster.x-k8s.io/backup"));
    known.cluster = Some(Arc::new(cluster(&going)));
    assert_eq!(stage(&known, false), Stage::Instance);
    known.infrastructure = Infrastructure::Missing;
    assert_eq!(stage(&known, false), Stage::Done);
    let mut never = deleted(&json!({"status": null}));
    never.node = unseen();
    assert_eq!(stage(&never, false), Stage::Instance);
    never.infrastructure = Infrastructure::Missing;
    assert_eq!(stage(&never, false), Stage::Done);
}

#[test]
fn a_cluster_that_is_silent_now_is_waited_for() {
    let mut known = deleted(&json!({}));
    known.node = unseen();
    assert_eq!(stage(&known, false), drain());
    let mut known = deleted(&drain_limit(60, 60));
    known.node = unseen();
    assert_eq!(stage(&known, false), Stage::Volumes(None));
}

#[test]
fn the_instance_goes_once_and_the_node_object_last() {
    let mut known = deleted(&json!({}));
    known.infrastructure = instance(&json!({"metadata": {"deletionTimestamp": ago(1)}}));
    assert_eq!(
        stage(&known, false),
        Stage::Instance,
        "no drain when the instance goes already"
    );
    known.infrastructure = Infrastructure::Missing;
    assert!(matches!(stage(&known, false), Stage::Node(found) if found.name() == "m-1"));
    known.node = NodeFacts::Missing;
    assert_eq!(stage(&known, false), Stage::Done);
    known.node = NodeFacts::Contested(vec!["a".to_owned(), "b".to_owned()]);
    assert_eq!(
        stage(&known, false),
        Stage::Done,
        "no node goes of which nobody knows whose it is"
    );
    known.infrastructure = Infrastructure::Unserved("x".to_owned());
    assert_eq!(stage(&known, true), Stage::Stranded("x".to_owned()));
    let foreign = json!({"metadata": {"ownerReferences": [{"apiVersion": "v1", "kind": "Other", "name": "o", "uid": "o",
        "controller": true}]}});
    known.infrastructure = instance(&foreign);
    assert_eq!(
        stage(&known, true),
        Stage::Done,
        "the instance of another is left alone"
    );
}

#[test]
fn the_removal_of_a_node_object_is_given_up_in_time() {
    for (limit, phase, begun, is_over) in [
        (Value::Null, "Deleted", 9, false),
        (Value::Null, "Deleted", 10, true),
        (json!(60), "Deleted", 10, false),
        (json!(0), "Deleted", 100_000, false),
        (Value::Null, "Deleting", 100_000, false),
    ] {
        let change = json!({"spec": {"deletion": {"nodeDeletionTimeoutSeconds": limit}},
            "status": {"phase": phase, "lastUpdated": ago(begun)}});
        let mut known = deleted(&change);
        known.node = unseen();
        known.infrastructure = Infrastructure::Missing;
        let expected = if is_over {
            Stage::Done
        } else {
            Stage::NodeUnseen("m-1".to_owned())
        };
        assert_eq!(stage(&known, false), expected, "{change}");
    }
}

#[test]
fn looks_come_in_time_for_the_end_of_a_step() {
    for (change, is_blocked, expected) in [
        (json!({}), false, 5),
        (json!({}), true, 30),
        (drain_limit(60, 50), true, 10),
        (drain_limit(60, 10), true, 30),
        (drain_limit(60, 60), true, 1),
        (drain_limit(60, -10), true, 30),
    ] {
        let found = next_look(&deleted(&change), &drain(), is_blocked);
        assert_eq!(found, Duration::from_secs(expected), "{change}");
    }
}

#[test]
fn what_a_look_found_is_part_of_the_words() {
    let told = ending(&deleted(&json!({})), &drain(), Some("pod shop/db-0 is held"));
    assert_eq!(
        told.message(),
        "Waiting for pods to leave node m-1: pod shop/db-0 is held"
    );
    assert_eq!(told.times.node_drain_start_time.map(|time| time.0), Some(NOW));
    assert!(!told.is_instance_gone);
    let many: Vec<String> = (0..8).map(|number| format!("v-{number}")).collect();
    let told = ending(&deleted(&json!({})), &Stage::Volumes(Some(many)), None);
    assert!(told.what.ends_with("v-4 and 3 more"), "{}", told.what);
}

#[test]
fn a_step_that_is_under_way_keeps_its_beginning() {
    let known = deleted(&drain_limit(600, 20));
    let told = ending(&known, &stage(&known, false), None);
    let start = told.times.node_drain_start_time.unwrap();
    assert_eq!(start.0, NOW - SignedDuration::from_secs(20));
}

/// The world of one deletion, as a model: each part does its share some time after it can.
#[derive(Clone, Debug)]
struct World {
    pods: u32,
    volumes: u32,
    has_hook: bool,
    instance_delay: u32,
    is_silent_for: u32,
    limit: i32,
}

fn any_world() -> impl Strategy<Value = World> {
    (0_u32..50, 0_u32..20, any::<bool>(), 0_u32..20, 0_u32..40, 1_i32..200).prop_map(
        |(pods, volumes, has_hook, instance_delay, is_silent_for, limit)| World {
            pods,
            volumes,
            has_hook,
            instance_delay,
            is_silent_for,
            limit,
        },
    )
}

impl World {
    /// What is known after `turn` turns of five seconds, if the status said `times` before.
    fn facts(&self, turn: u32, asked_at: Option<u32>, status: &Value) -> Facts {
        let mut change = json!({"spec": {"deletion": {
            "nodeDrainTimeoutSeconds": self.limit, "nodeVolumeDetachTimeoutSeconds": self.limit}}, "status": status});
        if self.has_hook && turn < 7 {
            merge(
                &mut change,
                &annotated("pre-terminate.delete.hook.machine.cluster.x-k8s.io/x"),
            );
        }
        let mut known = deleted(&change);
        known.now = NOW + SignedDuration::from_secs(i64::from(turn) * 5);
        let gone = asked_at.is_some_and(|asked| turn >= asked + self.instance_delay);
        known.infrastructure = match asked_at {
            Some(_) if gone => Infrastructure::Missing,
            Some(_) => instance(&json!({"metadata": {"deletionTimestamp": ago(0)}})),
            None => instance(&json!({})),
        };
        known.node = if turn < self.is_silent_for {
            unseen()
        } else if turn < self.pods + self.volumes {
            with_volumes()
        } else {
            node(&json!({}))
        };
        known
    }
}

proptest! {
    #[test]
    fn every_deletion_ends_and_no_instance_goes_early(world in any_world()) {
        let mut status = json!({"nodeRef": {"name": "m-1"}});
        let (mut asked_at, mut is_done) = (None, false);
        for turn in 0..400 {
            let known = world.facts(turn, asked_at, &status);
            let is_empty = turn >= world.pods && turn >= world.is_silent_for;
            let mut found = stage(&known, false);
            if matches!(found, Stage::Drain(_)) && is_empty {
                found = stage(&known, true);
            }
            match &found {
                Stage::Instance if asked_at.is_none() => {
                    let over = drain_given_up(&known).is_some();
                    prop_assert!(is_empty || over, "the instance goes under its pods at turn {}", turn);
                    prop_assert!(!world.has_hook || turn >= 7, "a hook was overlooked");
                    asked_at = Some(turn);
                }
                Stage::Node(_) => {
                    prop_assert!(asked_at.is_some_and(|asked| turn >= asked + world.instance_delay));
                    is_done = true;
                }
                Stage::Done => is_done = true,
                _ => {}
            }
            if is_done {
                break;
            }
            let told = ending(&known, &found, None);
            status["deletion"] = serde_json::to_value(&told.times).unwrap();
            if told.is_instance_gone && status["phase"] != "Deleted" {
                status["phase"] = json!("Deleted");
                status["lastUpdated"] = json!(known.now.to_string());
            }
        }
        prop_assert!(is_done, "it never ended");
    }
}
