//! The life of a cluster: everything is made, nothing is written while nothing happens, and every change is followed.

use std::time::Duration;

use hyperplane_api::{
    cluster_api::cluster::Cluster,
    constants::{
        annotations,
        objects::{keys, kubeconfigs, roles},
        ours,
    },
    hypershift::hosted_cluster::HostedCluster,
    infrastructure::kubevirt_cluster::KubevirtCluster,
};
use k8s_openapi::api::{
    core::v1::{Secret, ServiceAccount},
    networking::v1::NetworkPolicy,
    rbac::v1::{Role, RoleBinding},
};
use serde_json::json;
use tokio::time::sleep;

use crate::{
    samples::IMAGE,
    world::{HOME, World},
};

const INSIDE: &str = "clusters-blue";

#[tokio::test(start_paused = true)]
async fn everything_is_made_for_a_new_cluster() {
    let (world, process) = World::settled(json!({})).await;
    assert_eq!(world.refusals(), [] as [&str; 0]);
    let cluster = world.hosted_cluster("blue").await;
    assert!(cluster.spec.infra_id.is_some() && cluster.spec.cluster_id.is_some());
    let namespace = world.namespace(INSIDE).await.unwrap();
    let labels = namespace.metadata.labels.unwrap();
    assert_eq!(labels["hypershift.openshift.io/hosted-control-plane"], "true");
    assert_eq!(labels["pod-security.kubernetes.io/enforce"], "restricted");
    let annotations = namespace.metadata.annotations.unwrap();
    assert_eq!(
        Some(&annotations[ours::CLAIMED_BY.as_str()]),
        cluster.metadata.uid.as_ref()
    );
    assert_eq!(annotations[annotations::DEFAULT_SECURITY_CONTEXT_UID.as_str()], "1001");
    let control_plane = world.control_plane("blue").await.unwrap();
    assert_eq!(control_plane.spec.release_image, IMAGE);
    let pins = control_plane.metadata.annotations.unwrap();
    for key in [
        ours::RENDER_REVISION,
        ours::RENDER_IMAGE,
        ours::RENDER_ZONES,
        ours::RENDER_KUBERNETES,
    ] {
        assert!(pins.contains_key(key.as_str()), "{key}");
    }
    let kubernetes = &pins[ours::RENDER_KUBERNETES.as_str()];
    assert_eq!(
        kubernetes.matches(['.', '+']).count(),
        1,
        "a minor and no more: {kubernetes}"
    );
    assert_eq!(pins[annotations::DEFAULT_SECURITY_CONTEXT_UID.as_str()], "1001");
    for role in [
        roles::CONTROL_PLANE_OPERATOR,
        roles::PKI_OPERATOR,
        roles::CONFIG_OPERATOR,
    ] {
        assert!(world.get::<ServiceAccount>(INSIDE, role).await.is_some(), "{role}");
        assert!(world.get::<Role>(INSIDE, role).await.is_some(), "{role}");
        assert!(world.get::<RoleBinding>(INSIDE, role).await.is_some(), "{role}");
    }
    assert!(world.get::<NetworkPolicy>(INSIDE, "default-deny").await.is_some());
    assert!(world.get::<Secret>(INSIDE, "pull-secret").await.is_some());
    let conditions = world.conditions("blue").await;
    assert_eq!(conditions["ReconciliationSucceeded"].0, "True", "{conditions:#?}");
    assert_eq!(conditions["Progressing"].1, "Progressing");
    process.stop().await;
}

#[tokio::test(start_paused = true)]
async fn at_rest_after_a_touch_and_after_a_restart_nothing_is_written() {
    let kubevirt = json!({"spec": {"platform": {"type": "KubeVirt", "kubevirt": {}}}});
    for change in [json!({}), kubevirt] {
        let (world, process) = World::settled(change).await;
        let position = world.position();
        sleep(Duration::from_hours(5)).await;
        world
            .patch::<HostedCluster>(HOME, "blue", json!({"metadata": {"labels": {"touched": "yes"}}}))
            .await;
        world.settle().await;
        process.stop().await;
        let process = world.start();
        world.settle().await;
        sleep(Duration::from_hours(5)).await;
        assert_eq!(world.writes_since(position), [] as [&str; 0]);
        process.stop().await;
    }
}

