//! Hosted API servers, reached in memory with the kubeconfig that operators use.

use std::time::Duration;

use k8s_openapi::api::{
    apps::v1::{Deployment, StatefulSet},
    core::v1::{ConfigMap, Namespace, PersistentVolumeClaim, Pod, Secret, Service},
};
use kube::{
    Api, Client, ResourceExt,
    api::{DeleteParams, ListParams, Patch, PatchParams, PostParams},
};
use serde_json::json;

use crate::{
    control_plane::{self, Authority, INTERNAL, NAMED, NAMESPACE, kubeconfig, secrets},
    support::{World, from, is_ready, troubles},
};

pub(crate) fn is_available(deployment: &Deployment) -> bool {
    deployment.status.as_ref().is_some_and(|status| {
        status.observed_generation == deployment.metadata.generation
            && status.available_replicas == deployment.spec.as_ref().unwrap().replicas
            && status.updated_replicas == status.replicas
    })
}

/// A world with a control plane in it, but for the controller manager.
pub(crate) async fn control_plane() -> (World, Authority) {
    control_plane_in(World::new().await).await
}

/// The same in a world of one's own.
pub(crate) async fn control_plane_in(world: World) -> (World, Authority) {
    let root = Authority::new(world.clock.now(), "root");
    world.namespace(NAMESPACE).await;
    for secret in secrets(&root, &["kube-apiserver.clusters-a.svc"]) {
        world.create::<Secret>(secret).await;
    }
    world.create::<StatefulSet>(control_plane::etcd()).await;
    world
        .create::<Service>(control_plane::service("etcd", "ClusterIP", 2379))
        .await;
    world
        .create::<Service>(control_plane::service("kube-apiserver", "LoadBalancer", 6443))
        .await;
    world.create::<Deployment>(control_plane::api_server("v1.35.2")).await;
    world.until(NAMESPACE, "kube-apiserver", is_available).await;
    (world, root)
}

pub(crate) async fn client(world: &World, root: &Authority, server: &str) -> Client {
    let text = kubeconfig(server, &root.certificate, &root.administrator());
    world.network.reach().client(text.as_bytes()).await.unwrap()
}

async fn write(client: &Client, name: &str) {
    let map: ConfigMap = from(json!({"metadata": {"name": name}}));
    let maps: Api<ConfigMap> = Api::namespaced(client.clone(), "default");
    maps.create(&PostParams::default(), &map).await.unwrap();
}

async fn has(client: &Client, name: &str) -> bool {
    let maps: Api<ConfigMap> = Api::namespaced(client.clone(), "default");
    maps.get_opt(name).await.unwrap().is_some()
}

#[tokio::test(start_paused = true)]
async fn the_kubeconfig_of_a_hosted_cluster_works() {
    let (world, root) = control_plane().await;
    let hosted = client(&world, &root, INTERNAL).await;
    assert_eq!(hosted.apiserver_version().await.unwrap().git_version, "v1.35.2");
    write(&hosted, "a").await;
    let kubernetes: Api<Service> = Api::namespaced(hosted.clone(), "default");
    let service = kubernetes.get("kubernetes").await.unwrap();
    assert_eq!(service.spec.unwrap().cluster_ip.as_deref(), Some("172.31.0.1"));
    // Another authority's administrator is nobody here.
    let stranger = Authority::new(world.clock.now(), "stranger");
    let text = kubeconfig(INTERNAL, &root.certificate, &stranger.administrator());
    let stranger = world.network.reach().client(text.as_bytes()).await.unwrap();
    let error = Api::<Namespace>::all(stranger).get("default").await.unwrap_err();
    assert!(matches!(error, kube::Error::Api(status) if status.code == 401));
    // Whoever is not shown a certificate for the name that they asked for goes away.
    let other = client(
        &world,
        &root,
        "https://kube-apiserver.clusters-a.svc.cluster.local:6443",
    )
    .await;
    assert!(other.apiserver_version().await.is_err());
}

#[tokio::test(start_paused = true)]
async fn a_name_of_its_own_has_a_certificate_of_its_own() {
    let (world, root) = control_plane().await;
    let text = kubeconfig(INTERNAL, &root.certificate, &root.administrator());
    let text = text.replace("server:", &format!("tls-server-name: {NAMED}\n    server:"));
    let named = world.network.reach().client(text.as_bytes()).await.unwrap();
    assert_eq!(named.apiserver_version().await.unwrap().git_version, "v1.35.2");
}

#[tokio::test(start_paused = true)]
async fn a_router_leads_by_name() {
    let (world, root) = control_plane().await;
    for object in control_plane::router() {
        match object["kind"].as_str() {
            Some("ConfigMap") => drop(world.create::<ConfigMap>(object).await),
            Some("Service") => drop(world.create::<Service>(object).await),
            _ => drop(world.create::<Deployment>(object).await),
        }
    }
    world.until(NAMESPACE, "router", is_available).await;
    world
        .until(NAMESPACE, "router", |service: &Service| service.status.is_some())
        .await;
    world.pass(Duration::from_secs(10)).await;
    let named = client(&world, &root, &format!("https://{NAMED}")).await;
    assert_eq!(named.apiserver_version().await.unwrap().git_version, "v1.35.2");
    let unknown = client(&world, &root, "https://other.a.example").await;
    assert!(unknown.apiserver_version().await.is_err());
}

