//! What goes wrong, and how it is told.

use std::time::Duration;

use hyperplane_runtime::Store;
use hyperplane_twin::{Fault, FaultKind, FaultSelector, Images, Pace};
use k8s_openapi::api::{
    apps::v1::Deployment,
    core::v1::{ConfigMap, Pod, Secret},
};
use serde_json::{Value, json};

use crate::support::{NAMESPACE, World, deployment, is_ready, troubles};

fn pod(name: &str, container: Value, more: &Value) -> Value {
    let mut container = container;
    container["name"] = json!("main");
    if container["image"].is_null() {
        container["image"] = json!("a:1");
    }
    let mut spec = json!({"containers": [container]});
    if let Some(fields) = more.as_object() {
        for (field, value) in fields {
            spec[field] = value.clone();
        }
    }
    json!({"metadata": {"name": name}, "spec": spec})
}

async fn restarts(world: &World, name: &str) -> i32 {
    let pod = world.api::<Pod>(NAMESPACE).get(name).await.unwrap();
    pod.status.unwrap().container_statuses.unwrap()[0].restart_count
}

#[tokio::test(start_paused = true)]
async fn an_image_that_is_missing_holds_a_rollout() {
    let world = World::with(|settings| settings.images = Images::known(|image| image != "web:2")).await;
    world.create::<Deployment>(deployment("web", 3, "web:1")).await;
    let available = |deployment: &Deployment| deployment.status.as_ref().and_then(|status| status.available_replicas);
    world
        .until(NAMESPACE, "web", |deployment| available(deployment) == Some(3))
        .await;
    let image = json!({"spec": {"template": {"spec": {"containers": [{"name": "main", "image": "web:2"}]}}}});
    world.patch::<Deployment>("web", image).await;
    world.pass(Duration::from_mins(20)).await;
    let found = world.api::<Deployment>(NAMESPACE).get("web").await.unwrap();
    assert_eq!(available(&found), Some(2), "the bound on what may be missing holds");
    let conditions = found.status.unwrap().conditions.unwrap();
    let progressing = conditions
        .iter()
        .find(|condition| condition.type_ == "Progressing")
        .unwrap();
    assert_eq!(progressing.reason.as_deref(), Some("ProgressDeadlineExceeded"));
    let pods = world.pods(NAMESPACE, "app=web").await;
    assert!(pods.iter().any(|pod| troubles(pod).0 == "ImagePullBackOff"));
}

#[tokio::test(start_paused = true)]
async fn images_are_known_by_objects_that_name_them() {
    let is_known = |maps: &Store<ConfigMap>, image: &str| {
        let all = maps.all();
        let mut names = all.iter().filter_map(|map| map.data.as_ref()?.get("image"));
        names.any(|name| name == image)
    };
    let images = Images::watched(is_known).advising("write a ConfigMap");
    let world = World::with(|settings| settings.images = images).await;
    let container = json!({"image": "rare:1"});
    world.create::<Pod>(pod("early", container.clone(), &json!({}))).await;
    let found = world
        .until(NAMESPACE, "early", |pod: &Pod| troubles(pod).0 == "ImagePullBackOff")
        .await;
    let status = found.status.unwrap().container_statuses.unwrap().swap_remove(0);
    assert_eq!(
        status.state.unwrap().waiting.unwrap().message.unwrap(),
        "Back-off pulling image \"rare:1\": ErrImagePull: failed to pull and unpack image \"rare:1\": not found \
         (write a ConfigMap)"
    );
    let named = json!({"metadata": {"name": "named"}, "data": {"image": "rare:1"}});
    world.create::<ConfigMap>(named).await;
    world.until(NAMESPACE, "early", is_ready).await;
    world.create::<Pod>(pod("late", container, &json!({}))).await;
    world.until(NAMESPACE, "late", is_ready).await;
}

#[tokio::test(start_paused = true)]
async fn a_program_that_nobody_knows_still_needs_its_files() {
    let world = World::new().await;
    world
        .create::<Secret>(json!({"metadata": {"name": "keys"}, "stringData": {"there": "x"}}))
        .await;
    let volumes = json!({"volumes": [{"name": "keys", "secret": {"secretName": "keys"}}]});
    let container = |path: &str| {
        json!({"command": ["/manager"], "args": [format!("--file={path}")],
            "volumeMounts": [{"name": "keys", "mountPath": "/keys"}]})
    };
    world
        .create::<Pod>(pod("absent", container("/keys/absent"), &volumes))
        .await;
    for (name, path) in [("there", "/keys/there"), ("directory", "/keys"), ("own", "/etc/own")] {
        world.create::<Pod>(pod(name, container(path), &volumes)).await;
        world.until(NAMESPACE, name, is_ready).await;
    }
    let found = world
        .until(NAMESPACE, "absent", |pod: &Pod| troubles(pod).0 == "CrashLoopBackOff")
        .await;
    assert_eq!(
        troubles(&found).1,
        "Error: --file: open /keys/absent: no such file or directory"
    );
}