#[tokio::test(start_paused = true)]
async fn kubevirt_gets_a_key_a_cluster_and_its_infrastructure() {
    let (world, process) = World::settled(json!({"spec": {"platform": {"type": "KubeVirt", "kubevirt": {}}}})).await;
    let cluster = world.hosted_cluster("blue").await;
    assert!(cluster.spec.platform.kubevirt.unwrap().generate_id.is_some());
    let key = world.get::<Secret>(HOME, "blue-etcd-encryption-key").await.unwrap();
    assert_eq!(key.data.unwrap()[keys::ENCRYPTION_KEY].0.len(), 32);
    assert!(world.get::<Secret>(INSIDE, "aescbc-active-key").await.is_some());
    let infra_id = cluster.spec.infra_id.unwrap();
    let stands = world.get::<Cluster>(INSIDE, infra_id.as_str()).await.unwrap();
    assert_eq!(stands.spec.paused, Some(false));
    let infrastructure = world.get::<KubevirtCluster>(INSIDE, infra_id.as_str()).await.unwrap();
    assert!(infrastructure.status.unwrap().ready);
    assert!(world.get::<NetworkPolicy>(INSIDE, "virt-launcher").await.is_some());
    process.stop().await;
}

#[tokio::test(start_paused = true)]
async fn copies_follow_their_originals() {
    let world = World::new().await;
    world.secret(HOME, "keys", json!({"id_rsa.pub": "first"})).await;
    world
        .cluster("blue", json!({"spec": {"sshKey": {"name": "keys"}}}))
        .await;
    let process = world.start();
    world.settle().await;
    let value = |secret: Secret| String::from_utf8(secret.data.unwrap()["id_rsa.pub"].0.clone()).unwrap();
    assert_eq!(value(world.get(INSIDE, "ssh-key").await.unwrap()), "first");
    world
        .patch::<Secret>(HOME, "keys", json!({"stringData": {"id_rsa.pub": "second"}}))
        .await;
    world.settle().await;
    assert_eq!(value(world.get(INSIDE, "ssh-key").await.unwrap()), "second");
    world
        .patch::<Secret>(INSIDE, "ssh-key", json!({"stringData": {"id_rsa.pub": "forged"}}))
        .await;
    world.settle().await;
    assert_eq!(value(world.get(INSIDE, "ssh-key").await.unwrap()), "second");
    world
        .patch::<HostedCluster>(HOME, "blue", json!({"spec": {"sshKey": {"name": ""}}}))
        .await;
    world.settle().await;
    assert!(world.get::<Secret>(INSIDE, "ssh-key").await.is_none());
    assert!(
        world.get::<Secret>(HOME, "keys").await.is_some(),
        "the original is the user's"
    );
    process.stop().await;
}

