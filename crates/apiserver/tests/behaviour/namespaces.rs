//! The life of namespaces as clients see it.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::sleep;

use crate::{
    definitions::define,
    simulation_ground::{End, Ground, condition},
    support::World,
};

fn maps(namespace: &str) -> String {
    format!("/api/v1/namespaces/{namespace}/configmaps")
}

async fn held(ground: &Ground, namespace: &str, name: &str) {
    let body = json!({"metadata": {"name": name, "finalizers": ["x.test/hold"]}});
    ground.create(&maps(namespace), &body).await;
}

async fn release(ground: &Ground, namespace: &str, name: &str) {
    ground
        .patch(
            &format!("{}/{name}", maps(namespace)),
            &json!({"metadata": {"finalizers": []}}),
        )
        .await;
}

#[tokio::test(start_paused = true)]
async fn a_namespace_is_furnished_at_once_and_again() {
    let ground = Ground::new().await;
    ground.namespace("a").await;
    sleep(Duration::from_millis(1)).await;
    let account = "/api/v1/namespaces/a/serviceaccounts/default";
    let bundle = "/api/v1/namespaces/a/configmaps/kube-root-ca.crt";
    assert!(ground.get(account).await.is_some());
    let first = ground.get(bundle).await.unwrap();
    assert_eq!(first["data"], json!({"ca.crt": "the root"}));
    for path in [account, bundle] {
        ground.delete(path).await;
    }
    ground
        .patch(
            bundle,
            &json!({"metadata": {"labels": {"mine": "1"}}, "data": {"ca.crt": "forged", "more": "x"}}),
        )
        .await;
    sleep(Duration::from_millis(1)).await;
    assert!(ground.get(account).await.is_some());
    let again = ground.get(bundle).await.unwrap();
    assert_eq!(again["data"], first["data"]);
    assert_eq!(
        again["metadata"]["labels"],
        json!({"mine": "1"}),
        "what is not ours stays"
    );
    assert_eq!(again["metadata"]["annotations"], first["metadata"]["annotations"]);
    let clients = ground
        .get("/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication")
        .await;
    assert_eq!(clients.unwrap()["data"], json!({"client-ca-file": "the clients"}));
}

#[tokio::test(start_paused = true)]
async fn a_server_without_a_manager_keeps_its_own_config_maps_and_no_others() {
    let world = World::without_manager("the clients").await;
    let maps = maps("kube-system");
    let kept = [
        (
            "extension-apiserver-authentication",
            json!({"client-ca-file": "the clients"}),
        ),
        (
            "kube-apiserver-legacy-service-account-token-tracking",
            json!({"since": "2026-01-02"}),
        ),
    ];
    for (name, data) in kept {
        for _ in 0..2 {
            sleep(Duration::from_millis(1)).await;
            let (_, published) = world.get(&format!("{maps}/{name}")).await;
            assert_eq!(published["data"], data);
            // It comes back.
            assert_eq!(world.send("DELETE", &format!("{maps}/{name}"), "", "").await.0, 200);
        }
    }
    let (status, _) = world
        .get("/api/v1/namespaces/kube-system/serviceaccounts/default")
        .await;
    assert_eq!(status, 404);
}

#[tokio::test(start_paused = true)]
async fn a_namespace_goes_after_everything_in_it_and_says_what_it_waits_for() {
    let ground = Ground::new().await;
    ground.namespace("a").await;
    define(&ground, "leaves", "Leaf").await;
    ground.settle().await;
    let leaves = "/apis/x.test/v1/namespaces/a/leaves";
    ground.create(leaves, &json!({"apiVersion": "x.test/v1", "kind": "Leaf", "metadata": {"name": "l", "finalizers": ["x.test/hold"]}})).await;
    held(&ground, "a", "one").await;
    held(&ground, "a", "two").await;
    let answer = ground.delete("/api/v1/namespaces/a").await;
    assert_eq!(answer["status"]["phase"], "Terminating");
    ground.settle().await;
    let namespace = ground.get("/api/v1/namespaces/a").await.unwrap();
    let kinds: Vec<&Value> = namespace["status"]["conditions"]
        .as_array()
        .unwrap()
        .iter()
        .map(|entry| &entry["type"])
        .collect();
    let expected = [
        "NamespaceDeletionDiscoveryFailure",
        "NamespaceDeletionGroupVersionParsingFailure",
        "NamespaceDeletionContentFailure",
        "NamespaceContentRemaining",
        "NamespaceFinalizersRemaining",
    ];
    assert_eq!(kinds, expected);
    assert_eq!(
        condition(&namespace, "NamespaceContentRemaining"),
        "True SomeResourcesRemain: Some resources are remaining: configmaps. has 2 resource instances, leaves.x.test has \
         1 resource instances"
    );
    assert_eq!(
        condition(&namespace, "NamespaceFinalizersRemaining"),
        "True SomeFinalizersRemain: Some content in the namespace has finalizers remaining: x.test/hold in 3 resource \
         instances"
    );
    assert!(condition(&namespace, "NamespaceDeletionContentFailure").starts_with("False ContentDeleted: "));
    let (status, answer) = ground
        .world
        .post(&maps("a"), &json!({"metadata": {"name": "late"}}))
        .await;
    assert_eq!(status, 403);
    assert_eq!(answer["details"]["causes"][0]["reason"], "NamespaceTerminating");
    assert!(
        ground.names("/api/v1/namespaces/a/serviceaccounts").await.is_empty(),
        "nothing is put back"
    );
    release(&ground, "a", "one").await;
    release(&ground, "a", "two").await;
    ground
        .patch(&format!("{leaves}/l"), &json!({"metadata": {"finalizers": []}}))
        .await;
    ground.settle().await;
    assert!(ground.get("/api/v1/namespaces/a").await.is_none());
}

