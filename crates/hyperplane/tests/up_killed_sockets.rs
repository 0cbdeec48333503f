//! `hyperplane up` that is killed in the middle of a roll, as by a power cut: the next start goes on where it was, and
//! nothing is lost or made twice.

use std::{collections::BTreeSet, path::Path, time::Duration};

use hyperplane_api::{
    cluster_api::machine::Machine,
    hypershift::{hosted_cluster::HostedCluster, node_pool::NodePool},
};
use k8s_openapi::api::core::v1::{Namespace, Secret};
use kube::{
    Api, Client,
    api::{ListParams, Patch, PatchParams, PostParams},
};
use serde_json::{Value, json};
use tokio::time::sleep;

use crate::apiserver::{Process, soon, text};

const EXAMPLE: &str = include_str!("../../../docs/examples/node-pools.yaml");
const CONTROL_PLANE: &str = "clusters-blue";
const OLD: &str = "1.35.8";
const NEW: &str = "1.36.4";
/// How often it is looked.
const LOOK: Duration = Duration::from_millis(200);

fn start(data: &Path) -> Process {
    Process::up(&["--data-dir", text(data), "--speed", "4"])
}

/// Makes what the example of the documentation says.
async fn make_example(client: &Client) {
    let documents: Vec<Value> = serde_saphyr::from_multiple(EXAMPLE).unwrap();
    for document in documents {
        let pools = Api::<NodePool>::namespaced(client.clone(), "clusters");
        let clusters = Api::<HostedCluster>::namespaced(client.clone(), "clusters");
        let secrets = Api::<Secret>::namespaced(client.clone(), "clusters");
        let namespaces = Api::<Namespace>::all(client.clone());
        let (parameters, kind) = (PostParams::default(), document["kind"].as_str().unwrap().to_owned());
        match kind.as_str() {
            "Namespace" => drop(namespaces.create(&parameters, &object(document)).await.unwrap()),
            "Secret" => drop(secrets.create(&parameters, &object(document)).await.unwrap()),
            "HostedCluster" => drop(clusters.create(&parameters, &object(document)).await.unwrap()),
            _ => drop(pools.create(&parameters, &object(document)).await.unwrap()),
        }
    }
}

fn object<K: serde::de::DeserializeOwned>(document: Value) -> K {
    hyperplane_objects::read(document).unwrap()
}

async fn machines(client: &Client) -> Vec<Machine> {
    let machines: Api<Machine> = Api::namespaced(client.clone(), CONTROL_PLANE);
    machines
        .list(&ListParams::default())
        .await
        .map(|list| list.items)
        .unwrap_or_default()
}

/// The names of the machines of a pool.
fn of_pool(machines: &[Machine], pool: &str) -> BTreeSet<String> {
    let prefix = format!("{pool}-");
    let names = machines.iter().map(kube::ResourceExt::name_any);
    names.filter(|name| name.starts_with(&prefix)).collect()
}

/// Waits until a pool says that all of its nodes have a version.
async fn until_version(client: &Client, pool: &str, version: &str) {
    let pools: Api<NodePool> = Api::namespaced(client.clone(), "clusters");
    let what = format!("pool {pool} in {version}");
    let looking = async {
        loop {
            let status = pools.get(pool).await.unwrap().status.unwrap_or_default();
            if status.version.as_deref() == Some(version) {
                return;
            }
            sleep(LOOK).await;
        }
    };
    soon(&what, looking).await;
}

#[tokio::test]
async fn a_roll_goes_on_after_a_kill() {
    let directory = tempfile::tempdir().unwrap();
    let data = directory.path().join("data");
    let first = start(&data);
    let client = first.client().await;
    make_example(&client).await;
    for pool in ["web", "batch"] {
        until_version(&client, pool, OLD).await;
    }
    let before = machines(&client).await;
    let pools: Api<NodePool> = Api::namespaced(client.clone(), "clusters");
    let patch = json!({"spec": {"release": {"image": format!("hyperplane.dev/kubernetes:v{NEW}")}}});
    pools
        .patch("web", &PatchParams::default(), &Patch::Merge(patch))
        .await
        .unwrap();
    let in_the_middle = async {
        while !machines(&client)
            .await
            .iter()
            .any(|machine| machine.metadata.deletion_timestamp.is_some())
        {
            sleep(LOOK).await;
        }
    };
    soon("a machine that is being replaced", in_the_middle).await;
    let (status, _) = first.end("-KILL");
    assert!(!status.success());

    let second = start(&data);
    let client = second.client().await;
    until_version(&client, "web", NEW).await;
    let settled = async {
        loop {
            let now = machines(&client).await;
            if of_pool(&now, "web").len() == 3 && now.iter().all(|it| it.metadata.deletion_timestamp.is_none()) {
                return now;
            }
            sleep(LOOK).await;
        }
    };
    let after = soon("three machines of web", settled).await;
    assert!(
        of_pool(&before, "web").is_disjoint(&of_pool(&after, "web")),
        "all machines of web are new"
    );
    assert_eq!(
        of_pool(&before, "batch"),
        of_pool(&after, "batch"),
        "batch is as it was"
    );
    let (status, _) = second.end("-TERM");
    assert!(status.success());
}