#[tokio::test(start_paused = true)]
async fn what_the_control_plane_reports_and_has_comes_to_the_user() {
    let (world, process) = World::settled(json!({})).await;
    let secret = json!({
        "metadata": {"name": kubeconfigs::ADMIN, "namespace": INSIDE,
            "labels": {ours::MANAGED_BY.as_str(): ours::MANAGED_BY_US},
            "annotations": {annotations::CLUSTER.as_str(): "clusters/blue"}},
        "stringData": {keys::KUBECONFIG: "a kubeconfig"},
    });
    world.create::<Secret>(Some(INSIDE), secret).await;
    let condition = json!({"type": "Available", "status": "True", "reason": "AsExpected", "message": "",
        "lastTransitionTime": "2027-01-15T08:00:00Z"});
    world
        .report(INSIDE, "blue", json!({"ready": true, "conditions": [condition]}))
        .await;
    world.settle().await;
    let cluster = world.hosted_cluster("blue").await;
    assert_eq!(
        cluster.metadata.annotations.unwrap()[annotations::HAS_BEEN_AVAILABLE.as_str()],
        "true"
    );
    assert_eq!(
        cluster.status.unwrap().kubeconfig.unwrap().name,
        "blue-admin-kubeconfig"
    );
    assert_eq!(world.conditions("blue").await["Available"].0, "True");
    let copy = world.get::<Secret>(HOME, "blue-admin-kubeconfig").await.unwrap();
    assert_eq!(copy.data.unwrap()[keys::KUBECONFIG].0, b"a kubeconfig");
    process.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_pause_is_handed_on_and_ends_by_itself() {
    let kubevirt = json!({"spec": {"platform": {"type": "KubeVirt", "kubevirt": {}}}});
    let (world, process) = World::settled(kubevirt).await;
    let end = "2027-01-15T12:00:00Z";
    world
        .patch::<HostedCluster>(HOME, "blue", json!({"spec": {"pausedUntil": end}}))
        .await;
    world.settle().await;
    assert_eq!(
        world.control_plane("blue").await.unwrap().spec.paused_until.as_deref(),
        Some(end)
    );
    let infra_id = world.hosted_cluster("blue").await.spec.infra_id.unwrap();
    let stands = world.get::<Cluster>(INSIDE, infra_id.as_str()).await.unwrap();
    assert_eq!(stands.spec.paused, Some(true));
    assert_eq!(world.conditions("blue").await["ReconciliationActive"].0, "False");
    let position = world.position();
    world.delete::<NetworkPolicy>(INSIDE, "kas").await;
    world.settle().await;
    assert_eq!(world.writes_since(position), [] as [&str; 0], "it is left alone");
    sleep(Duration::from_hours(5)).await;
    assert!(world.get::<NetworkPolicy>(INSIDE, "kas").await.is_some());
    let stands = world.get::<Cluster>(INSIDE, infra_id.as_str()).await.unwrap();
    assert_eq!(stands.spec.paused, Some(false));
    assert_eq!(world.conditions("blue").await["ReconciliationActive"].0, "True");
    process.stop().await;
}

#[tokio::test(start_paused = true)]
async fn an_invalid_cluster_gets_nothing_until_it_is_mended() {
    let (world, process) = World::settled(json!({"spec": {"pullSecret": {"name": "missing"}}})).await;
    let conditions = world.conditions("blue").await;
    assert_eq!(conditions["ValidConfiguration"].0, "False");
    assert_eq!(conditions["Progressing"].1, "Blocked");
    assert!(world.namespace(INSIDE).await.is_none());
    world
        .secret(HOME, "missing", json!({".dockerconfigjson": "{\"auths\":{}}"}))
        .await;
    world.settle().await;
    assert_eq!(world.conditions("blue").await["ValidConfiguration"].0, "True");
    assert!(world.control_plane("blue").await.is_some());
    process.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_release_and_a_restart_reach_the_control_plane() {
    let old = "hyperplane.dev/kubernetes:v1.35.4";
    let (world, process) = World::settled(json!({"spec": {"release": {"image": old}}})).await;
    let pins = |key: &'static str| {
        let world = &world;
        async move {
            world
                .control_plane("blue")
                .await
                .unwrap()
                .metadata
                .annotations
                .unwrap()
                .get(key)
                .cloned()
        }
    };
    let change = json!({"metadata": {"annotations": {annotations::RESTART_DATE.as_str(): "today"}}});
    world.patch::<HostedCluster>(HOME, "blue", change).await;
    world.settle().await;
    assert_eq!(pins(annotations::RESTART_DATE.as_str()).await.as_deref(), Some("today"));
    world
        .patch::<HostedCluster>(HOME, "blue", json!({"spec": {"controlPlaneRelease": {"image": IMAGE}}}))
        .await;
    world.settle().await;
    let control_plane = world.control_plane("blue").await.unwrap();
    assert_eq!(control_plane.spec.release_image, old);
    assert_eq!(control_plane.spec.control_plane_release_image.as_deref(), Some(IMAGE));
    assert_eq!(world.conditions("blue").await["Progressing"].0, "True");
    process.stop().await;
}