#[tokio::test(start_paused = true)]
async fn pods_go_before_everything_else() {
    let ground = Ground::new().await;
    ground.namespace("a").await;
    let pod = json!({
        "metadata": {"name": "pod", "finalizers": ["x.test/hold"]}, "spec": {"containers": [{"name": "c", "image": "i"}]},
    });
    sleep(Duration::from_millis(1)).await;
    ground.create("/api/v1/namespaces/a/pods", &pod).await;
    ground.delete("/api/v1/namespaces/a").await;
    ground.settle().await;
    assert_eq!(
        ground.names(&maps("a")).await,
        ["kube-root-ca.crt"],
        "the pod may still read it"
    );
    ground
        .patch(
            "/api/v1/namespaces/a/pods/pod",
            &json!({"metadata": {"finalizers": []}}),
        )
        .await;
    ground.settle().await;
    assert!(ground.get("/api/v1/namespaces/a").await.is_none());
}

#[tokio::test(start_paused = true)]
async fn a_namespace_with_a_finalizer_of_its_own_waits_for_that_too() {
    let ground = Ground::new().await;
    ground
        .create(
            "/api/v1/namespaces",
            &json!({"metadata": {"name": "a", "finalizers": ["x.test/hold"]}}),
        )
        .await;
    ground.delete("/api/v1/namespaces/a").await;
    ground.settle().await;
    let namespace = ground.get("/api/v1/namespaces/a").await.unwrap();
    assert_eq!(namespace["spec"], json!({}));
    assert!(condition(&namespace, "NamespaceContentRemaining").starts_with("False ContentRemoved: "));
    ground
        .patch("/api/v1/namespaces/a", &json!({"metadata": {"finalizers": []}}))
        .await;
    assert!(ground.get("/api/v1/namespaces/a").await.is_none());
}

#[tokio::test(start_paused = true)]
async fn nothing_is_left_of_creates_that_race_with_the_end() {
    let ground = Ground::new().await;
    for round in 0..10 {
        let name = format!("race-{round}");
        ground.namespace(&name).await;
        let path = maps(&name);
        let creates = (0..20).map(|number| {
            let body = json!({"metadata": {"name": format!("m-{number}")}});
            let (world, path) = (&ground.world, &path);
            async move {
                sleep(Duration::from_millis(number)).await;
                world.post(path, &body).await.0.as_u16()
            }
        });
        let namespace = format!("/api/v1/namespaces/{name}");
        let delete = async {
            sleep(Duration::from_millis(round)).await;
            ground.delete(&namespace).await
        };
        let (answers, _) = tokio::join!(futures::future::join_all(creates), delete);
        assert!(
            answers.iter().all(|status| matches!(status, 201 | 403 | 404)),
            "{answers:?}"
        );
        ground.settle().await;
        assert!(ground.get(&namespace).await.is_none());
        assert!(ground.names(&path).await.is_empty());
    }
}

#[tokio::test(start_paused = true)]
async fn a_restart_in_the_middle_of_the_end_changes_nothing() {
    for end in [End::Close, End::Kill, End::Power(3)] {
        let mut ground = Ground::new().await;
        ground.namespace("a").await;
        ground.namespace("b").await;
        held(&ground, "a", "one").await;
        ground.delete("/api/v1/namespaces/a").await;
        ground.restart(end).await;
        ground.delete("/api/v1/namespaces/b").await;
        ground.restart(end).await;
        ground.settle().await;
        assert!(ground.get("/api/v1/namespaces/b").await.is_none());
        let namespace = ground.get("/api/v1/namespaces/a").await.unwrap();
        assert!(condition(&namespace, "NamespaceFinalizersRemaining").starts_with("True"));
        ground.restart(end).await;
        release(&ground, "a", "one").await;
        ground.settle().await;
        assert!(ground.get("/api/v1/namespaces/a").await.is_none(), "{end:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn many_that_go_one_by_one_are_a_few_looks() {
    let ground = Ground::new().await;
    ground.namespace("a").await;
    for number in 0..200 {
        held(&ground, "a", &format!("m-{number}")).await;
    }
    ground.delete("/api/v1/namespaces/a").await;
    ground.settle().await;
    let before = ground.revision().await;
    for number in 0..200 {
        release(&ground, "a", &format!("m-{number}")).await;
        sleep(Duration::from_millis(1)).await;
    }
    ground.settle().await;
    assert!(ground.get("/api/v1/namespaces/a").await.is_none());
    let writes = ground.revision().await - before - 200;
    assert!(
        writes < 12,
        "{writes} writes to the namespace for 200 objects in 200 milliseconds"
    );
}
