//! What goes wrong: Secrets that are deleted, damaged or lose their labels, and processes that crash.

use std::time::Duration;

use hyperplane_api::constants::objects::{bundles, certificates, keys, kubeconfigs, signers};
use hyperplane_runtime::Scope;
use serde_json::json;
use tokio::time::sleep;

use crate::world::{NAMESPACE, World};

#[tokio::test(start_paused = true)]
async fn a_deleted_secret_comes_back() {
    let (world, process) = World::settled().await;
    for name in [
        certificates::SCHEDULER_SERVER,
        kubeconfigs::LOCALHOST,
        certificates::SERVICE_ACCOUNT_KEYS,
    ] {
        let position = world.position();
        world.delete_secret(NAMESPACE, name).await;
        // A write of the same content a moment ago is taken for one that the cache has not shown yet, for half a minute.
        sleep(Duration::from_mins(1)).await;
        assert!(world.secrets(NAMESPACE).await.contains_key(name), "{name}");
        assert_eq!(world.writes_since(position).len(), 1, "{name}");
    }
    process.stop().await;
}

#[tokio::test(start_paused = true)]
async fn an_authority_that_loses_its_label_is_not_replaced() {
    let (world, process) = World::settled().await;
    let before = world.secrets(NAMESPACE).await[signers::ROOT].data.clone();
    let position = world.position();
    world
        .patch_secret(NAMESPACE, signers::ROOT, json!({"metadata": {"labels": null}}))
        .await;
    world.settle().await;
    let after = &world.secrets(NAMESPACE).await[signers::ROOT];
    assert_eq!(after.data, before);
    assert!(after.metadata.labels.is_some());
    assert_eq!(
        world.writes_since(position),
        [format!("patch secrets/{} 200", signers::ROOT)]
    );
    process.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_damaged_authority_is_reported_until_it_is_restored() {
    let (world, process) = World::settled().await;
    let good = world.secrets(NAMESPACE).await[signers::ETCD].data.clone().unwrap();
    let position = world.position();
    world
        .patch_secret(
            NAMESPACE,
            signers::ETCD,
            json!({"stringData": {keys::CA_KEY: "damaged"}}),
        )
        .await;
    world.settle().await;
    let conditions = world.conditions(NAMESPACE).await;
    let (status, message) = &conditions["CertRotation_etcd-signer_Degraded"];
    assert_eq!(status, "True");
    assert!(
        message.starts_with("Secret etcd-signer: its key is missing or cannot be read; restore"),
        "{message}"
    );
    assert!(!message.contains("damaged"));
    world.pass_days(2).await;
    let writes = world.writes_since(position);
    assert_eq!(
        writes,
        ["patch hostedcontrolplanes/example 200"],
        "it is said once, and nothing is touched"
    );
    world
        .patch_secret(NAMESPACE, signers::ETCD, json!({"data": good}))
        .await;
    world.settle().await;
    assert!(world.conditions(NAMESPACE).await.is_empty());
    process.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_deleted_authority_is_replaced_beside_the_old_one() {
    let (world, process) = World::settled().await;
    let before = world.config_maps(NAMESPACE).await[bundles::CLIENT]
        .data
        .clone()
        .unwrap();
    world.delete_secret(NAMESPACE, signers::SYSTEM_ADMIN).await;
    world.settle().await;
    let after = world.config_maps(NAMESPACE).await[bundles::CLIENT]
        .data
        .clone()
        .unwrap();
    let count = |text: &str| text.matches("BEGIN CERTIFICATE").count();
    let (before, after) = (&before[keys::CA_CERTIFICATE], &after[keys::CA_CERTIFICATE]);
    assert_eq!((count(before), count(after)), (5, 6));
    process.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_crash_anywhere_costs_nothing_that_is_trusted() {
    let world = World::new().await;
    world.tenant(NAMESPACE).await;
    world.publish(NAMESPACE).await;
    world.control_plane(NAMESPACE, json!({})).await;
    let mut authorities = std::collections::BTreeMap::new();
    for attempt in 0..40_u32 {
        let process = world.start(Scope::Everywhere);
        // On paused time a process gets as far as its own waits let it; each gets a little further.
        for _ in 0..attempt * 7 {
            tokio::task::yield_now().await;
        }
        sleep(Duration::from_millis(u64::from(attempt))).await;
        process.crash().await;
        for (name, secret) in world.secrets(NAMESPACE).await {
            if let Some(key) = secret.data.unwrap().get(keys::CA_KEY) {
                let first = authorities.entry(name.clone()).or_insert_with(|| key.clone());
                assert_eq!(first, key, "{name} was replaced");
            }
        }
    }
    let process = world.start(Scope::Everywhere);
    world.settle().await;
    let position = world.position();
    world.pass_days(2).await;
    assert_eq!(world.writes_since(position), [] as [&str; 0]);
    assert!(world.secrets(NAMESPACE).await.contains_key(kubeconfigs::ADMIN));
    process.stop().await;
}
