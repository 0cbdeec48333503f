//! What must not be lost or taken from others: keys in use, names of infrastructures, and what the user was given.

use std::time::Duration;

use hyperplane_api::{
    constants::{annotations, objects::keys, ours},
    hypershift::hosted_cluster::HostedCluster,
};
use k8s_openapi::api::core::v1::Secret;
use serde_json::{Value, json};
use tokio::time::sleep;

use crate::world::{HOME, World};

const INSIDE: &str = "clusters-blue";
const FIRST: &str = "11111111111111111111111111111111";
const SECOND: &str = "22222222222222222222222222222222";

fn encryption(keys: &Value) -> Value {
    json!({"spec": {"secretEncryption": {"type": "aescbc", "aescbc": keys}}})
}

async fn value(world: &World, namespace: &str, name: &str, key: &str) -> Option<String> {
    let secret = world.get::<Secret>(namespace, name).await?;
    Some(String::from_utf8(secret.data?[key].0.clone()).unwrap())
}

async fn copied(world: &World, name: &str) -> Option<String> {
    value(world, INSIDE, name, keys::ENCRYPTION_KEY).await
}

/// A cluster whose Secrets are encrypted with the first key.
async fn encrypted() -> (World, crate::world::Process) {
    let world = World::new().await;
    world.secret(HOME, "first", json!({"key": FIRST})).await;
    world.secret(HOME, "second", json!({"key": SECOND})).await;
    world
        .cluster("blue", encryption(&json!({"activeKey": {"name": "first"}})))
        .await;
    let process = world.start();
    world.settle().await;
    assert_eq!(copied(&world, "aescbc-active-key").await.as_deref(), Some(FIRST));
    (world, process)
}

#[tokio::test(start_paused = true)]
async fn a_key_in_use_is_not_replaced_before_it_is_the_key_before() {
    let (world, process) = encrypted().await;
    // By another name, and in place: refused, and everything stays as it is.
    let other = encryption(&json!({"activeKey": {"name": "second"}}));
    world.patch::<HostedCluster>(HOME, "blue", other).await;
    world.settle().await;
    let (status, _, message) = world.conditions("blue").await["ValidConfiguration"].clone();
    assert_eq!(status, "False");
    assert!(message.contains("spec.secretEncryption.aescbc.activeKey"), "{message}");
    assert!(!message.contains(FIRST) && !message.contains(SECOND), "{message}");
    assert_eq!(copied(&world, "aescbc-active-key").await.as_deref(), Some(FIRST));
    world
        .patch::<HostedCluster>(HOME, "blue", encryption(&json!({"activeKey": {"name": "first"}})))
        .await;
    world.settle().await;
    assert_eq!(world.conditions("blue").await["ValidConfiguration"].0, "True");
    world
        .patch::<Secret>(HOME, "first", json!({"stringData": {"key": SECOND}}))
        .await;
    world.settle().await;
    assert_eq!(world.conditions("blue").await["ValidConfiguration"].0, "False");
    assert_eq!(copied(&world, "aescbc-active-key").await.as_deref(), Some(FIRST));
    // With the key in use as the one before, both are there at the end, and nothing is written any more.
    world.secret(HOME, "kept", json!({"key": FIRST})).await;
    let rotation = encryption(&json!({"activeKey": {"name": "first"}, "backupKey": {"name": "kept"}}));
    world.patch::<HostedCluster>(HOME, "blue", rotation).await;
    world.settle().await;
    assert_eq!(world.conditions("blue").await["ValidConfiguration"].0, "True");
    assert_eq!(copied(&world, "aescbc-active-key").await.as_deref(), Some(SECOND));
    assert_eq!(copied(&world, "aescbc-backup-key").await.as_deref(), Some(FIRST));
    let position = world.position();
    sleep(Duration::from_hours(3)).await;
    assert_eq!(world.writes_since(position), [] as [&str; 0]);
    process.stop().await;
}

/// Whatever is read between two writes, the key in use is in it: as the active one, or as one that the control plane has
/// been told to read.
#[tokio::test(start_paused = true)]
async fn a_rotation_is_written_in_the_order_in_which_it_can_be_cut_short() {
    let (world, process) = encrypted().await;
    let position = world.position();
    let rotation = encryption(&json!({"activeKey": {"name": "second"}, "backupKey": {"name": "first"}}));
    world.patch::<HostedCluster>(HOME, "blue", rotation).await;
    world.settle().await;
    assert_eq!(copied(&world, "aescbc-active-key").await.as_deref(), Some(SECOND));
    let writes = world.writes_since(position);
    let first = |of: &str| writes.iter().position(|write| write.contains(of));
    let [before, told, active] = [
        "secrets/aescbc-backup-key",
        "hostedcontrolplanes/blue",
        "secrets/aescbc-active-key",
    ]
    .map(first);
    assert!(before.is_some() && before < told && told < active, "{writes:#?}");
    process.stop().await;
}

#[tokio::test(start_paused = true)]
async fn whoever_comes_second_waits_for_the_name_of_the_infrastructure() {
    let (world, process) = World::settled(json!({"spec": {"infraID": "shared"}})).await;
    world.cluster("red", json!({"spec": {"infraID": "shared"}})).await;
    world.settle().await;
    let (status, _, message) = world.conditions("red").await["ValidConfiguration"].clone();
    assert_eq!(status, "False");
    assert!(
        message.contains("spec.infraID: HostedCluster clusters/blue has it"),
        "{message}"
    );
    assert!(world.control_plane("red").await.is_none());
    assert_eq!(world.conditions("blue").await["ValidConfiguration"].0, "True");
    world.delete::<HostedCluster>(HOME, "blue").await;
    sleep(Duration::from_mins(3)).await;
    assert!(world.get::<HostedCluster>(HOME, "blue").await.is_none());
    assert_eq!(world.conditions("red").await["ValidConfiguration"].0, "True");
    assert!(world.control_plane("red").await.is_some());
    process.stop().await;
}

#[tokio::test(start_paused = true)]
async fn the_password_of_the_first_user_goes_when_there_are_identity_providers() {
    let (world, process) = World::settled(json!({})).await;
    let secret = json!({
        "metadata": {"name": "kubeadmin-password", "namespace": INSIDE,
            "labels": {ours::MANAGED_BY.as_str(): ours::MANAGED_BY_US},
            "annotations": {annotations::CLUSTER.as_str(): "clusters/blue"}},
        "stringData": {"password": "hunter2"},
    });
    world.create::<Secret>(Some(INSIDE), secret).await;
    let reported = json!({"ready": true, "kubeadminPassword": {"name": "kubeadmin-password"}});
    world.report(INSIDE, "blue", reported).await;
    world.settle().await;
    let name = "blue-kubeadmin-password";
    assert_eq!(value(&world, HOME, name, "password").await.as_deref(), Some("hunter2"));
    let status = world.hosted_cluster("blue").await.status.unwrap();
    assert_eq!(status.kubeadmin_password.unwrap().name, name);
    let oauth = json!({"spec": {"configuration": {"oauth": {"tokenConfig": {"accessTokenMaxAgeSeconds": 60}}}}});
    world.patch::<HostedCluster>(HOME, "blue", oauth).await;
    world.settle().await;
    assert!(world.get::<Secret>(HOME, name).await.is_none());
    assert_eq!(
        world.hosted_cluster("blue").await.status.unwrap().kubeadmin_password,
        None
    );
    process.stop().await;
}
