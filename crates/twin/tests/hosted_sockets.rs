//! Hosted API servers on sockets and on real time: the address that the load balancer of a Service shows is where
//! kubectl reaches them.
#![allow(
    clippy::unwrap_used,
    reason = "a test that finds something else than it expects has failed"
)]
#![allow(
    clippy::disallowed_methods,
    reason = "kubectl reads the clock of the machine, so this test has to as well"
)]

#[allow(dead_code, reason = "the other tests use all of it")]
mod control_plane;
#[path = "worlds/support.rs"]
#[allow(dead_code, reason = "the other tests use all of it")]
mod support;

use std::io::ErrorKind;

use control_plane::{Authority, NAMESPACE, kubeconfig, secrets};
use hyperplane_runtime::Reach;
use hyperplane_seams::Clock;
use hyperplane_twin::{Data, Listeners, Pace};
use jiff::Timestamp;
use k8s_openapi::api::{
    apps::v1::{Deployment, StatefulSet},
    core::v1::{ConfigMap, Event, Pod, Secret, Service},
};
use kube::{
    Api,
    api::{ListParams, Patch, PatchParams, PostParams},
};
use serde_json::{Value, json};
use support::{World, from, is_ready};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
};

fn address(service: &Service) -> Option<String> {
    service
        .status
        .as_ref()?
        .load_balancer
        .as_ref()?
        .ingress
        .as_ref()?
        .first()?
        .ip
        .clone()
}

fn is_available(deployment: &Deployment) -> bool {
    deployment
        .status
        .as_ref()
        .is_some_and(|status| status.available_replicas == Some(2))
}

async fn control_plane(world: &World, root: &Authority) -> String {
    world.namespace(NAMESPACE).await;
    world
        .create::<Service>(control_plane::service("kube-apiserver", "LoadBalancer", 6443))
        .await;
    let service = world
        .until(NAMESPACE, "kube-apiserver", |service| address(service).is_some())
        .await;
    let address = address(&service).unwrap();
    for secret in secrets(root, &["kube-apiserver.clusters-a.svc", &address]) {
        world.create::<Secret>(secret).await;
    }
    world.create::<StatefulSet>(control_plane::etcd()).await;
    world
        .create::<Service>(control_plane::service("etcd", "ClusterIP", 2379))
        .await;
    world.create::<Deployment>(control_plane::api_server("v1.36.0")).await;
    world.until(NAMESPACE, "kube-apiserver", is_available).await;
    address
}

#[tokio::test(flavor = "multi_thread")]
async fn kubectl_reaches_a_hosted_cluster_by_sockets_on_real_time() {
    let directory = tempfile::tempdir().unwrap();
    let mut world = World::at(Clock::reading(Timestamp::now), |settings| {
        settings.listeners = Listeners::Loopback;
        settings.data = Data::Directory(directory.path().join("hosted"));
        settings.pace = Pace::instant();
    })
    .await;
    let root = Authority::new(world.clock.now(), "root");
    let address = control_plane(&world, &root).await;
    let text = kubeconfig(
        &format!("https://{address}:6443"),
        &root.certificate,
        &root.administrator(),
    );
    let client = Reach::sockets().client(text.as_bytes()).await.unwrap();
    let map: ConfigMap = from(json!({"metadata": {"name": "a"}}));
    let maps: Api<ConfigMap> = Api::namespaced(client, "default");
    retried(async || maps.create(&PostParams::default(), &map).await).await;

    let file = directory.path().join("kubeconfig");
    std::fs::write(&file, &text).unwrap();
    assert_kubectl(&file, &["get", "configmap", "a", "-o", "name"], "configmap/a").await;

    world.restart().await;
    retried(async || maps.get("a").await).await;
}

/// A world on sockets that begins like every other one: what is random is the same in each.
async fn on_sockets() -> World {
    World::at(Clock::reading(Timestamp::now), |settings| {
        settings.listeners = Listeners::Loopback;
        settings.pace = Pace::instant();
    })
    .await
}