#[tokio::test(start_paused = true)]
async fn data_outlives_pods_and_goes_with_the_volumes() {
    let (world, root) = control_plane().await;
    let hosted = client(&world, &root, INTERNAL).await;
    write(&hosted, "a").await;
    let mut server = control_plane::api_server("v1.36.0");
    server["spec"]["strategy"] = json!({"type": "Recreate", "rollingUpdate": null});
    let change = json!({"spec": server["spec"]});
    let api = world.api::<Deployment>(NAMESPACE);
    api.patch("kube-apiserver", &PatchParams::default(), &Patch::Merge(change))
        .await
        .unwrap();
    world.until(NAMESPACE, "kube-apiserver", is_available).await;
    assert!(has(&hosted, "a").await, "the same client goes on with other replicas");
    assert_eq!(hosted.apiserver_version().await.unwrap().git_version, "v1.36.0");
    world
        .api::<Deployment>(NAMESPACE)
        .delete("kube-apiserver", &DeleteParams::default())
        .await
        .unwrap();
    world
        .api::<StatefulSet>(NAMESPACE)
        .delete("etcd", &DeleteParams::default())
        .await
        .unwrap();
    world.pass(Duration::from_mins(5)).await;
    assert!(hosted.apiserver_version().await.is_err(), "nothing answers");
    world
        .api::<PersistentVolumeClaim>(NAMESPACE)
        .delete("data-etcd-0", &DeleteParams::default())
        .await
        .unwrap();
    world.pass(Duration::from_mins(5)).await;
    world.create::<StatefulSet>(control_plane::etcd()).await;
    world.create::<Deployment>(control_plane::api_server("v1.36.0")).await;
    world.until(NAMESPACE, "kube-apiserver", is_available).await;
    assert!(!has(&hosted, "a").await, "another volume is another cluster");
}

#[tokio::test(start_paused = true)]
async fn controllers_work_while_a_controller_manager_does() {
    let (world, root) = control_plane().await;
    let hosted = client(&world, &root, INTERNAL).await;
    let namespaces: Api<Namespace> = Api::all(hosted.clone());
    let namespace: Namespace = from(json!({"metadata": {"name": "a"}}));
    namespaces.create(&PostParams::default(), &namespace).await.unwrap();
    world.pass(Duration::from_mins(5)).await;
    let roots: Api<ConfigMap> = Api::namespaced(hosted.clone(), "a");
    assert!(
        roots.get_opt("kube-root-ca.crt").await.unwrap().is_none(),
        "nobody is there to do it"
    );
    world.create::<Deployment>(control_plane::controller_manager()).await;
    world.until(NAMESPACE, "kube-controller-manager", is_available).await;
    world.pass(Duration::from_secs(10)).await;
    let published = roots.get("kube-root-ca.crt").await.unwrap().data.unwrap();
    assert_eq!(published["ca.crt"], root.certificate);
}

#[tokio::test(start_paused = true)]
async fn a_new_serving_certificate_is_shown_without_a_restart() {
    let (world, root) = control_plane().await;
    let other = Authority::new(world.clock.now(), "other");
    let leaf = other.serving(&["kube-apiserver.clusters-a.svc"]);
    let data = json!({"stringData": {"tls.crt": leaf.certificate, "tls.key": leaf.key}});
    let api = world.api::<Secret>(NAMESPACE);
    api.patch("server", &PatchParams::default(), &Patch::Merge(data))
        .await
        .unwrap();
    world.pass(Duration::from_mins(1)).await;
    let text = kubeconfig(INTERNAL, &other.certificate, &root.administrator());
    let hosted = world.network.reach().client(text.as_bytes()).await.unwrap();
    hosted.apiserver_version().await.unwrap();
    let pods = world.pods(NAMESPACE, "app=kube-apiserver").await;
    assert!(pods.len() == 2 && pods.iter().all(is_ready));
    assert_eq!(pods.iter().map(restarts).sum::<i32>(), 0);
}

fn restarts(pod: &Pod) -> i32 {
    let statuses = pod
        .status
        .as_ref()
        .and_then(|status| status.container_statuses.as_ref());
    statuses.into_iter().flatten().map(|status| status.restart_count).sum()
}

#[tokio::test(start_paused = true)]
async fn a_key_that_does_not_fit_ends_the_server() {
    let (world, root) = control_plane().await;
    let data = json!({"stringData": {"tls.key": root.key}});
    let api = world.api::<Secret>(NAMESPACE);
    api.patch("server", &PatchParams::default(), &Patch::Merge(data))
        .await
        .unwrap();
    let name = world.pods(NAMESPACE, "app=kube-apiserver").await[0].name_any();
    let pod = world
        .until(NAMESPACE, &name, |pod: &Pod| troubles(pod).0 == "CrashLoopBackOff")
        .await;
    assert!(
        troubles(&pod).1.starts_with("Error: --tls-cert-file:"),
        "{}",
        troubles(&pod).1
    );
}

#[tokio::test(start_paused = true)]
async fn at_rest_a_hosted_cluster_writes_nothing() {
    let (world, root) = control_plane().await;
    world.create::<Deployment>(control_plane::controller_manager()).await;
    world.until(NAMESPACE, "kube-controller-manager", is_available).await;
    world.pass(Duration::from_hours(3)).await;
    let hosted = client(&world, &root, INTERNAL).await;
    let revisions = async || {
        let inside = Api::<Namespace>::all(hosted.clone())
            .list(&ListParams::default())
            .await
            .unwrap();
        (world.revision().await, inside.metadata.resource_version)
    };
    let before = revisions().await;
    world.pass(Duration::from_hours(3)).await;
    assert_eq!(revisions().await, before);
}
