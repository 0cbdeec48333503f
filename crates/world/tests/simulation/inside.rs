//! What is told of the inside of a hosted cluster, and what is left of it elsewhere when it goes.

use std::time::Duration;

use hyperplane_api::{
    constants::{annotations, conditions::hosted_control_plane as types, ours},
    hypershift::version_status::UpdateState,
};
use k8s_openapi::api::{
    admissionregistration::v1::ValidatingAdmissionPolicy,
    core::v1::{Node, PersistentVolumeClaim, Service},
};
use kube::{
    Api, ResourceExt,
    api::{Patch, PatchParams, PostParams},
};
use serde_json::{Value, json};
use tokio::time::sleep;

use crate::{
    ground::{Ground, NEW, merge, single},
    look,
};

const INSIDE: &str = "clusters-one";
const PATCH_BEFORE: &str = "1.36.3";

async fn settled(ground: &Ground, version: &str, change: &Value) {
    let mut manifest = single();
    let image = format!("hyperplane.dev/kubernetes:v{version}");
    merge(&mut manifest, &json!({"spec": {"release": {"image": image}}}));
    merge(&mut manifest, change);
    ground.cluster("one", manifest).await;
    ground.until_condition("one", "Available", "True").await;
    ground.until_version("one", version).await;
}

/// The API server of the release before already answers in the version of the next patch's minor, so that only the control
/// plane itself can tell how far it is.
#[tokio::test(start_paused = true)]
async fn a_patch_is_complete_when_its_pods_have_moved_and_not_before() {
    let ground = Ground::new(41).await;
    let operators = ground.start().await;
    settled(&ground, PATCH_BEFORE, &json!({})).await;
    ground.change("one", json!({"spec": {"release": {"image": NEW}}})).await;
    let (partial, completed) = (
        format!("1.36.4 {:?}", UpdateState::Partial),
        format!("1.36.4 {:?}", UpdateState::Completed),
    );
    let mut was_partial = false;
    loop {
        let [control_plane, whole] = ground.histories("one").await;
        if whole.first() == Some(&completed) {
            assert_eq!(control_plane.first(), Some(&completed));
            let mut pods = ground.pods(INSIDE).await;
            // Pods that leave have done so for the new ones.
            pods.retain(|pod| pod.metadata.deletion_timestamp.is_none());
            pods.retain(|pod| !look::is_of(pod, NEW));
            let left: Vec<String> = pods.iter().map(ResourceExt::name_any).collect();
            assert_eq!(left, [""; 0], "these have not moved");
            break;
        }
        was_partial |= whole.first() == Some(&partial);
        sleep(Duration::from_secs(1)).await;
    }
    assert!(was_partial);
    operators.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_cluster_that_goes_removes_what_it_made_outside_of_itself() {
    let ground = Ground::new(42).await;
    let operators = ground.start().await;
    let asked = json!({"metadata": {"annotations": {annotations::CLEANUP_CLOUD_RESOURCES.as_str(): "true"}}});
    settled(&ground, "1.36.4", &asked).await;
    let hosted = ground.hosted("one").await;
    let services: Api<Service> = Api::namespaced(hosted.clone(), "default");
    let claims: Api<PersistentVolumeClaim> = Api::namespaced(hosted.clone(), "default");
    // Whoever made the load balancer holds the Service until it is gone.
    let balanced = json!({"metadata": {"name": "web", "finalizers": ["service.kubernetes.io/load-balancer-cleanup"]},
        "spec": {"type": "LoadBalancer", "ports": [{"port": 80}]}});
    let internal = json!({"metadata": {"name": "internal"}, "spec": {"ports": [{"port": 80}]}});
    for service in [balanced, internal] {
        let service = hyperplane_objects::read(&service).unwrap();
        services.create(&PostParams::default(), &service).await.unwrap();
    }
    let claim = |name: &str| -> PersistentVolumeClaim {
        let spec = json!({"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}});
        hyperplane_objects::read(json!({"metadata": {"name": name}, "spec": spec})).unwrap()
    };
    claims.create(&PostParams::default(), &claim("data")).await.unwrap();
    ground.delete("one").await;
    let type_ = types::CLOUD_RESOURCES_DESTROYED.as_str();
    let told = async || {
        let found = ground.conditions("one").await.remove(type_)?;
        (found.reason == "RemainingCloudResources" && !found.message.contains("data")).then_some(found)
    };
    let told = ground.until("only the load balancer is left", told).await;
    assert_eq!(told.message, "Still there: Service default/web");
    assert!(
        services
            .get("internal")
            .await
            .unwrap()
            .metadata
            .deletion_timestamp
            .is_none()
    );
    // The embedded API server keeps policies and does not act on them.
    let policies: Api<ValidatingAdmissionPolicy> = Api::all(hosted);
    policies.get("hyperplane-ending").await.unwrap();
    let before = ground.embedded.clock.now();
    let released = Patch::Merge(json!({"metadata": {"finalizers": null}}));
    services.patch("web", &PatchParams::default(), &released).await.unwrap();
    ground.until_gone("one").await;
    let elapsed = ground.embedded.clock.now().duration_since(before);
    assert!(elapsed < Duration::from_mins(5).try_into().unwrap(), "{elapsed}");
    operators.stop().await;
}

#[tokio::test(start_paused = true)]
async fn nodes_without_a_network_plugin_are_told_what_to_install() {
    let ground = Ground::new(43).await;
    let operators = ground.start().await;
    settled(&ground, "1.36.4", &json!({})).await;
    let nodes: Api<Node> = Api::all(ground.hosted("one").await);
    let node: Node = hyperplane_objects::read(json!({"metadata": {"name": "worker"}})).unwrap();
    nodes.create(&PostParams::default(), &node).await.unwrap();
    let message = "container runtime network not ready: NetworkReady=false reason:NetworkPluginNotReady";
    let ready = json!({"type": "Ready", "status": "False", "reason": "KubeletNotReady", "message": message,
        "lastHeartbeatTime": "2027-01-15T08:00:00Z", "lastTransitionTime": "2027-01-15T08:00:00Z"});
    let status = Patch::Merge(json!({"status": {"conditions": [ready]}}));
    nodes
        .patch_status("worker", &PatchParams::default(), &status)
        .await
        .unwrap();
    let told = ground
        .until_condition("one", ours::NETWORK_PLUGIN_AVAILABLE.as_str(), "False")
        .await;
    assert!(
        told.message.contains("1 of 1 nodes") && told.message.contains("install"),
        "{told:?}"
    );
    operators.stop().await;
}
