//! Several tenants: neither's identity can read or write the other's namespace, and no namespace has two masters.

use std::time::Duration;

use hyperplane_access::User;
use hyperplane_api::{
    constants::{annotations, objects::roles},
    hypershift::{hosted_cluster::HostedCluster, hosted_control_plane::HostedControlPlane},
};
use k8s_openapi::api::{
    core::v1::{ConfigMap, Namespace, Secret},
    rbac::v1::RoleBinding,
};
use kube::{
    Api, Client,
    api::{ListParams, Patch, PatchParams, PostParams},
};
use serde_json::json;
use tokio::time::sleep;

use crate::world::{HOME, World};

fn is_forbidden<T>(answer: &kube::Result<T>) -> bool {
    matches!(answer, Err(kube::Error::Api(status)) if status.code == 403)
}

#[tokio::test(start_paused = true)]
async fn no_identity_of_a_tenant_reads_or_writes_the_others_namespace() {
    let world = World::new().await;
    for name in ["blue", "red"] {
        world.cluster(name, json!({})).await;
    }
    let process = world.start();
    world.settle().await;
    let (own, other) = ("clusters-blue", "clusters-red");
    for role in [
        roles::CONTROL_PLANE_OPERATOR,
        roles::PKI_OPERATOR,
        roles::CONFIG_OPERATOR,
    ] {
        let user = User::service_account(own, role, "1234");
        let client = Client::new(world.server.in_process(user), own);
        let mine: Api<Secret> = Api::namespaced(client.clone(), own);
        assert!(mine.list(&ListParams::default()).await.is_ok(), "{role}");
        let theirs: Api<Secret> = Api::namespaced(client.clone(), other);
        assert!(is_forbidden(&theirs.list(&ListParams::default()).await), "{role}");
        assert!(is_forbidden(&theirs.get("pull-secret").await), "{role}");
        let everywhere: Api<Secret> = Api::all(client.clone());
        assert!(is_forbidden(&everywhere.list(&ListParams::default()).await), "{role}");
        for namespace in [other, HOME, "kube-system"] {
            let maps: Api<ConfigMap> = Api::namespaced(client.clone(), namespace);
            let map: ConfigMap = hyperplane_objects::read(json!({"metadata": {"name": "intruder"}})).unwrap();
            assert!(
                is_forbidden(&maps.create(&PostParams::default(), &map).await),
                "{role} {namespace}"
            );
            let planes: Api<HostedControlPlane> = Api::namespaced(client.clone(), namespace);
            let change = Patch::Merge(json!({"metadata": {"labels": {"intruder": "yes"}}}));
            let answer = planes.patch("red", &PatchParams::default(), &change).await;
            assert!(is_forbidden(&answer), "{role} {namespace}");
        }
        let clusters: Api<HostedCluster> = Api::namespaced(client.clone(), HOME);
        assert!(is_forbidden(&clusters.get("blue").await), "{role}");
        let bindings: Api<RoleBinding> = Api::namespaced(client, other);
        assert!(is_forbidden(&bindings.list(&ListParams::default()).await), "{role}");
    }
    process.stop().await;
}

#[tokio::test(start_paused = true)]
async fn every_control_plane_has_a_user_of_its_own() {
    let world = World::new().await;
    for number in 0..6 {
        world.cluster(&format!("c{number}"), json!({})).await;
    }
    let process = world.start();
    world.settle().await;
    let mut users = Vec::new();
    for number in 0..6 {
        let namespace = world.namespace(&format!("clusters-c{number}")).await.unwrap();
        let annotations = namespace.metadata.annotations.unwrap();
        users.push(annotations[annotations::DEFAULT_SECURITY_CONTEXT_UID.as_str()].clone());
    }
    users.sort();
    assert_eq!(users, ["1001", "1002", "1003", "1004", "1005", "1006"]);
    process.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_namespace_has_one_master() {
    let world = World::new().await;
    world.cluster("b.c", json!({})).await;
    let process = world.start();
    world.settle().await;
    world.cluster("b-c", json!({})).await;
    world
        .create::<Namespace>(None, json!({"metadata": {"name": "clusters-foreign"}}))
        .await;
    world.cluster("foreign", json!({})).await;
    world.settle().await;
    for name in ["b-c", "foreign"] {
        let (status, _, message) = world.conditions(name).await["ValidConfiguration"].clone();
        assert_eq!(status, "False");
        assert!(message.contains("is taken"), "{message}");
    }
    let before = world.namespace("clusters-b-c").await.unwrap();
    for name in ["b-c", "foreign"] {
        world.delete::<HostedCluster>(HOME, name).await;
    }
    sleep(Duration::from_mins(5)).await;
    for name in ["b-c", "foreign"] {
        assert!(world.get::<HostedCluster>(HOME, name).await.is_none());
    }
    assert_eq!(
        world.namespace("clusters-b-c").await.unwrap().metadata.uid,
        before.metadata.uid
    );
    assert!(world.get::<HostedControlPlane>("clusters-b-c", "b.c").await.is_some());
    assert!(world.namespace("clusters-foreign").await.is_some());
    // A name that becomes free is taken up without being asked.
    world.cluster("b-c", json!({})).await;
    world.delete::<HostedCluster>(HOME, "b.c").await;
    sleep(Duration::from_mins(5)).await;
    assert!(world.get::<HostedControlPlane>("clusters-b-c", "b-c").await.is_some());
    process.stop().await;
}
