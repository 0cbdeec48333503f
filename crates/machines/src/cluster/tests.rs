//! Tables of what is said of clusters.

use std::sync::Arc;

use hyperplane_api::{
    cluster_api::{
        cluster::{ApiEndpoint, Cluster},
        cluster_status::{ClusterPhase, ClusterStatus},
    },
    hypershift::{endpoint, hosted_control_plane::HostedControlPlaneStatus},
    infrastructure::InfrastructureStatus,
};
use jiff::Timestamp;
use serde_json::{Value, json};

use super::{
    dereference::{ControlPlane, Infrastructure, Referred, Remaining, Seen},
    status::{missing_endpoint, status},
};

fn cluster(spec: &Value) -> Cluster {
    let manifest = json!({
        "apiVersion": "cluster.x-k8s.io/v1beta2", "kind": "Cluster",
        "metadata": {"name": "c", "namespace": "n", "uid": "u", "generation": 3}, "spec": spec,
    });
    hyperplane_objects::read(&manifest).unwrap()
}

/// The spec of a cluster as it is made, with its address.
fn complete() -> Value {
    let reference = |group: &str, kind: &str| json!({"apiGroup": group, "kind": kind, "name": "c"});
    json!({
        "infrastructureRef": reference("infrastructure.cluster.x-k8s.io", "KubevirtCluster"),
        "controlPlaneRef": reference("hypershift.openshift.io", "HostedControlPlane"),
        "controlPlaneEndpoint": {"host": "api.example.com", "port": 6443},
    })
}

/// A cluster, everything of which works.
fn good() -> Seen {
    Seen {
        cluster: Arc::new(cluster(&complete())),
        infrastructure: infrastructure(&json!({"ready": true})),
        control_plane: control_plane(&serving("True")),
        remaining: Remaining::default(),
        pause: None,
    }
}

fn infrastructure(status: &Value) -> Referred<Infrastructure> {
    let status: InfrastructureStatus = hyperplane_objects::read(status).unwrap();
    Referred::Present(Infrastructure::new(Some(&status), None))
}

fn control_plane(status: &Value) -> Referred<ControlPlane> {
    let status: HostedControlPlaneStatus = hyperplane_objects::read(status).unwrap();
    Referred::Present(ControlPlane::new(Some(&status)))
}

/// The status of a control plane that has served, and says this of now.
fn serving(available: &str) -> Value {
    json!({"ready": available == "True", "initialized": true, "initialization": {"controlPlaneInitialized": true},
        "conditions": [condition("Available", available)]})
}

fn condition(type_: &str, status: &str) -> Value {
    json!({"type": type_, "status": status, "reason": "Test", "message": "as told",
        "lastTransitionTime": "2026-01-01T00:00:00Z"})
}

fn at(second: i64) -> Timestamp {
    Timestamp::from_second(1_800_000_000 + second).unwrap()
}

fn gone<T>() -> Referred<T> {
    Referred::Missing("it does not exist".to_owned())
}

fn change(seen: Seen, change: impl FnOnce(&mut Cluster)) -> Seen {
    let mut cluster = seen.cluster.as_ref().clone();
    change(&mut cluster);
    Seen {
        cluster: Arc::new(cluster),
        ..seen
    }
}

fn leaving(seen: Seen) -> Seen {
    let moment = hyperplane_runtime::conditions::written(at(0));
    change(seen, |cluster| cluster.metadata.deletion_timestamp = Some(moment))
}

/// Both steps, as far as they are done.
fn steps(status: &ClusterStatus) -> (bool, bool) {
    let steps = status.initialization.clone().unwrap_or_default();
    (
        steps.infrastructure_provisioned == Some(true),
        steps.control_plane_initialized == Some(true),
    )
}

/// Conditions as `Type=Status/Reason`.
#[track_caller]
fn check(seen: &Seen, phase: ClusterPhase, done: (bool, bool), expected: &str) -> ClusterStatus {
    let status = status(seen, at(0));
    let told: Vec<String> = status
        .conditions
        .iter()
        .map(|found| format!("{}={}/{}", found.type_, found.status, found.reason))
        .collect();
    let all: Vec<&str> = told.iter().map(String::as_str).collect();
    for words in expected.split_whitespace() {
        assert!(all.contains(&words), "{words} is not among {all:?}");
    }
    assert_eq!(all.len(), 6, "{all:?}");
    assert_eq!((status.phase.clone(), steps(&status)), (Some(phase), done));
    assert_eq!(status.observed_generation, Some(3));
    assert!(
        status
            .conditions
            .iter()
            .all(|found| found.observed_generation == Some(3))
    );
    status
}