#[tokio::test(flavor = "multi_thread")]
async fn clusters_of_the_same_name_are_both_reached_by_sockets_on_real_time() {
    let mut addresses = Vec::new();
    let mut worlds = Vec::new();
    for name in ["first", "second"] {
        let world = on_sockets().await;
        let root = Authority::new(world.clock.now(), name);
        let address = control_plane(&world, &root).await;
        let server = format!("https://{address}:6443");
        let text = kubeconfig(&server, &root.certificate, &root.administrator());
        let client = Reach::sockets().client(text.as_bytes()).await.unwrap();
        let maps: Api<ConfigMap> = Api::namespaced(client, "default");
        let map: ConfigMap = from(json!({"metadata": {"name": name}}));
        retried(async || maps.create(&PostParams::default(), &map).await).await;
        addresses.push(address);
        worlds.push((world, maps, name));
    }
    assert_ne!(addresses[0], addresses[1]);
    for (_, maps, name) in &worlds {
        let all = maps.list(&ListParams::default()).await.unwrap();
        let ours = all.items.iter().filter_map(|map| map.metadata.name.as_deref());
        let ours: Vec<&str> = ours.filter(|name| *name != "kube-root-ca.crt").collect();
        assert_eq!(ours, [*name]);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_address_that_another_process_has_is_told_and_given_up_on_request_on_sockets() {
    let (first, second) = (on_sockets().await, on_sockets().await);
    let mut addresses = Vec::new();
    for world in [&first, &second] {
        world.namespace(NAMESPACE).await;
        world
            .create::<Service>(control_plane::service("kube-apiserver", "LoadBalancer", 6443))
            .await;
        let has_address = |service: &Service| address(service).is_some();
        let service = world.until(NAMESPACE, "kube-apiserver", has_address).await;
        addresses.push(address(&service).unwrap());
    }
    // As it is when the second comes back after the first has taken its address.
    show(&second, json!([{"ip": addresses[0], "ipMode": "VIP"}])).await;
    let events: Api<Event> = second.api(NAMESPACE);
    let event = retried(async || {
        let all = events
            .list(&ListParams::default())
            .await
            .map_err(|error| error.to_string())?;
        let mut all = all.items.into_iter();
        all.find(|event| event.reason.as_deref() == Some("AddressTaken"))
            .ok_or_else(|| "nobody is told".to_owned())
    });
    let note = event.await.message.unwrap();
    assert!(
        note.contains(&addresses[0]) && note.contains("kubectl patch service"),
        "{note}"
    );
    show(&second, json!(null)).await;
    let is_another = |service: &Service| address(service).is_some_and(|found| found != addresses[0]);
    second.until(NAMESPACE, "kube-apiserver", is_another).await;
}

/// Lets the status of the Service show other addresses.
async fn show(world: &World, ingress: Value) {
    let services: Api<Service> = world.api(NAMESPACE);
    let status = json!({"status": {"loadBalancer": {"ingress": ingress}}});
    services
        .patch_status("kube-apiserver", &PatchParams::default(), &Patch::Merge(status))
        .await
        .unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_program_that_listens_late_is_reached_by_sockets_on_real_time() {
    let world = World::at(Clock::reading(Timestamp::now), |settings| {
        settings.listeners = Listeners::Loopback;
        settings.pace = Pace::instant();
    })
    .await;
    world.namespace(NAMESPACE).await;
    world
        .create::<Service>(control_plane::service("ignition-server", "LoadBalancer", 9090))
        .await;
    let pod = json!({
        "metadata": {"name": "one", "namespace": NAMESPACE, "labels": {"app": "ignition-server"}},
        "spec": {"containers": [{"name": "main", "image": "ignition:1"}]},
    });
    world.create::<Pod>(pod).await;
    world.until(NAMESPACE, "one", is_ready).await;
    let service = world
        .until(NAMESPACE, "ignition-server", |service| address(service).is_some())
        .await;
    let address = format!("{}:9090", address(&service).unwrap());
    // Nothing changes on the cluster when a program begins to listen.
    let mut listener = world.network.listen(NAMESPACE, "one", 9090);
    tokio::spawn(async move {
        while let Some(mut connection) = listener.accept().await {
            connection.io.write_all(b"here").await.unwrap();
        }
    });
    let said = retried(async || {
        let mut stream = TcpStream::connect(&address).await?;
        let mut said = String::new();
        stream.read_to_string(&mut said).await.map(|_| said)
    });
    assert_eq!(said.await, "here");
}

/// Asks until it is answered: listeners open a moment after what is behind them is ready.
async fn retried<T, E: std::fmt::Debug>(ask: impl AsyncFn() -> Result<T, E>) -> T {
    let mut last = None;
    for _ in 0..100 {
        match ask().await {
            Ok(answer) => return answer,
            Err(error) => last = Some(error),
        }
        tokio::time::sleep(std::time::Duration::from_millis(100)).await;
    }
    panic!("nobody answers: {last:?}");
}

/// Runs kubectl, where there is one.
async fn assert_kubectl(kubeconfig: &std::path::Path, arguments: &[&str], expected: &str) {
    let run = tokio::process::Command::new("kubectl")
        .arg("--kubeconfig")
        .arg(kubeconfig)
        .args(arguments)
        .output();
    match run.await {
        Err(error) if error.kind() == ErrorKind::NotFound => {}
        output => {
            let output = output.unwrap();
            let answer = String::from_utf8_lossy(&output.stdout);
            assert_eq!(answer.trim(), expected, "{}", String::from_utf8_lossy(&output.stderr));
        }
    }
}
