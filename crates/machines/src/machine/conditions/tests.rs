//! Each state of a machine, and the words for it.

use jiff::SignedDuration;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::{
    machine::facts::testing::{NOW, cluster, facts, instance, node},
    nodes::NoAnswer,
};

fn word<'a>(conditions: &'a [Condition], type_: &str) -> (&'a str, &'a str) {
    let found = conditions.iter().find(|condition| condition.type_ == type_).unwrap();
    (&found.status, &found.reason)
}

fn condition(type_: &str, status: &str, reason: &str, seconds_ago: i64) -> Value {
    let since = NOW - SignedDuration::from_secs(seconds_ago);
    json!({"type": type_, "status": status, "reason": reason, "message": "words", "lastTransitionTime": since.to_string()})
}

fn with_conditions(conditions: &[Value]) -> Value {
    json!({"status": {"conditions": conditions}})
}

#[test]
fn a_machine_at_rest_is_ready_and_available() {
    let conditions = observe(&facts(&json!({})), None);
    let mut found: Vec<&str> = conditions.iter().map(|condition| condition.type_.as_str()).collect();
    assert!(found.is_sorted());
    found.sort_unstable();
    let mut ours: Vec<&str> = OURS.iter().map(|type_| type_.as_str()).collect();
    ours.sort_unstable();
    assert_eq!(found, ours);
    for (type_, expected) in [
        ("Ready", ("True", "Ready")),
        ("Available", ("True", "Available")),
        ("UpToDate", ("True", "UpToDate")),
        ("BootstrapConfigReady", ("True", "DataSecretProvided")),
        ("InfrastructureReady", ("True", "Provisioned")),
        ("NodeHealthy", ("True", "NodeHealthy")),
        ("NodeReady", ("True", "NodeReady")),
        ("Deleting", ("False", "NotDeleting")),
        ("Paused", ("False", "NotPaused")),
    ] {
        assert_eq!(word(&conditions, type_), expected);
    }
    assert!(
        conditions
            .iter()
            .all(|condition| condition.observed_generation == Some(3))
    );
}

#[test]
fn a_failure_for_good_is_told_in_the_words_of_the_provider() {
    for (status, expected) in [
        (json!({"failureReason": "CreateError"}), "CreateError"),
        (json!({"failureMessage": "no capacity"}), "no capacity"),
        (
            json!({"failureReason": "CreateError", "failureMessage": "no capacity"}),
            "CreateError: no capacity",
        ),
    ] {
        let mut known = facts(&json!({}));
        known.infrastructure = instance(&json!({"status": status}));
        let conditions = observe(&known, None);
        let found = conditions
            .iter()
            .find(|found| found.type_ == "InfrastructureReady")
            .unwrap();
        assert_eq!((found.status.as_str(), found.reason.as_str()), ("False", "NotReady"));
        assert_eq!(
            found.message,
            format!("The KubevirtMachine failed for good: {expected}")
        );
    }
    let mut known = facts(&json!({}));
    known.infrastructure = instance(&json!({"status": {"failureReason": ""}}));
    assert_eq!(word(&observe(&known, None), "InfrastructureReady").0, "True");
}

#[test]
fn a_node_that_goes_with_its_cluster_is_not_said_to_be_waited_for() {
    let mut known = facts(&json!({}));
    known.node = NodeFacts::Unidentified;
    let said = |known: &Facts| {
        let conditions = observe(known, None);
        let found = conditions.iter().find(|found| found.type_ == "NodeReady").unwrap();
        found.message.clone()
    };
    assert!(said(&known).contains("to report spec.providerID"));
    let going = json!({"metadata": {"deletionTimestamp": "2026-01-01T00:00:00Z"}});
    known.cluster = Some(std::sync::Arc::new(cluster(&going)));
    assert!(said(&known).contains("its cluster is being deleted"));
}

#[test]
fn what_the_provider_says_is_passed_on() {
    let ready = |status: &str| json!({"status": {"conditions": [{"type": "Ready", "status": status, "message": "m"}]}});
    let foreign = json!({"metadata": {"ownerReferences": [{"apiVersion": "v1", "kind": "Other", "name": "o", "uid": "o",
        "controller": true}]}});
    for (infrastructure, expected) in [
        (
            instance(&json!({"status": {"initialization": null}})),
            ("False", "NotProvisioned"),
        ),
        (instance(&ready("False")), ("False", "NotReady")),
        (instance(&ready("Unknown")), ("Unknown", "ReadyUnknown")),
        (instance(&ready("True")), ("True", "Provisioned")),
        (instance(&foreign), ("False", "NotReady")),
        (Infrastructure::Missing, ("False", "ObjectDoesNotExist")),
        (Infrastructure::Unserved("x".to_owned()), ("False", "NotReady")),
    ] {
        let mut known = facts(&json!({}));
        known.infrastructure = infrastructure;
        assert_eq!(
            word(&observe(&known, None), "InfrastructureReady"),
            expected,
            "{:?}",
            known.infrastructure
        );
    }
    let mut known = facts(&json!({"status": {"initialization": {"infrastructureProvisioned": true}}}));
    known.infrastructure = Infrastructure::Missing;
    assert_eq!(
        word(&observe(&known, None), "InfrastructureReady"),
        ("False", "ObjectDeleted")
    );
}