const GOOD: &str = "InfrastructureReady=True/Ready ControlPlaneInitialized=True/Initialized \
    ControlPlaneAvailable=True/Test Available=True/Available Deleting=False/NotDeleting Paused=False/NotPaused";

#[test]
fn a_cluster_becomes_what_its_parts_are() {
    let unset = Seen {
        cluster: Arc::new(cluster(&json!({"paused": false}))),
        infrastructure: gone(),
        control_plane: gone(),
        ..good()
    };
    let status = check(
        &unset,
        ClusterPhase::Pending,
        (false, false),
        "InfrastructureReady=False/ObjectDoesNotExist ControlPlaneInitialized=False/ObjectDoesNotExist \
         ControlPlaneAvailable=False/ObjectDoesNotExist Available=False/NotAvailable",
    );
    assert_eq!(status.initialization, None, "an empty object is refused by the schema");
    let empty = Seen {
        infrastructure: infrastructure(&json!({})),
        control_plane: control_plane(&json!({"initialized": true})),
        ..good()
    };
    check(
        &empty,
        ClusterPhase::Provisioning,
        (false, false),
        "InfrastructureReady=False/NotReady ControlPlaneInitialized=False/NotInitialized \
         ControlPlaneAvailable=Unknown/AvailableUnknown Available=False/NotAvailable",
    );
    let silent = Seen {
        control_plane: control_plane(&json!({"initialized": true})),
        ..good()
    };
    check(
        &silent,
        ClusterPhase::Provisioned,
        (true, false),
        "InfrastructureReady=True/Ready ControlPlaneAvailable=Unknown/AvailableUnknown \
         Available=Unknown/AvailableUnknown",
    );
    check(&good(), ClusterPhase::Provisioned, (true, true), GOOD);
    let unaddressed = change(good(), |cluster| cluster.spec.control_plane_endpoint = None);
    check(&unaddressed, ClusterPhase::Provisioning, (true, true), GOOD);
}

#[test]
fn either_contract_tells_that_infrastructure_is_there() {
    for (status, expected) in [
        (json!({"ready": true}), true),
        (json!({"ready": false}), false),
        (json!({"initialization": {"provisioned": true}}), true),
        (json!({"initialization": {"provisioned": false}, "ready": true}), false),
        (json!({"initialization": {}, "ready": true}), true),
    ] {
        let found = infrastructure(&status);
        assert_eq!(found.get().unwrap().is_provisioned, expected, "{status}");
    }
    assert!(!Infrastructure::new(None, None).is_provisioned);
}

#[test]
fn what_was_done_once_stays_done() {
    let before = status(&good(), at(0));
    let known = change(good(), |cluster| cluster.status = Some(before));
    let worse = Seen {
        infrastructure: infrastructure(&json!({"ready": false})),
        control_plane: control_plane(&json!({"initialized": true, "conditions": [condition("Available", "False")]})),
        ..known
    };
    let status = check(
        &worse,
        ClusterPhase::Provisioned,
        (true, true),
        "InfrastructureReady=False/NotReady ControlPlaneInitialized=True/Initialized \
         ControlPlaneAvailable=False/Test Available=False/NotAvailable",
    );
    let available = status.conditions.iter().find(|found| found.type_ == "Available");
    let message = "InfrastructureReady: the provider does not say that it is provisioned; \
                   ControlPlaneAvailable: as told";
    assert_eq!(available.unwrap().message, message);
    let lost = Seen {
        infrastructure: gone(),
        control_plane: gone(),
        ..worse
    };
    check(
        &lost,
        ClusterPhase::Provisioned,
        (true, true),
        "InfrastructureReady=False/ObjectDeleted ControlPlaneInitialized=True/Initialized \
         ControlPlaneAvailable=False/ObjectDeleted",
    );
}

#[test]
fn the_same_again_changes_nothing() {
    let first = status(&good(), at(0));
    let again = change(good(), |cluster| cluster.status = Some(first.clone()));
    assert_eq!(status(&again, at(900)), first);
}

