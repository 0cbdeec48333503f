//! What the operators write for a cluster, to the last object, recorded on its way to the embedded API server. Virtual
//! time: it takes no longer than the work in it.

use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex},
};

use http::{Method, Request};
use hyperplane_access::User;
use hyperplane_planner::release::Release;
use hyperplane_runtime::{IdentityMode, Manager};
use hyperplane_twin::Network;
use hyperplane_world::{
    ACCOUNT, BOOT_IMAGE, Embedded, MachineManager, NAMESPACE, OperatorSettings, Roles, discover, manager, surroundings,
};
use kube::{Client, client::Body};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;
use tower::{ServiceExt as _, service_fn};

use crate::both::{
    embedded,
    users::{Users, cluster},
};

/// The annotations that name images which no release of plain Kubernetes carries.
const IMAGES: &[(&str, &str)] = &[
    (
        "hypershift.openshift.io/capi-manager-image",
        "registry.example.com/cluster-api:v1",
    ),
    (
        "hypershift.openshift.io/capi-provider-kubevirt-image",
        "registry.example.com/kubevirt:v1",
    ),
    (
        "hypershift.openshift.io/capi-provider-agent-image",
        "registry.example.com/agent:v1",
    ),
];

type Record = Arc<Mutex<BTreeSet<String>>>;

/// All that is applied until such a cluster is available.
pub fn written(platform: &str, policy: &str, release: &Release) -> BTreeSet<String> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .start_paused(true)
        .build();
    runtime.unwrap().block_on(async {
        let (embedded, network) = embedded::start().await;
        let users = Users::settle(embedded.administrator()).await;
        users.create_namespace("hosts").await;
        let record = Record::default();
        let operators = operators(&embedded, &network, &record).await;
        let running = tokio::spawn(operators.run(CancellationToken::new()));
        let image = release.image.as_deref().unwrap();
        let mut manifest = cluster("one", image, &super::of(platform), policy);
        let images: Vec<&str> = IMAGES.iter().map(|(_, image)| *image).collect();
        users.create_images(&images).await;
        for (key, image) in IMAGES {
            manifest["metadata"]["annotations"][*key] = json!(image);
        }
        users.create_cluster(manifest).await;
        users.until_complete("one", release.version.number()).await;
        running.abort();
        let record = record.lock().unwrap();
        record.clone()
    })
}

/// The operators, each of whose applies is recorded.
async fn operators(embedded: &Embedded, network: &Network, record: &Record) -> Manager {
    let client = recording(embedded, record);
    let mut facts = discover(&client, &embedded.image).await.unwrap();
    facts.ingress_domain.clone_from(&embedded.ingress_domain);
    let settings = OperatorSettings {
        instance: "test".to_owned(),
        clock: embedded.clock.clone(),
        seed: embedded.seed,
        entropy: embedded.entropy.clone(),
        identity_mode: IdentityMode::Extension,
        lease: None,
        scope: None,
        facts,
        surroundings: surroundings(&client).await.unwrap(),
        machines: MachineManager::ClusterApi,
        boot_image: Some(BOOT_IMAGE.to_owned()),
        reach: network.reach(),
        elsewhere: network.reach(),
    };
    manager(client, &settings, Roles::All)
}

fn recording(embedded: &Embedded, record: &Record) -> Client {
    let server = embedded
        .server
        .in_process(User::service_account(NAMESPACE, ACCOUNT, ""));
    let record = Arc::clone(record);
    let service = service_fn(move |request: Request<Body>| {
        let (server, record) = (server.clone(), Arc::clone(&record));
        async move {
            let (parts, body) = request.into_parts();
            let body = body.collect_bytes().await.unwrap();
            let is_apply = parts.uri.query().is_some_and(|query| query.contains("fieldManager="));
            if parts.method == Method::PATCH && is_apply && is_whole(parts.uri.path(), &body) {
                record.lock().unwrap().insert(String::from_utf8(body.to_vec()).unwrap());
            }
            server
                .oneshot(Request::from_parts(parts, Body::from(body.to_vec())))
                .await
        }
    });
    Client::new(service, "default")
}

/// Whether an apply is a manifest: what names a uid adds to an object of somebody else, and a status follows its object.
fn is_whole(path: &str, body: &[u8]) -> bool {
    let object: Value = serde_json::from_slice(body).unwrap();
    !path.ends_with("/status") && object.pointer("/metadata/uid").is_none()
}