#[test]
fn a_node_without_its_labels_and_taints_stands_for_no_other() {
    let mut known = facts(&json!({}));
    let status = |known: &Facts, type_: &str| {
        let conditions = observe(known, None);
        let found = conditions.iter().find(|found| found.type_ == type_).unwrap();
        (found.status.clone(), found.message.clone())
    };
    let taint = json!({"spec": {"taints": [{"key": "hyperplane.dev/uninitialized", "effect": "NoSchedule"}]}});
    known.node = node(&taint);
    for type_ in ["NodeReady", "NodeHealthy", "Ready", "Available"] {
        let (status, message) = status(&known, type_);
        assert_eq!(status, "False", "{type_}: {message}");
    }
    assert!(status(&known, "NodeReady").1.contains("hyperplane.dev/uninitialized"));
    let other = json!({"spec": {"taints": [{"key": "gpu", "effect": "NoSchedule"}]}});
    known.node = node(&other);
    assert_eq!(status(&known, "Available").0, "True");
}

#[test]
fn nodes_in_each_state() {
    let only = |type_: &str, status: &str| {
        let mut all = vec![json!({"type": type_, "status": status})];
        for (other, good) in HEALTHY {
            if *other != type_ {
                all.push(json!({"type": other, "status": good}));
            }
        }
        node(&json!({"status": {"conditions": all}}))
    };
    let fresh = json!({"status": null});
    for (change, node, ready, healthy) in [
        (
            json!({}),
            only("Ready", "False"),
            ("False", "NodeNotReady"),
            ("False", "NodeNotHealthy"),
        ),
        (
            json!({}),
            only("Ready", "Unknown"),
            ("Unknown", "NodeReadyUnknown"),
            ("Unknown", "NodeHealthyUnknown"),
        ),
        (
            json!({}),
            only("DiskPressure", "True"),
            ("True", "NodeReady"),
            ("False", "NodeNotHealthy"),
        ),
        (
            json!({}),
            NodeFacts::Missing,
            ("False", "NodeDeleted"),
            ("False", "NodeDeleted"),
        ),
        (
            fresh.clone(),
            NodeFacts::Missing,
            ("Unknown", "NodeDoesNotExist"),
            ("Unknown", "NodeDoesNotExist"),
        ),
        (
            fresh,
            NodeFacts::Unidentified,
            ("Unknown", "InspectionFailed"),
            ("Unknown", "InspectionFailed"),
        ),
        (
            json!({}),
            NodeFacts::Contested(vec!["a".to_owned(), "b".to_owned()]),
            ("Unknown", "InspectionFailed"),
            ("Unknown", "InspectionFailed"),
        ),
    ] {
        let mut known = facts(&change);
        known.node = node;
        let conditions = observe(&known, None);
        assert_eq!(word(&conditions, "NodeReady"), ready, "{:?}", known.node);
        assert_eq!(word(&conditions, "NodeHealthy"), healthy, "{:?}", known.node);
        assert_ne!(word(&conditions, "Ready").0, "True");
        assert_eq!(word(&conditions, "Available"), ("False", "NotReady"));
    }
}

#[test]
fn a_short_silence_changes_nothing_and_a_long_one_is_told() {
    let before = with_conditions(&[
        condition("NodeReady", "True", "NodeReady", 500),
        condition("NodeHealthy", "True", "NodeHealthy", 500),
    ]);
    let mut known = facts(&before);
    let silence = NoAnswer::new("connection refused");
    known.node = NodeFacts::Unseen(silence.clone());
    assert_eq!(word(&observe(&known, None), "NodeHealthy"), ("True", "NodeHealthy"));
    assert_eq!(word(&observe(&known, None), "Ready").0, "True");
    known.node = NodeFacts::Unseen(NoAnswer {
        is_lasting: true,
        ..silence.clone()
    });
    let conditions = observe(&known, None);
    assert_eq!(word(&conditions, "NodeHealthy"), ("Unknown", "ConnectionDown"));
    assert!(
        conditions
            .iter()
            .all(|condition| !condition.message.contains("refused"))
    );
    let mut new = facts(&json!({}));
    new.node = NodeFacts::Unseen(silence);
    assert_eq!(word(&observe(&new, None), "NodeReady"), ("Unknown", "ConnectionDown"));
}

