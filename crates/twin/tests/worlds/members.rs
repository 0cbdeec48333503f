//! StatefulSets: one after the other, each with its volume.

use std::{fmt::Debug, time::Duration};

use k8s_openapi::{
    NamespaceResourceScope,
    api::{
        apps::v1::StatefulSet,
        core::v1::{ConfigMap, PersistentVolumeClaim, Pod},
    },
};
use kube::{
    Resource, ResourceExt,
    api::{DeleteParams, ListParams},
};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::support::{NAMESPACE, World, is_active, is_ready, names};

fn members(policy: &str) -> Value {
    json!({
        "metadata": {"name": "db"},
        "spec": {
            "replicas": 3, "serviceName": "db", "podManagementPolicy": policy,
            "selector": {"matchLabels": {"app": "db"}},
            "template": {
                "metadata": {"labels": {"app": "db"}},
                "spec": {"containers": [{"name": "main", "image": "db:1", "volumeMounts": [
                    {"name": "data", "mountPath": "/data"}]}]},
            },
            "volumeClaimTemplates": [{"metadata": {"name": "data"}, "spec": {
                "accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}}],
        },
    })
}

fn is_done(set: &StatefulSet) -> bool {
    set.status.as_ref().is_some_and(|status| {
        status.observed_generation == set.metadata.generation
            && (status.ready_replicas, status.updated_replicas) == (Some(3), Some(3))
            && status.current_revision == status.update_revision
    })
}

#[tokio::test(start_paused = true)]
async fn members_come_one_after_the_other() {
    let world = World::new().await;
    world.create::<StatefulSet>(members("OrderedReady")).await;
    for _ in 0..600 {
        let pods = world.pods(NAMESPACE, "app=db").await;
        for (number, pod) in pods.iter().enumerate() {
            assert_eq!(pod.name_any(), format!("db-{number}"));
            assert!(
                number + 1 == pods.len() || is_ready(pod),
                "a member comes when those before it are ready"
            );
        }
        world.pass(Duration::from_millis(100)).await;
    }
    world.until(NAMESPACE, "db", is_done).await;
    let claims = world
        .api::<PersistentVolumeClaim>(NAMESPACE)
        .list(&ListParams::default())
        .await
        .unwrap()
        .items;
    assert_eq!(names(&claims), ["data-db-0", "data-db-1", "data-db-2"]);
    assert!(
        claims
            .iter()
            .all(|claim| claim.status.as_ref().unwrap().phase.as_deref() == Some("Bound"))
    );
}

#[tokio::test(start_paused = true)]
async fn members_roll_from_the_last_to_the_first_and_keep_their_volumes() {
    let world = World::new().await;
    world.create::<StatefulSet>(members("Parallel")).await;
    world.until(NAMESPACE, "db", is_done).await;
    let uids = |claims: Vec<PersistentVolumeClaim>| claims.iter().filter_map(ResourceExt::uid).collect::<Vec<_>>();
    let claims = world.api::<PersistentVolumeClaim>(NAMESPACE);
    let before = uids(claims.list(&ListParams::default()).await.unwrap().items);
    let image = json!({"spec": {"template": {"spec": {"containers": [{"name": "main", "image": "db:2",
        "volumeMounts": [{"name": "data", "mountPath": "/data"}]}]}}}});
    world.patch::<StatefulSet>("db", image).await;
    let mut order = Vec::new();
    for _ in 0..1200 {
        let pods = world.pods(NAMESPACE, "app=db").await;
        let serving = pods.iter().filter(|pod| is_active(pod) && is_ready(pod)).count();
        assert!(serving >= 2, "one at a time: {serving}");
        for pod in pods.iter().filter(|pod| is_new(pod)) {
            if !order.contains(&pod.name_any()) {
                order.push(pod.name_any());
            }
        }
        world.pass(Duration::from_millis(100)).await;
    }
    world.until(NAMESPACE, "db", is_done).await;
    assert_eq!(order, ["db-2", "db-1", "db-0"]);
    assert_eq!(uids(claims.list(&ListParams::default()).await.unwrap().items), before);
}

/// etcd as a control plane has it, as far as its start depends on the state and on the volume.
fn etcd() -> Value {
    let data = json!({"name": "data", "mountPath": "/data"});
    let reset = json!({"name": "reset-member", "image": "hyperplane:1", "command": ["hyperplane"],
        "args": ["etcd-reset-member", "--state=/state/initial-cluster-state", "--data-dir=/data", "--replicas=1"],
        "volumeMounts": [data, {"name": "state", "mountPath": "/state"}]});
    let mut set = members("Parallel");
    set["spec"]["replicas"] = json!(1);
    set["spec"]["template"]["spec"] = json!({
        "initContainers": [reset],
        "containers": [{"name": "etcd", "image": "etcd:1", "command": ["etcd"], "volumeMounts": [data]}],
        "volumes": [{"name": "state", "configMap": {"name": "state"}}],
    });
    set
}

async fn say(world: &World, state: &str) {
    let change = json!({"data": {"initial-cluster-state": state}});
    world.patch::<ConfigMap>("state", change).await;
}

async fn remove<K>(world: &World, name: &str)
where
    K: Resource<Scope = NamespaceResourceScope, DynamicType = ()> + Clone + Debug + DeserializeOwned,
{
    let api = world.api::<K>(NAMESPACE);
    api.delete(name, &DeleteParams::default()).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn an_etcd_that_never_formed_is_not_believed_to_have_been_there() {
    let world = World::new().await;
    let state = json!({"metadata": {"name": "state"}, "data": {"initial-cluster-state": "existing"}});
    world.create::<ConfigMap>(state).await;
    world.create::<StatefulSet>(etcd()).await;
    world.pass(Duration::from_mins(10)).await;
    let pod = world.api::<Pod>(NAMESPACE).get("db-0").await.unwrap();
    let status = pod.status.unwrap().init_container_statuses.unwrap().swap_remove(0);
    assert!(status.restart_count >= 3, "{status:?}");
    let last = status.last_state.unwrap().terminated.unwrap();
    assert_eq!(
        last.message.unwrap(),
        "the data of db-0 is gone, and no other member has it"
    );
    say(&world, "new").await;
    world.until(NAMESPACE, "db-0", is_ready).await;
    // Now there has been one: its volume lets another pod start, and without its volume none does.
    say(&world, "existing").await;
    world.pass(Duration::from_secs(10)).await;
    remove::<Pod>(&world, "db-0").await;
    world.pass(Duration::from_mins(2)).await;
    world.until(NAMESPACE, "db-0", is_ready).await;
    remove::<PersistentVolumeClaim>(&world, "data-db-0").await;
    remove::<Pod>(&world, "db-0").await;
    world.pass(Duration::from_mins(10)).await;
    let pod = world.api::<Pod>(NAMESPACE).get("db-0").await.unwrap();
    assert!(!is_ready(&pod), "nothing empty begins in its place");
}

fn is_new(pod: &Pod) -> bool {
    pod.spec.as_ref().unwrap().containers[0].image.as_deref() == Some("db:2")
}