#[test]
fn a_cluster_that_goes_says_what_is_left() {
    let left = Remaining {
        deployments: 1,
        sets: 2,
        machines: 3,
    };
    let busy = Seen {
        remaining: left,
        ..leaving(good())
    };
    let status = check(
        &busy,
        ClusterPhase::Deleting,
        (true, true),
        "Deleting=True/WaitingForWorkersDeletion Available=False/NotAvailable",
    );
    let deleting = status.conditions.iter().find(|found| found.type_ == "Deleting");
    let message = "1 machine deployments, 2 machine sets and 3 machines are left";
    assert_eq!(deleting.unwrap().message, message);
    check(
        &leaving(good()),
        ClusterPhase::Deleting,
        (true, true),
        "Deleting=True/DeletionCompleted Available=False/NotAvailable",
    );
}

#[test]
fn a_pause_is_told_and_nothing_is_written_into_the_spec() {
    let paused = Seen {
        pause: Some("its spec says so"),
        infrastructure: with_endpoint("api.example.com", 6443),
        ..change(good(), |cluster| cluster.spec.control_plane_endpoint = None)
    };
    check(
        &paused,
        ClusterPhase::Provisioning,
        (true, true),
        "Paused=True/Paused Available=True/Available",
    );
    assert_eq!(missing_endpoint(&paused), None);
}

#[test]
fn others_can_have_a_say_in_whether_a_cluster_is_available() {
    let gates = json!([{"conditionType": "Fast"}, {"conditionType": "Broken", "polarity": "Negative"}]);
    for (conditions, expected) in [
        (json!([]), "Available=Unknown/AvailableUnknown"),
        (json!([condition("Fast", "True")]), "Available=Unknown/AvailableUnknown"),
        (
            json!([condition("Fast", "True"), condition("Broken", "False")]),
            "Available=True/Available",
        ),
        (
            json!([condition("Fast", "True"), condition("Broken", "True")]),
            "Available=False/NotAvailable",
        ),
        (
            json!([condition("Fast", "False"), condition("Broken", "False")]),
            "Available=False/NotAvailable",
        ),
    ] {
        let gated = change(good(), |cluster| {
            cluster.spec.availability_gates = hyperplane_objects::read(&gates).unwrap();
            cluster.status = Some(hyperplane_objects::read(json!({"conditions": conditions})).unwrap());
        });
        check(&gated, ClusterPhase::Provisioned, (true, true), expected);
    }
}

fn with_endpoint(host: &str, port: i32) -> Referred<Infrastructure> {
    let endpoint = endpoint::ApiEndpoint {
        host: host.to_owned(),
        port,
    };
    let status = InfrastructureStatus {
        ready: true,
        ..InfrastructureStatus::default()
    };
    Referred::Present(Infrastructure::new(Some(&status), Some(&endpoint)))
}

#[test]
fn an_endpoint_is_filled_in_once_and_only_where_the_spec_takes_it() {
    let known = json!({"initialized": true, "controlPlaneEndpoint": {"host": "control.example.com", "port": 443}});
    let of_control_plane = ("control.example.com", 443);
    let host = "a".repeat(513);
    for (infrastructure, expected) in [
        (gone(), of_control_plane),
        (infrastructure(&json!({})), of_control_plane),
        (
            with_endpoint("infrastructure.example.com", 6443),
            ("infrastructure.example.com", 6443),
        ),
        (with_endpoint("", 6443), of_control_plane),
        (with_endpoint("a.example.com", 0), of_control_plane),
        (with_endpoint("a.example.com", 65536), of_control_plane),
        (with_endpoint("a.example.com", -1), of_control_plane),
        (with_endpoint(&host, 6443), of_control_plane),
    ] {
        let unset = Seen {
            infrastructure,
            control_plane: control_plane(&known),
            ..change(good(), |cluster| cluster.spec.control_plane_endpoint = None)
        };
        let expected = ApiEndpoint {
            host: Some(expected.0.to_owned()),
            port: Some(expected.1),
        };
        assert_eq!(missing_endpoint(&unset), Some(expected), "{:?}", unset.infrastructure);
        assert_eq!(missing_endpoint(&leaving(unset)), None);
    }
    let given = Seen {
        control_plane: control_plane(&known),
        ..good()
    };
    assert_eq!(missing_endpoint(&given), None, "what is there stays");
    let nowhere = change(good(), |cluster| cluster.spec.control_plane_endpoint = None);
    assert_eq!(missing_endpoint(&nowhere), None);
}