#[test]
fn health_checks_and_gates_have_a_say_in_readiness() {
    let gate = |type_: &str, polarity: &str| json!({"spec": {"readinessGates": [{"conditionType": type_, "polarity": polarity}]}});
    let both = |gate: Value, conditions: &[Value]| {
        let mut change = gate;
        change["status"] = json!({"nodeRef": {"name": "m-1"}, "conditions": conditions});
        change
    };
    for (change, expected) in [
        (
            with_conditions(&[condition("HealthCheckSucceeded", "True", "x", 5)]),
            "True",
        ),
        (
            with_conditions(&[condition("HealthCheckSucceeded", "False", "x", 5)]),
            "False",
        ),
        (gate("Gpu", "Positive"), "Unknown"),
        (
            both(gate("Gpu", "Positive"), &[condition("Gpu", "True", "x", 5)]),
            "True",
        ),
        (
            both(gate("Gpu", "Positive"), &[condition("Gpu", "False", "x", 5)]),
            "False",
        ),
        (
            both(gate("Broken", "Negative"), &[condition("Broken", "False", "x", 5)]),
            "True",
        ),
        (
            both(gate("Broken", "Negative"), &[condition("Broken", "True", "x", 5)]),
            "False",
        ),
    ] {
        assert_eq!(word(&observe(&facts(&change), None), "Ready").0, expected, "{change}");
    }
}

#[test]
fn availability_waits_for_its_time() {
    for (seconds, lasted, expected, left) in [
        (0, 0, "True", None),
        (30, 0, "False", Some(30)),
        (30, 29, "False", Some(1)),
        (30, 30, "True", None),
        (30, -10, "False", Some(30)),
    ] {
        let mut change = with_conditions(&[condition("Ready", "True", "Ready", lasted)]);
        change["spec"] = json!({"minReadySeconds": seconds});
        let known = facts(&change);
        let conditions = observe(&known, None);
        assert_eq!(word(&conditions, "Available").0, expected, "{seconds} {lasted}");
        assert_eq!(until_available(&known, &conditions), left.map(Duration::from_secs));
    }
}

#[test]
fn the_bootstrap_of_a_provider_is_refused_with_what_helps() {
    let reference = json!({"apiGroup": "bootstrap.cluster.x-k8s.io", "kind": "KubeadmConfig", "name": "k"});
    for (bootstrap, words) in [
        (
            json!({"dataSecretName": null}),
            "Waiting for spec.bootstrap.dataSecretName",
        ),
        (json!({"dataSecretName": null, "configRef": reference}), "KubeadmConfig"),
    ] {
        let conditions = observe(&facts(&json!({"spec": {"bootstrap": bootstrap}})), None);
        let found = conditions
            .iter()
            .find(|found| found.type_ == "BootstrapConfigReady")
            .unwrap();
        assert_eq!(found.status, "False");
        assert!(found.message.contains(words), "{}", found.message);
    }
}

fn any_node() -> impl Strategy<Value = NodeFacts> {
    prop_oneof![
        Just(NodeFacts::Unidentified),
        Just(NodeFacts::Missing),
        any::<bool>().prop_map(|is_lasting| NodeFacts::Unseen(NoAnswer {
            message: "x".to_owned(),
            is_lasting,
        })),
        Just(node(&json!({}))),
        Just(node(
            &json!({"status": {"conditions": [{"type": "Ready", "status": "Unknown"}]}})
        )),
    ]
}

proptest! {
    #[test]
    fn looking_again_at_the_same_changes_nothing(found in any_node(), later in 0_i64..100_000) {
        let mut known = facts(&json!({}));
        known.node = found;
        let first = observe(&known, None);
        let mut machine = (*known.machine).clone();
        machine.status.get_or_insert_default().conditions.clone_from(&first);
        known.machine = std::sync::Arc::new(machine);
        known.now += SignedDuration::from_secs(later);
        prop_assert_eq!(observe(&known, None), first);
    }

    #[test]
    fn nothing_is_available_that_is_not_ready(found in any_node(), seconds in 0_i32..100) {
        let mut known = facts(&json!({"spec": {"minReadySeconds": seconds}}));
        known.node = found;
        let conditions = observe(&known, None);
        let is_true = |type_| word(&conditions, type_).0 == "True";
        prop_assert!(!is_true("Available") || is_true("Ready"));
        prop_assert!(!is_true("Ready") || is_true("NodeHealthy"));
    }
}
