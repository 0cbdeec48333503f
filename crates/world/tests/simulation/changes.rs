//! What users change while a cluster runs, and what follows from it.

use std::{collections::BTreeMap, time::Duration};

use hyperplane_api::constants::annotations;
use k8s_openapi::api::{apps::v1::Deployment, core::v1::Secret};
use kube::{
    ResourceExt as _,
    api::{Patch, PatchParams},
};
use serde_json::{Value, json};
use tokio::time::sleep;

use crate::{
    ground::{Ground, NEW, USERS, merge, single},
    look::component,
};

const INSIDE: &str = "clusters-one";

async fn settled(ground: &Ground, version: &str) {
    let mut manifest = single();
    let image = format!("hyperplane.dev/kubernetes:v{version}");
    merge(&mut manifest, &json!({"spec": {"release": {"image": image}}}));
    ground.cluster("one", manifest).await;
    ground.until_condition("one", "Available", "True").await;
    ground.until_version("one", version).await;
}

fn annotated(key: &str, value: &str) -> Value {
    json!({"metadata": {"annotations": {key: value}}})
}

/// The pod of each component.
async fn pods(ground: &Ground) -> BTreeMap<String, String> {
    let pods = ground.pods(INSIDE).await;
    pods.iter()
        .map(|pod| (component(pod).to_owned(), pod.uid().unwrap()))
        .collect()
}

#[tokio::test(start_paused = true)]
async fn a_restart_date_restarts_every_pod_once_and_a_request_only_its_own() {
    let ground = Ground::new(21).await;
    let operators = ground.start().await;
    settled(&ground, "1.36.4").await;
    let before = pods(&ground).await;
    let mark = ground.written();
    ground
        .change("one", annotated(annotations::RESTART_DATE.as_str(), "2027-01-15"))
        .await;
    sleep(Duration::from_mins(8)).await;
    let after = pods(&ground).await;
    assert!(before.keys().eq(after.keys()), "{before:?} {after:?}");
    assert!(
        before.iter().all(|(name, uid)| after[name] != *uid),
        "{before:?} {after:?}"
    );
    let created = ground.since(mark);
    let created = created
        .iter()
        .filter(|line| line.verb == "create" && line.resource == "pods" && line.code == 201);
    assert_eq!(
        created
            .filter(|line| line.uri.contains("/pods?") || line.uri.ends_with("/pods"))
            .count(),
        before.len()
    );

    let key = annotations::RESOURCE_REQUEST_OVERRIDE.key("kube-scheduler.kube-scheduler");
    ground.change("one", annotated(&key, "memory=1Gi,cpu=250m")).await;
    sleep(Duration::from_mins(8)).await;
    let scheduler: Deployment = ground.api(Some(INSIDE)).get("kube-scheduler").await.unwrap();
    let containers = scheduler.spec.unwrap().template.spec.unwrap().containers;
    let container = containers.iter().find(|found| found.name == "kube-scheduler").unwrap();
    let requests = container.resources.clone().unwrap().requests.unwrap();
    assert_eq!(
        (requests["memory"].0.as_str(), requests["cpu"].0.as_str()),
        ("1Gi", "250m")
    );
    let changed = pods(&ground).await;
    let changed: Vec<_> = changed
        .iter()
        .filter(|(name, uid)| after[*name] != **uid)
        .map(|(name, _)| name)
        .collect();
    assert_eq!(changed, ["kube-scheduler"]);
    operators.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_pause_holds_everything_and_ends_by_itself() {
    let ground = Ground::new(22).await;
    let operators = ground.start().await;
    settled(&ground, "1.36.3").await;
    let end = ground.embedded.clock.now() + Duration::from_mins(20);
    ground
        .change(
            "one",
            json!({"spec": {"pausedUntil": end.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()}}),
        )
        .await;
    sleep(Duration::from_mins(1)).await;
    let mark = ground.written();
    ground.change("one", json!({"spec": {"release": {"image": NEW}}})).await;
    sleep(Duration::from_mins(15)).await;
    let inside: Vec<_> = ground
        .since(mark)
        .into_iter()
        .filter(|line| line.namespace == INSIDE && line.resource != "events")
        .collect();
    assert_eq!(inside, []);
    assert_eq!(ground.conditions("one").await["ReconciliationActive"].status, "False");
    ground.until_version("one", "1.36.4").await;
    assert!(ground.embedded.clock.now() >= end);
    operators.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_secret_that_changes_is_copied_again() {
    let ground = Ground::new(23).await;
    let operators = ground.start().await;
    settled(&ground, "1.36.4").await;
    let value = async |namespace: &str| {
        let secret: Secret = ground.api(Some(namespace)).get("pull-secret").await.unwrap();
        secret.data.unwrap()[".dockerconfigjson"].0.clone()
    };
    let before = value(INSIDE).await;
    let changed = json!({"stringData": {".dockerconfigjson": r#"{"auths": {"other.example.com": {"auth": "dTpw"}}}"#}});
    let secrets = ground.api::<Secret>(Some(USERS));
    secrets
        .patch("pull-secret", &PatchParams::default(), &Patch::Merge(changed))
        .await
        .unwrap();
    let copied = async || (value(INSIDE).await == value(USERS).await).then_some(());
    ground.until("the copy", copied).await;
    assert_ne!(value(INSIDE).await, before);
    operators.stop().await;
}