#[tokio::test(start_paused = true)]
async fn a_crash_loop_ends_after_some_time() {
    let world = World::new().await;
    world.faults.set(vec![Fault {
        selector: FaultSelector {
            pod: "shaky".to_owned(),
            ..FaultSelector::default()
        },
        kind: FaultKind::CrashLoop { times: 3 },
    }]);
    world.create::<Pod>(pod("shaky", json!({}), &json!({}))).await;
    world
        .until(NAMESPACE, "shaky", |pod| troubles(pod).0 == "CrashLoopBackOff")
        .await;
    world.until(NAMESPACE, "shaky", is_ready).await;
    assert_eq!(restarts(&world, "shaky").await, 3);
}

#[tokio::test(start_paused = true)]
async fn a_slow_start_takes_longer_and_nothing_else() {
    let world = World::with(|settings| settings.pace = Pace::instant()).await;
    world.faults.set(vec![Fault {
        selector: FaultSelector::default(),
        kind: FaultKind::SlowStart(Duration::from_mins(3)),
    }]);
    world.create::<Pod>(pod("slow", json!({}), &json!({}))).await;
    world.pass(Duration::from_mins(2)).await;
    let found = world.api::<Pod>(NAMESPACE).get("slow").await.unwrap();
    assert!(!is_ready(&found) && found.status.unwrap().phase.as_deref() == Some("Running"));
    world.until(NAMESPACE, "slow", is_ready).await;
    assert_eq!(restarts(&world, "slow").await, 0);
}

#[tokio::test(start_paused = true)]
async fn a_flag_that_does_not_exist_ends_the_program() {
    let world = World::new().await;
    let container = json!({"command": ["kube-scheduler"], "args": ["--no-such-flag=1"]});
    world.create::<Pod>(pod("wrong", container, &json!({}))).await;
    let found = world
        .until(NAMESPACE, "wrong", |pod: &Pod| troubles(pod).0 == "CrashLoopBackOff")
        .await;
    assert_eq!(troubles(&found).1, "Error: unknown flag: --no-such-flag");
}

#[tokio::test(start_paused = true)]
async fn a_program_is_not_executed_without_the_capability_of_its_file() {
    let world = World::new().await;
    for (name, capabilities, expected) in [
        (
            "dropped",
            json!({"drop": ["ALL"]}),
            "exec kube-apiserver: operation not permitted",
        ),
        (
            "added",
            json!({"drop": ["ALL"], "add": ["NET_BIND_SERVICE"]}),
            "Error: --etcd-servers is a required flag",
        ),
    ] {
        let container = json!({"command": ["kube-apiserver"], "securityContext": {"capabilities": capabilities}});
        world.create::<Pod>(pod(name, container, &json!({}))).await;
        let found = world
            .until(NAMESPACE, name, |pod: &Pod| troubles(pod).0 == "CrashLoopBackOff")
            .await;
        assert_eq!(troubles(&found).1, expected);
    }
}

#[tokio::test(start_paused = true)]
async fn a_pod_waits_for_what_it_mounts() {
    let world = World::new().await;
    let container = json!({"volumeMounts": [{"name": "keys", "mountPath": "/keys"}]});
    let volumes = json!({"volumes": [{"name": "keys", "secret": {"secretName": "keys"}}]});
    world.create::<Pod>(pod("waits", container, &volumes)).await;
    world.pass(Duration::from_mins(5)).await;
    let found = world.api::<Pod>(NAMESPACE).get("waits").await.unwrap();
    assert_eq!(troubles(&found).0, "ContainerCreating");
    world.create::<Secret>(json!({"metadata": {"name": "keys"}})).await;
    world.until(NAMESPACE, "waits", is_ready).await;
}

#[tokio::test(start_paused = true)]
async fn init_containers_go_first_and_wait_for_what_they_need() {
    let world = World::new().await;
    let init = json!({"initContainers": [
        {"name": "wait", "image": "a:1", "command": ["hyperplane"], "args": ["wait-for", "--tcp=web:80"]}]});
    world.create::<Pod>(pod("patient", json!({}), &init)).await;
    world.pass(Duration::from_mins(5)).await;
    let found = world.api::<Pod>(NAMESPACE).get("patient").await.unwrap();
    assert_eq!(troubles(&found).0, "PodInitializing");
    world.create::<Deployment>(deployment("web", 1, "web:1")).await;
    let service = json!({"metadata": {"name": "web"}, "spec": {"selector": {"app": "web"}, "ports": [{"port": 80}]}});
    world.create::<k8s_openapi::api::core::v1::Service>(service).await;
    world.until(NAMESPACE, "patient", is_ready).await;
}
