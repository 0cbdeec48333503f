//! A member of etcd that keeps failing, seen by the operator alone: the Job that it makes, and what becomes of that.

use std::time::Duration;

use hyperplane_api::constants::{annotations, ours};
use k8s_openapi::api::{
    apps::v1::StatefulSet,
    batch::v1::Job,
    core::v1::{ConfigMap, Pod, Secret, ServiceAccount},
    rbac::v1::{Role, RoleBinding},
};
use kube::{
    Resource, ResourceExt as _,
    api::{Patch, PatchParams},
    core::NamespaceResourceScope,
};
use serde_json::{Value, json};
use tokio::time::sleep;

use crate::world::{Known, Process, World};

const INSIDE: &str = "clusters-blue";
const NAME: &str = "etcd-recovery";

/// What the operator finds by itself carries these.
fn metadata(name: &str) -> Value {
    json!({
        "name": name, "namespace": INSIDE, "labels": {ours::MANAGED_BY.as_str(): ours::MANAGED_BY_US, "app": "etcd"},
        "annotations": {annotations::CLUSTER.as_str(): "clusters/blue"},
    })
}

async fn status<K: Known + Resource<Scope = NamespaceResourceScope>>(world: &World, name: &str, status: Value) {
    let patch = Patch::Merge(json!({"status": status}));
    let api = world.api::<K>(INSIDE);
    api.patch_status(name, &PatchParams::default(), &patch).await.unwrap();
}

async fn members(world: &World, ready: i32) {
    let status_of_set = json!({"replicas": 3, "readyReplicas": ready});
    status::<StatefulSet>(world, "etcd", status_of_set).await;
}

/// A world whose member etcd-1 keeps failing.
async fn failing() -> (World, Process) {
    let policy = json!({"spec": {"controllerAvailabilityPolicy": "HighlyAvailable"}});
    let (world, process) = World::settled(policy).await;
    let data = json!({"etcd-client.crt": "a", "etcd-client.key": "b", "etcd-client-ca.crt": "c"});
    let secret = json!({"metadata": metadata("etcd-client-tls"), "stringData": data});
    world.create::<Secret>(Some(INSIDE), secret).await;
    let map = json!({"metadata": metadata("etcd-ca"), "data": {"ca.crt": "c"}});
    world.create::<ConfigMap>(Some(INSIDE), map).await;
    let spec = json!({"containers": [{"name": "etcd", "image": "etcd"}], "automountServiceAccountToken": false});
    let set = json!({"metadata": metadata("etcd"), "spec": {
        "replicas": 3, "serviceName": "etcd-discovery", "selector": {"matchLabels": {"app": "etcd"}},
        "template": {"metadata": {"labels": {"app": "etcd"}}, "spec": spec}}});
    world.create::<StatefulSet>(Some(INSIDE), set).await;
    for (number, is_ready) in ["True", "False", "True"].into_iter().enumerate() {
        let name = format!("etcd-{number}");
        world
            .create::<Pod>(Some(INSIDE), json!({"metadata": metadata(&name), "spec": spec}))
            .await;
        let state = json!({"waiting": {"reason": "CrashLoopBackOff"}});
        let container = json!({"name": "etcd", "image": "etcd", "imageID": "", "ready": false, "restartCount": 5,
            "state": state, "lastState": {"terminated": {"exitCode": 1, "finishedAt": "2027-01-15T08:30:00Z"}}});
        let conditions = json!([{"type": "Ready", "status": is_ready}]);
        let of_pod = json!({"phase": "Running", "conditions": conditions, "containerStatuses": [container]});
        status::<Pod>(&world, &name, of_pod).await;
    }
    members(&world, 2).await;
    world.settle().await;
    (world, process)
}

async fn ended(world: &World, type_: &str) {
    let time = "2027-01-15T09:00:00Z";
    let condition = |type_: &str| {
        json!({"type": type_, "status": "True", "reason": "Ended", "message": "it ended", "lastProbeTime": time,
            "lastTransitionTime": time})
    };
    // The server takes an end only after its announcement (kubernetes, pkg/apis/batch/validation).
    let before = if type_ == "Complete" {
        "SuccessCriteriaMet"
    } else {
        "FailureTarget"
    };
    let mut end = json!({"startTime": time, "conditions": [condition(before), condition(type_)]});
    if type_ == "Complete" {
        end["completionTime"] = time.into();
        end["succeeded"] = 1.into();
    }
    status::<Job>(world, NAME, end).await;
    world.settle().await;
}

async fn condition(world: &World) -> (String, String) {
    let (status, reason, _) = world.conditions("blue").await["EtcdRecoveryActive"].clone();
    (status, reason)
}

fn is(status: &str, reason: &str) -> (String, String) {
    (status.to_owned(), reason.to_owned())
}

#[tokio::test(start_paused = true)]
async fn a_job_is_made_for_it_and_goes_when_all_members_are_there() {
    let (world, process) = failing().await;
    let job = world.get::<Job>(INSIDE, NAME).await.unwrap();
    let pod = world.get::<Pod>(INSIDE, "etcd-1").await.unwrap();
    let arguments = job.spec.unwrap().template.spec.unwrap().containers[0]
        .args
        .clone()
        .unwrap();
    for expected in ["--name=etcd-1".to_owned(), format!("--uid={}", pod.uid().unwrap())] {
        assert!(arguments.contains(&expected), "{arguments:?}");
    }
    let role = world.get::<Role>(INSIDE, NAME).await.unwrap();
    let names = role.rules.unwrap().into_iter().filter_map(|rule| rule.resource_names);
    assert_eq!(names.flatten().collect::<Vec<_>>(), ["etcd-1", "data-etcd-1"]);
    assert_eq!(condition(&world).await, is("True", "AsExpected"));
    let position = world.position();
    sleep(Duration::from_mins(10)).await;
    assert_eq!(world.writes_since(position), [] as [&str; 0], "it is waited for");
    ended(&world, "Complete").await;
    assert!(world.get::<Job>(INSIDE, NAME).await.is_some(), "a member is missing");
    members(&world, 3).await;
    world.settle().await;
    assert!(world.get::<Job>(INSIDE, NAME).await.is_none());
    assert!(world.get::<Role>(INSIDE, NAME).await.is_none());
    assert!(world.get::<RoleBinding>(INSIDE, NAME).await.is_none());
    assert!(world.get::<ServiceAccount>(INSIDE, NAME).await.is_none());
    assert_eq!(condition(&world).await, is("False", "AsExpected"));
    assert_eq!(world.refusals(), [] as [&str; 0]);
    process.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_job_that_failed_is_left_and_told_until_somebody_removes_it() {
    let (world, process) = failing().await;
    ended(&world, "Failed").await;
    assert_eq!(condition(&world).await, is("False", "EtcdRecoveryJobFailed"));
    let before = world.get::<Job>(INSIDE, NAME).await.unwrap().uid();
    sleep(Duration::from_hours(3)).await;
    assert_eq!(world.get::<Job>(INSIDE, NAME).await.unwrap().uid(), before);
    world.delete::<Job>(INSIDE, NAME).await;
    world.settle().await;
    assert_ne!(world.get::<Job>(INSIDE, NAME).await.unwrap().uid(), before);
    assert_eq!(condition(&world).await, is("True", "AsExpected"));
    process.stop().await;
}
