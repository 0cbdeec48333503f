//! The twin as the kubelets of a cluster that has controllers of its own.

use std::time::Duration;

use hyperplane_twin::Mode;
use k8s_openapi::api::{
    apps::v1::{Deployment, ReplicaSet},
    core::v1::{PersistentVolume, PersistentVolumeClaim, Pod, Service},
};
use kube::{
    Api,
    api::{DeleteParams, ListParams},
};
use serde_json::{Value, json};

use crate::support::{NAMESPACE, World, deployment, is_ready, names};

fn service(name: &str, labels: &Value) -> Value {
    json!({"metadata": {"name": name, "labels": labels}, "spec": {
        "type": "LoadBalancer", "selector": {"app": name}, "ports": [{"port": 80}]}})
}

fn has_address(service: &Service) -> bool {
    let status = service.status.as_ref().and_then(|status| status.load_balancer.as_ref());
    status.is_some_and(|status| status.ingress.as_ref().is_some_and(|ingress| !ingress.is_empty()))
}

#[tokio::test(start_paused = true)]
async fn real_controllers_do_their_part() {
    let world = World::with(|settings| settings.mode = Mode::Kubelet).await;
    world.create::<Deployment>(deployment("web", 1, "web:1")).await;
    let pod = |name: &str, node: Option<&str>| {
        json!({"metadata": {"name": name}, "spec": {"nodeName": node, "containers": [{"name": "main", "image": "a:1"}],
            "tolerations": [{"operator": "Exists"}]}})
    };
    world.create::<Pod>(pod("placed", Some("twin-1"))).await;
    world.create::<Pod>(pod("waiting", None)).await;
    world.until(NAMESPACE, "placed", is_ready).await;
    world.pass(Duration::from_mins(5)).await;
    let waiting = world.api::<Pod>(NAMESPACE).get("waiting").await.unwrap();
    assert!(
        waiting.spec.unwrap().node_name.is_none(),
        "nobody else's scheduler is played"
    );
    let sets = world
        .api::<ReplicaSet>(NAMESPACE)
        .list(&ListParams::default())
        .await
        .unwrap();
    assert!(sets.items.is_empty());
    world
        .api::<Pod>(NAMESPACE)
        .delete("placed", &DeleteParams::default())
        .await
        .unwrap();
    world.pass(Duration::from_mins(1)).await;
    assert_eq!(
        names(&world.pods(NAMESPACE, "").await),
        ["waiting"],
        "the kubelet ends it, and it is gone"
    );
}

#[tokio::test(start_paused = true)]
async fn only_hyperplane_gets_what_a_cloud_would_give() {
    let world = World::with(|settings| settings.mode = Mode::Kubelet).await;
    let ours = json!({"app.kubernetes.io/managed-by": "hyperplane"});
    world.create::<Service>(service("ours", &ours)).await;
    world.create::<Service>(service("theirs", &json!({}))).await;
    for (name, labels) in [("ours", &ours), ("theirs", &json!({}))] {
        let claim = json!({"metadata": {"name": name, "labels": labels}, "spec": {
            "accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}});
        world.create::<PersistentVolumeClaim>(claim).await;
    }
    world.until(NAMESPACE, "ours", has_address).await;
    world.pass(Duration::from_mins(5)).await;
    assert!(!has_address(
        &world.api::<Service>(NAMESPACE).get("theirs").await.unwrap()
    ));
    let volumes: Api<PersistentVolume> = Api::all(world.client.clone());
    let volumes = volumes.list(&ListParams::default()).await.unwrap().items;
    let claimed: Vec<_> = volumes
        .iter()
        .filter_map(|volume| volume.spec.as_ref()?.claim_ref.as_ref()?.name.clone())
        .collect();
    assert_eq!(claimed, ["ours"]);
}
