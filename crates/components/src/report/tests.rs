//! Tables of how far a component has come.

use std::sync::Arc;

use hyperplane_api::constants::annotations;
use serde_json::{Value, json};

use super::{ComponentReport, report};
use crate::{
    decide::Decision,
    manifest::Workload,
    support::{World, component, settled_report},
};

fn deployment(rendered: &Workload, generation: i64, status: &Value) -> Workload {
    let Workload::Deployment(object) = rendered else {
        panic!("it is a Deployment")
    };
    let mut object = object.as_ref().clone();
    object.metadata.generation = Some(generation);
    object.status = hyperplane_objects::read(status).expect("it is a status");
    Workload::Deployment(Arc::new(object))
}

fn stateful_set(rendered: &Workload, generation: i64, status: &Value) -> Workload {
    let Workload::StatefulSet(object) = rendered else {
        panic!("it is a StatefulSet")
    };
    let mut object = object.as_ref().clone();
    object.metadata.generation = Some(generation);
    object.status = hyperplane_objects::read(status).expect("it is a status");
    Workload::StatefulSet(Arc::new(object))
}

fn reported(name: &str, live: impl Fn(&Workload) -> Option<Workload>) -> ComponentReport {
    let world = World::with(&json!({}));
    let rendered = world.rendered(name);
    let live = live(&rendered.workload);
    let decision = Decision::Apply(Box::new(rendered));
    let before = settled_report("1.35.0");
    report(
        component(name),
        &world.inputs(),
        &decision,
        live.as_ref(),
        Some(&before),
        None,
    )
}

#[test]
fn deployments() {
    let available = json!([{"type": "Available", "status": "True"}]);
    let unavailable = json!([{"type": "Available", "status": "False", "message": "too few"}]);
    let status = |observed: i64, all: i32, updated: i32, ready: i32, conditions: &Value| {
        json!({
            "observedGeneration": observed, "replicas": all, "updatedReplicas": updated, "availableReplicas": ready,
            "conditions": conditions,
        })
    };
    // The scheduler has two replicas.
    for (status, is_available, is_complete, message) in [
        (
            status(2, 2, 2, 2, &available),
            true,
            true,
            "All replicas run what is asked for",
        ),
        (status(1, 2, 2, 2, &available), true, false, "has not been looked at"),
        (
            status(2, 2, 1, 2, &available),
            true,
            false,
            "1 of 2 replicas are updated",
        ),
        (
            status(2, 2, 2, 1, &available),
            true,
            false,
            "1 of 2 replicas are available",
        ),
        (
            status(2, 3, 2, 2, &available),
            true,
            false,
            "1 old replicas are still there",
        ),
        (
            status(2, 2, 2, 0, &unavailable),
            false,
            false,
            "0 of 2 replicas are available",
        ),
        (json!({}), false, false, "has not been looked at"),
    ] {
        let found = reported("kube-scheduler", |rendered| Some(deployment(rendered, 2, &status)));
        assert_eq!(
            (found.available.holds, found.rollout_complete.holds),
            (is_available, is_complete),
            "{status}"
        );
        assert!(found.rollout_complete.message.contains(message), "{status}: {found:?}");
        let version = if is_complete { "1.36.4" } else { "1.35.0" };
        assert_eq!(found.version.as_deref(), Some(version), "{status}");
    }
}

#[test]
fn stateful_sets_serve_with_most_of_their_members() {
    let status = |ready: i32, current: &str, update: &str| {
        json!({
            "observedGeneration": 2, "replicas": 3, "readyReplicas": ready, "updatedReplicas": 1,
            "currentRevision": current, "updateRevision": update,
        })
    };
    for (status, is_available, is_complete) in [
        (status(3, "a", "a"), true, true),
        (status(3, "a", "b"), true, false),
        (status(2, "a", "a"), true, false),
        (status(1, "a", "a"), false, false),
    ] {
        let found = reported("etcd", |rendered| Some(stateful_set(rendered, 2, &status)));
        assert_eq!(
            (found.available.holds, found.rollout_complete.holds),
            (is_available, is_complete),
            "{status}"
        );
    }
}

#[test]
fn a_workload_that_is_not_there_or_is_old_is_not_rolled_out() {
    let absent = reported("kube-scheduler", |_| None);
    assert_eq!((absent.available.reason, absent.available.holds), ("NotFound", false));
    assert!(!absent.rollout_complete.holds);
    let old = reported("kube-scheduler", |rendered| {
        let status = json!({"observedGeneration": 2, "replicas": 2, "updatedReplicas": 2, "availableReplicas": 2});
        let mut live = deployment(rendered, 2, &status);
        let annotations = live.meta_mut().annotations.get_or_insert_default();
        annotations.insert(annotations::DESIRED_STATE_HASH.as_str().to_owned(), "old".to_owned());
        Some(live)
    });
    assert!(
        old.rollout_complete.message.contains("has not been seen yet"),
        "{old:?}"
    );
}

#[test]
fn errors_and_waits_are_told_and_what_serves_still_serves() {
    let world = World::with(&json!({}));
    let rendered = world.rendered("kube-scheduler");
    let status = json!({"observedGeneration": 2, "conditions": [{"type": "Available", "status": "True"}]});
    let live = deployment(&rendered.workload, 2, &status);
    let waiting = Decision::Waiting(vec!["etcd is not available".to_owned()]);
    let mut before = settled_report("1.35.0");
    before.resources = hyperplane_objects::read(json!([
        {"group": "apps", "kind": "Deployment", "name": "kube-scheduler"},
        {"group": "example.com", "kind": "Other", "name": "other"},
    ]))
    .expect("they are resources");
    for (error, reason, message) in [
        (None, "WaitingForDependencies", "etcd is not available"),
        (
            Some("the server refused it"),
            "ReconciliationError",
            "the server refused it",
        ),
    ] {
        let component = component("kube-scheduler");
        let found = report(component, &world.inputs(), &waiting, Some(&live), Some(&before), error);
        assert!(found.available.holds);
        assert_eq!(found.rollout_complete.reason, reason);
        assert!(found.rollout_complete.message.contains(message));
        assert_eq!(found.version.as_deref(), Some("1.35.0"));
        let names: Vec<&str> = found.resources.iter().map(|name| name.name.as_str()).collect();
        assert_eq!(names, ["kube-scheduler"]);
    }
}

#[test]
fn what_is_left_out_and_not_waited_for_is_said() {
    let world = World::with(&json!({"spec": {
        "etcd": {
            "managementType": "Unmanaged",
            "unmanaged": {"endpoint": "https://e:2379", "tls": {"clientSecret": {"name": "etcd-client-tls"}}},
        },
        "configuration": {"apiServer": {"audit": {"profile": "Everything"}}},
    }}));
    let decision = Decision::Apply(Box::new(world.rendered("kube-apiserver")));
    let message = world
        .report(component("kube-apiserver"), &decision)
        .rollout_complete
        .message;
    assert!(message.contains("Ignored: configuration.apiServer.audit"), "{message}");
    assert!(
        message.contains("Not waited for, as this control plane does not have it: etcd"),
        "{message}"
    );
}
